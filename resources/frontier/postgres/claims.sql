-- Claiming URLs and handing leases back. SKIP LOCKED: workers that claim at once take different rows, and
-- none waits for another.

-- name: unpark
UPDATE url SET not_before = NULL WHERE key IN (
    SELECT key FROM url
    WHERE domain_id = %(domain)s AND state = 0 AND not_before IS NOT NULL AND not_before <= %(now)s
    ORDER BY not_before LIMIT %(limit)s FOR UPDATE SKIP LOCKED
);

-- name: claim
WITH ready AS MATERIALIZED (
    SELECT key FROM url
    WHERE domain_id = %(domain)s AND state = 0 AND not_before IS NULL
    ORDER BY priority, id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE url SET state = 1, token = nextval('token'), lease_owner = %(owner)s, lease_until = %(until)s
FROM ready WHERE url.key = ready.key
RETURNING url.key, url.url, depth, priority, source, attempts, redirects, token, done_at, parent, url.id;

-- name: extend
UPDATE url SET lease_until = %(until)s WHERE state = 1 AND lease_owner = %(owner)s;

-- name: release_of_worker
UPDATE url SET state = 0, not_before = NULL, token = NULL, lease_owner = '', lease_until = NULL
WHERE key IN (SELECT key FROM url WHERE state = 1 AND lease_owner = %(owner)s ORDER BY key FOR UPDATE)
RETURNING domain_id;

-- name: release_expired
UPDATE url SET state = 0, not_before = NULL, token = NULL, lease_owner = '', lease_until = NULL
WHERE key IN (
    SELECT key FROM url
    WHERE state = 1 AND lease_until <= %(now)s AND (%(domain)s::bigint IS NULL OR domain_id = %(domain)s)
    ORDER BY key FOR UPDATE SKIP LOCKED
)
RETURNING domain_id;

-- name: next_ready
SELECT
    EXISTS (SELECT 1 FROM url WHERE domain_id = %(domain)s AND state = 0 AND not_before IS NULL),
    (SELECT min(not_before) FROM url WHERE domain_id = %(domain)s AND state = 0 AND not_before IS NOT NULL);
