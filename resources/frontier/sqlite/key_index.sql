-- The state of the sweep that carries keys from the newest rows into url_key.

-- name: state
SELECT done_to, going_to, forgotten FROM sweep;

-- name: newer
SELECT key, id FROM url WHERE id > ? ORDER BY id;

-- name: begin
UPDATE sweep SET going_to = ?, after = NULL;

-- name: end
UPDATE sweep SET done_to = going_to, going_to = 0, after = NULL;

-- name: forgot
UPDATE sweep SET forgotten = forgotten + 1 RETURNING forgotten;
