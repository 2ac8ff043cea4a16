-- Reading and writing whole rows.

-- name: record
SELECT url.key, url.url, domain.name, url.state, depth, priority, source, parent, discovered_at, attempts,
    fetches, redirects, not_before, lease.until, coalesce(lease.owner, ''), done_at, due_at, lastmod, status,
    cause, detail, next_eligible_at, failed_at, content_hash
FROM url JOIN domain ON domain.id = url.domain_id LEFT JOIN lease ON lease.url_id = url.id
WHERE url.id = ?;

-- name: ids_in_key_order
-- Sorted by SQLite, in temporary files beyond its cache: memory does not grow with the domain.
SELECT id FROM (
    SELECT id, key, source FROM url WHERE domain_id = ?1 AND state = 0 AND not_before IS NULL AND ?2 & 1
    UNION ALL SELECT id, key, source FROM url WHERE domain_id = ?1 AND state = 0 AND not_before IS NOT NULL AND ?2 & 1
    UNION ALL SELECT id, key, source FROM url WHERE id IN (SELECT url_id FROM lease WHERE domain_id = ?1) AND ?2 & 2
    UNION ALL SELECT id, key, source FROM url WHERE domain_id = ?1 AND state = 2 AND ?2 & 4
    UNION ALL SELECT id, key, source FROM url WHERE domain_id = ?1 AND state = 3 AND ?2 & 8
    UNION ALL SELECT id, key, source FROM url WHERE domain_id = ?1 AND state = 4 AND ?2 & 16
) WHERE ?3 IS NULL OR source = ?3 ORDER BY key;

-- name: recount
SELECT
    (SELECT count(*) FROM url WHERE domain_id = ?1 AND state = 0 AND not_before IS NULL)
    + (SELECT count(*) FROM url WHERE domain_id = ?1 AND state = 0 AND not_before IS NOT NULL),
    (SELECT count(*) FROM url WHERE id IN (SELECT url_id FROM lease WHERE domain_id = ?1) AND state = 1),
    (SELECT count(*) FROM url WHERE domain_id = ?1 AND state = 2),
    (SELECT count(*) FROM url WHERE domain_id = ?1 AND state = 3),
    (SELECT count(*) FROM url WHERE domain_id = ?1 AND state = 4);

-- name: due
SELECT count(*) FROM url INDEXED BY url_done WHERE domain_id = ? AND state = 2 AND due_at <= ?;

-- name: failures
SELECT cause, count(*), count(next_eligible_at) FROM url WHERE domain_id = ? AND state = 3 GROUP BY cause;

-- name: put
INSERT OR REPLACE INTO url (
    id, state, domain_id, priority, depth, source, attempts, fetches, redirects, not_before, done_at, due_at,
    failed_at, next_eligible_at, lastmod, discovered_at, status, cause, detail, key, parent, content_hash, url
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
