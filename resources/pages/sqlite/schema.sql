-- The page store in one SQLite file (WAL). Version 2; `PRAGMA user_version` holds the number.
--
-- Small things stand apart from large ones: heads in `page` (appended, found by two short indexes), bodies
-- in `pack`, some twenty compressed ones to a row, so that neither wastes room of the other's pages. Bodies that
-- were stored together are compressed together: a frame holds one or several, a pack one or several frames.

CREATE TABLE domain (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used twice, even after `forget`
    name            TEXT    NOT NULL UNIQUE,
    dictionary      INTEGER NOT NULL DEFAULT 0,          -- for new bodies; 0: none yet
    head_dictionary INTEGER NOT NULL DEFAULT 0,          -- for new heads; 0: none yet
    bodies          INTEGER NOT NULL DEFAULT 0,          -- ever stored: when to train
    body_bytes      INTEGER NOT NULL DEFAULT 0,          -- decoded, ever stored
    trained_at      INTEGER NOT NULL DEFAULT 0,          -- value of `bodies` at the last training
    tail_pack       INTEGER NOT NULL DEFAULT 0           -- the pack that small batches are added to
) STRICT;

-- Never changed. Bodies: trained by zstd, stored compressed. Heads: the head of the domain's first page.
CREATE TABLE dictionary (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    domain_id INTEGER NOT NULL,
    data      BLOB    NOT NULL                           -- a plain zstd frame
) STRICT;

CREATE INDEX dictionary_domain ON dictionary (domain_id);

-- The current version of each URL and kind. Times that are those of `fetched_at` are NULL.
CREATE TABLE page (
    id              INTEGER PRIMARY KEY,
    domain_id       INTEGER NOT NULL,
    kind            INTEGER NOT NULL,                    -- base.Kind
    key_high        INTEGER NOT NULL,                    -- key[:8] as a number less 2^63: same order as the bytes
    key_low         BLOB    NOT NULL,                    -- key[8:]
    hash            BLOB    NOT NULL,                    -- of the decoded body
    status          INTEGER NOT NULL,
    body_bytes      INTEGER NOT NULL,
    validated_at    REAL    NOT NULL,
    fetched_at      REAL    NOT NULL,                    -- stored even if the same: a touch must not lengthen the row
    first_seen_at   REAL,                                -- NULL: fetched_at
    changed_at      REAL,                                -- NULL: fetched_at
    requested_at    REAL    NOT NULL,
    head_dictionary INTEGER NOT NULL,
    fields          BLOB    NOT NULL                     -- head_fields, compressed
) STRICT;

-- Half a key each: 64 bits tell nearly all apart, and both indexes stay small.
CREATE INDEX page_key    ON page (key_high, kind);
CREATE INDEX page_domain ON page (domain_id, kind, key_high);

-- Versions before the current one: the same columns; a higher id is newer.
CREATE TABLE version (
    id              INTEGER PRIMARY KEY,
    domain_id       INTEGER NOT NULL,
    kind            INTEGER NOT NULL,
    key_high        INTEGER NOT NULL,
    key_low         BLOB    NOT NULL,
    hash            BLOB    NOT NULL,
    status          INTEGER NOT NULL,
    body_bytes      INTEGER NOT NULL,
    validated_at    REAL    NOT NULL,
    fetched_at      REAL    NOT NULL,
    first_seen_at   REAL,
    changed_at      REAL,
    requested_at    REAL    NOT NULL,
    head_dictionary INTEGER NOT NULL,
    fields          BLOB    NOT NULL
) STRICT;

CREATE INDEX version_key    ON version (key_high, kind);
CREATE INDEX version_domain ON version (domain_id);

-- Where a body is: one row per content of a domain, however many URLs have it.
CREATE TABLE body (
    domain_id    INTEGER NOT NULL,
    hash         BLOB    NOT NULL,
    pack_id      INTEGER NOT NULL,
    start        INTEGER NOT NULL,                       -- of its frame: first byte in pack.data
    length       INTEGER NOT NULL,                       -- of its frame: bytes in pack.data
    dictionary   INTEGER NOT NULL,                       -- 0: none
    body_start   INTEGER NOT NULL DEFAULT 0,             -- first byte in the decompressed frame
    body_length  INTEGER,                                -- NULL: the whole frame (written by version 1)
    frame_length INTEGER,                                -- decompressed; NULL likewise
    PRIMARY KEY (domain_id, hash)
) STRICT, WITHOUT ROWID;

-- Frames of one domain, one after the other.
CREATE TABLE pack (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    domain_id INTEGER NOT NULL,
    data      BLOB    NOT NULL
) STRICT;

CREATE INDEX pack_domain ON pack (domain_id);
