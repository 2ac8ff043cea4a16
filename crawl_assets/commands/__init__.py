"""What `nightcrawl` can do, one command a file. `exit_codes` says how they end, `failures` how they complain."""
