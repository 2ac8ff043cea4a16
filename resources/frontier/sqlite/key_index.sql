-- The state of the index: up to which row the run on disk goes, and which run that is.

-- name: state
SELECT done_to, run, forgotten FROM sweep;

-- name: newer
SELECT key, id FROM url WHERE id > ? ORDER BY id;

-- name: rows_up_to
SELECT key, id FROM url WHERE id > ? AND id <= ? ORDER BY id LIMIT ?;

-- name: done
UPDATE sweep SET done_to = ?, run = ?;

-- name: bury
INSERT OR REPLACE INTO forgotten_key (key, id) VALUES (?, ?);

-- name: buried
SELECT id FROM forgotten_key ORDER BY id;

-- name: forgot
UPDATE sweep SET forgotten = forgotten + 1 RETURNING forgotten;
