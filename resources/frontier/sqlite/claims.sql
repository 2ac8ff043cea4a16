-- Claiming URLs and handing leases back.

-- name: unpark
-- In order of time and bounded, so that a claim never walks a large parking place.
UPDATE url SET not_before = NULL WHERE id IN (
    SELECT id FROM url
    WHERE domain_id = ?1 AND state = 0 AND not_before IS NOT NULL AND not_before <= ?2
    ORDER BY not_before LIMIT ?3
);

-- name: ready
SELECT id, key, url, depth, priority, source, attempts, redirects, done_at, parent
FROM url INDEXED BY url_ready
WHERE domain_id = ?1 AND state = 0 AND not_before IS NULL
ORDER BY priority, id LIMIT ?2;

-- name: insert_lease
INSERT INTO lease (token, url_id, domain_id, owner, until) VALUES (?, ?, ?, ?, ?);

-- name: release_of_worker
DELETE FROM lease WHERE owner = ? RETURNING url_id, domain_id;

-- name: release_expired
DELETE FROM lease WHERE until <= ? RETURNING url_id, domain_id;

-- name: release_expired_of_domain
DELETE FROM lease WHERE until <= ? AND domain_id = ? RETURNING url_id, domain_id;

-- name: hand_back
UPDATE url SET state = 0, not_before = NULL WHERE id = ? AND state = 1;

-- name: next_parked
SELECT min(not_before) FROM url WHERE domain_id = ? AND state = 0 AND not_before IS NOT NULL;

-- name: any_ready
SELECT 1 FROM url WHERE domain_id = ? AND state = 0 AND not_before IS NULL LIMIT 1;
