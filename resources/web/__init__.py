"""What the standards of the web say, as pure functions: no I/O, no clock, nothing of ours outside this folder."""
