What `domains.py` runs.

-- name: find
SELECT id, dictionary, head_dictionary, bodies, body_bytes, trained_at, tail_pack FROM domain WHERE name = ?;

-- name: find_by_id
SELECT id, dictionary, head_dictionary, bodies, body_bytes, trained_at, tail_pack FROM domain WHERE id = ?;

-- name: add
INSERT INTO domain (name) VALUES (?);

-- name: grow
UPDATE domain SET bodies = bodies + ?, body_bytes = body_bytes + ?, tail_pack = ? WHERE id = ?;

-- name: add_dictionary
INSERT INTO dictionary (domain_id, data) VALUES (?, ?);

-- name: use_dictionary
UPDATE domain SET dictionary = ? WHERE id = ?;

-- name: trained
UPDATE domain SET trained_at = ? WHERE id = ?;

-- name: use_head_dictionary
UPDATE domain SET head_dictionary = ? WHERE id = ?;

-- name: unused_dictionaries
SELECT id FROM dictionary
WHERE domain_id = :domain
  AND id NOT IN (SELECT dictionary FROM body WHERE domain_id = :domain)
  AND id NOT IN (SELECT head_dictionary FROM page WHERE domain_id = :domain)
  AND id NOT IN (SELECT head_dictionary FROM version WHERE domain_id = :domain)
  AND id NOT IN (SELECT dictionary FROM domain WHERE id = :domain)
  AND id NOT IN (SELECT head_dictionary FROM domain WHERE id = :domain);
