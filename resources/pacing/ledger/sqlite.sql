-- The ledger on one machine. Small: one row a domain, one a domain and night.
CREATE TABLE IF NOT EXISTS pace_ledger (
    domain     TEXT PRIMARY KEY,
    updated_at REAL NOT NULL,
    row        TEXT NOT NULL  -- LedgerRow as JSON: the fields may grow without a migration
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS pace_history (
    domain       TEXT NOT NULL,
    night        TEXT NOT NULL,
    started_at   REAL NOT NULL,
    ended_at     REAL NOT NULL,
    requests     INTEGER NOT NULL,
    throttled    INTEGER NOT NULL,
    forbidden    INTEGER NOT NULL,
    walls        INTEGER NOT NULL,
    failures     INTEGER NOT NULL,
    rate_start   REAL,
    rate_end     REAL,
    limit_rate   REAL,
    trouble_rate REAL,
    waited_s     REAL NOT NULL,
    paused_cause TEXT NOT NULL,
    PRIMARY KEY (domain, night)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS pace_command (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    domain TEXT NOT NULL,
    kind   TEXT NOT NULL,
    at     REAL NOT NULL,
    factor REAL NOT NULL,
    until  REAL NOT NULL,
    reason TEXT NOT NULL
);
