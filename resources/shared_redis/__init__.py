"""One Redis (or Valkey) server or cluster that many machines share: connection, scripts, what it must be set to."""
