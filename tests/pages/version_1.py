"""A page store of schema version 1, in which every body was a frame of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from resources.pages.base import PageVersion
from resources.pages.sqlite import SqlitePages

__all__ = ["make"]

SCHEMA = """
CREATE TABLE domain (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL UNIQUE,
    dictionary      INTEGER NOT NULL DEFAULT 0,
    head_dictionary INTEGER NOT NULL DEFAULT 0,
    bodies          INTEGER NOT NULL DEFAULT 0,
    body_bytes      INTEGER NOT NULL DEFAULT 0,
    trained_at      INTEGER NOT NULL DEFAULT 0,
    tail_pack       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE dictionary (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    domain_id INTEGER NOT NULL,
    data      BLOB    NOT NULL
) STRICT;
CREATE INDEX dictionary_domain ON dictionary (domain_id);
CREATE TABLE page (
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
CREATE INDEX page_key    ON page (key_high, kind);
CREATE INDEX page_domain ON page (domain_id, kind, key_high);
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
CREATE TABLE body (
    domain_id  INTEGER NOT NULL,
    hash       BLOB    NOT NULL,
    pack_id    INTEGER NOT NULL,
    start      INTEGER NOT NULL,
    length     INTEGER NOT NULL,
    dictionary INTEGER NOT NULL,
    PRIMARY KEY (domain_id, hash)
) STRICT, WITHOUT ROWID;
CREATE TABLE pack (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    domain_id INTEGER NOT NULL,
    data      BLOB    NOT NULL
) STRICT;
CREATE INDEX pack_domain ON pack (domain_id);
"""


def make(path: Path, nights: Sequence[Sequence[PageVersion]]) -> None:
    """The file that version 1 wrote for these pages. Bodies that are put one by one are compressed one by one now as
    then; what has been added to their rows since is left behind."""
    newer = path.with_suffix(".newer")
    store = SqlitePages(newer)
    for night in nights:
        for page in night:
            store.put([page])
    store.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.executescript(SCHEMA)
    connection.execute("ATTACH ? AS newer", (str(newer),))
    tables = [
        name for (name,) in connection.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'")
    ]
    for table in tables:
        columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA main.table_info({table})"))
        connection.execute(f"DELETE FROM main.{table}")
        connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}")
    connection.execute("PRAGMA main.application_id = 0x4E435047")
    connection.execute("PRAGMA main.user_version = 1")
    connection.execute("PRAGMA main.journal_mode = WAL")
    connection.execute("DETACH newer")
    connection.close()
    newer.unlink()
