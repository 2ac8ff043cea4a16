What `bodies.py` runs. `{marks}` stands for the parameters of a list.

-- name: known
SELECT hash, pack_id, start, length, dictionary FROM body WHERE domain_id = ? AND hash IN ({marks});

-- name: find
SELECT pack_id, start, length, dictionary FROM body WHERE domain_id = ? AND hash = ?;

-- name: frame
SELECT substr(data, ?, ?) FROM pack WHERE id = ?;

-- name: insert
INSERT OR REPLACE INTO body (domain_id, hash, pack_id, start, length, dictionary) VALUES (?, ?, ?, ?, ?, ?);

-- name: append
UPDATE pack SET data = CAST(data || ? AS BLOB) WHERE id = ?;

-- name: spread
SELECT pack_id, start, length, dictionary FROM body WHERE domain_id = ? AND pack_id IN (
    SELECT id FROM pack WHERE domain_id = ? ORDER BY random() LIMIT ?
);

-- name: unused
DELETE FROM body WHERE domain_id = :domain
  AND hash NOT IN (SELECT hash FROM page WHERE domain_id = :domain)
  AND hash NOT IN (SELECT hash FROM version WHERE domain_id = :domain);

-- name: packs
SELECT pack.id, length(data), sum(body.length), min(body.dictionary)
FROM pack LEFT JOIN body ON body.domain_id = pack.domain_id AND body.pack_id = pack.id
WHERE pack.domain_id = ? GROUP BY pack.id;
