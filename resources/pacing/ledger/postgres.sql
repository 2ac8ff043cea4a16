-- The ledger in PostgreSQL, in a schema of its own.
CREATE TABLE IF NOT EXISTS pace_ledger (domain text PRIMARY KEY, row json NOT NULL);
CREATE TABLE IF NOT EXISTS pace_history (
    domain text NOT NULL, night text NOT NULL, started_at double precision NOT NULL, row json NOT NULL,
    PRIMARY KEY (domain, night)
);
CREATE TABLE IF NOT EXISTS pace_command (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, command json NOT NULL);
