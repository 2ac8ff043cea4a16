-- From version 1: keys were in the table url_key. The number names a run that does not exist yet: whoever looks up
-- the first key makes it from the rows.
DROP TABLE url_key;
DROP TABLE sweep;
CREATE TABLE sweep (
    done_to   INTEGER NOT NULL,
    run       INTEGER NOT NULL,
    forgotten INTEGER NOT NULL
) STRICT;
INSERT INTO sweep SELECT coalesce(max(id), 0), CASE WHEN max(id) IS NULL THEN 0 ELSE abs(random() / 2) + 1 END, 0 FROM url;
CREATE TABLE forgotten_key (
    key BLOB PRIMARY KEY,
    id  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
