-- The frontier in one SQLite file (WAL). Version 2; `PRAGMA user_version` holds the number.
--
-- What makes it flat at ten million rows: rows are appended in id order and stay where they are; every
-- index is partial, so that a row stands in one of them at most and moves when its state does. No structure in
-- here has random keys: dedup is sorted files beside this one (key_index.py).

CREATE TABLE domain (
    id       INTEGER PRIMARY KEY,
    name     TEXT    NOT NULL UNIQUE,
    -- Counters by state, kept in the transaction that moves the rows: `counts` never walks them.
    pending  INTEGER NOT NULL DEFAULT 0,
    leased   INTEGER NOT NULL DEFAULT 0,
    done     INTEGER NOT NULL DEFAULT 0,
    failed   INTEGER NOT NULL DEFAULT 0,
    excluded INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE url (
    id               INTEGER PRIMARY KEY,      -- order of discovery; never used twice (counter 'url_id')
    state            INTEGER NOT NULL,         -- frontier.base.State
    domain_id        INTEGER NOT NULL,
    priority         INTEGER NOT NULL,
    depth            INTEGER NOT NULL,
    source           INTEGER NOT NULL,         -- frontier.base.Source
    attempts         INTEGER NOT NULL DEFAULT 0,
    fetches          INTEGER NOT NULL DEFAULT 0,
    redirects        INTEGER NOT NULL DEFAULT 0,
    not_before       REAL,                     -- set: parked; NULL: claimable at once
    done_at          REAL,
    due_at           REAL,
    failed_at        REAL,
    next_eligible_at REAL,
    lastmod          REAL,
    discovered_at    REAL    NOT NULL,
    status           INTEGER,
    cause            TEXT    NOT NULL DEFAULT '',
    detail           TEXT    NOT NULL DEFAULT '',
    key              BLOB    NOT NULL,
    parent           BLOB,
    content_hash     BLOB,
    url              TEXT    NOT NULL
) STRICT;

CREATE INDEX url_ready    ON url (domain_id, priority, id)             WHERE state = 0 AND not_before IS NULL;
CREATE INDEX url_parked   ON url (domain_id, not_before)               WHERE state = 0 AND not_before IS NOT NULL;
CREATE INDEX url_done     ON url (domain_id, due_at)                   WHERE state = 2;
CREATE INDEX url_failed   ON url (domain_id, cause, next_eligible_at)  WHERE state = 3;
CREATE INDEX url_excluded ON url (domain_id, cause)                    WHERE state = 4;

-- One row per claim that has not ended. The token is the fence: never used twice, and gone with the lease.
CREATE TABLE lease (
    token     INTEGER PRIMARY KEY,             -- counter 'token'
    url_id    INTEGER NOT NULL UNIQUE,
    domain_id INTEGER NOT NULL,
    owner     TEXT    NOT NULL,
    until     REAL    NOT NULL
) STRICT;

-- Keys of the rows up to sweep.done_to are in sorted files beside this one (key_levels.py), which can be made again
-- from the rows; those of newer rows are read from the rows themselves.
CREATE TABLE sweep (
    done_to   INTEGER NOT NULL,   -- rows up to this id have their key in a run
    run       INTEGER NOT NULL,   -- the number in the name of the run on top, which names the others; 0: none
    forgotten INTEGER NOT NULL    -- raised whenever rows are deleted
) STRICT;
INSERT INTO sweep VALUES (0, 0, 0);

-- Keys in the runs whose rows are deleted; the next run is made of all of them, without these.
CREATE TABLE forgotten_key (
    key BLOB PRIMARY KEY,
    id  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The last number given of each kind; none is given twice.
CREATE TABLE counter (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES ('url_id', 0), ('token', 0);

CREATE TABLE fetch_log (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    domain_id     INTEGER NOT NULL,
    url           TEXT    NOT NULL,
    run_id        TEXT    NOT NULL,
    worker        TEXT    NOT NULL,
    attempt       INTEGER NOT NULL,
    started_at    REAL    NOT NULL,
    ttfb_ms       REAL,
    duration_ms   REAL    NOT NULL,
    status        INTEGER,
    outcome       TEXT    NOT NULL,
    from_cache    INTEGER NOT NULL,
    revalidated   INTEGER NOT NULL,
    wire_bytes    INTEGER NOT NULL,
    body_bytes    INTEGER NOT NULL,
    retry_after_s REAL,
    error         TEXT    NOT NULL,
    cause         TEXT    NOT NULL,
    redirect_to   TEXT    NOT NULL,
    rule          TEXT    NOT NULL
) STRICT;
CREATE INDEX fetch_log_domain ON fetch_log (domain_id, seq);

-- A row outlives its lease, so that the fence never starts again.
CREATE TABLE domain_lease (
    domain TEXT PRIMARY KEY,
    owner  TEXT    NOT NULL,
    fence  INTEGER NOT NULL,
    until  REAL    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE worker (
    worker     TEXT PRIMARY KEY,
    host       TEXT    NOT NULL,
    pid        INTEGER NOT NULL,
    started_at REAL    NOT NULL,
    at         REAL    NOT NULL,
    doing      TEXT    NOT NULL,
    pages      INTEGER NOT NULL,
    run_id     TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE named_value (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
