What `bodies.py` runs. `{marks}` stands for the parameters of a list.

-- name: known
SELECT hash, pack_id, start, length, dictionary, body_start, body_length, frame_length FROM body WHERE domain_id = ? AND hash IN ({marks});

-- name: find
SELECT pack_id, start, length, dictionary, body_start, body_length, frame_length
FROM body WHERE domain_id = ? AND hash = ?;

-- name: frame
SELECT substr(data, ?, ?) FROM pack WHERE id = ?;

-- name: insert
INSERT OR REPLACE INTO body
    (domain_id, hash, pack_id, start, length, dictionary, body_start, body_length, frame_length)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: append
UPDATE pack SET data = CAST(data || ? AS BLOB) WHERE id = ?;

-- name: spread
SELECT hash, pack_id, start, length, dictionary, body_start, body_length, frame_length
FROM body WHERE domain_id = ? AND pack_id IN (
    SELECT id FROM pack WHERE domain_id = ? ORDER BY random() LIMIT ?
);

-- name: in_pack
SELECT hash, pack_id, start, length, dictionary, body_start, body_length, frame_length
FROM body WHERE domain_id = ? AND pack_id = ? ORDER BY start, body_start;

-- name: unused
DELETE FROM body WHERE domain_id = :domain
  AND hash NOT IN (SELECT hash FROM page WHERE domain_id = :domain)
  AND hash NOT IN (SELECT hash FROM version WHERE domain_id = :domain);

-- name: packs
-- Of each pack: its bytes, those of them that are needed, its oldest dictionary, how many small frames it has.
SELECT pack.id, length(data), sum(used), min(dictionary), sum(small)
FROM pack LEFT JOIN (
    SELECT pack_id, start, min(dictionary) AS dictionary,
           CASE WHEN frame_length > 0 THEN length * 1.0 * sum(body_length) / frame_length ELSE length END AS used,
           coalesce(frame_length, 0) < :small AS small
    FROM body WHERE domain_id = :domain GROUP BY pack_id, start
) AS frame ON frame.pack_id = pack.id
WHERE pack.domain_id = :domain GROUP BY pack.id;
