-- Reading and writing whole rows.

-- name: record
SELECT key, url, domain.name, state, depth, priority, source, parent, discovered_at, attempts, fetches, redirects,
    not_before, lease_until, lease_owner, done_at, due_at, lastmod, status, cause, detail, next_eligible_at,
    failed_at, content_hash
FROM url JOIN domain ON domain.id = url.domain_id

-- name: recount
SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1), count(*) FILTER (WHERE state = 2),
    count(*) FILTER (WHERE state = 3), count(*) FILTER (WHERE state = 4)
FROM url WHERE domain_id = %(domain)s;

-- name: failures
SELECT cause, count(*), count(next_eligible_at) FROM url WHERE domain_id = %(domain)s AND state = 3 GROUP BY cause;

-- name: due
SELECT count(*) FROM url WHERE domain_id = %(domain)s AND state = 2 AND due_at <= %(at)s;

-- name: lock
SELECT key, id, domain_id, state FROM url WHERE key = ANY(%(keys)s::bytea[]) ORDER BY key FOR UPDATE;

-- name: put
INSERT INTO url (
    key, id, domain_id, state, priority, depth, source, attempts, fetches, redirects, status, not_before, done_at,
    due_at, failed_at, next_eligible_at, lastmod, discovered_at, token, lease_until, lease_owner, cause, detail,
    parent, content_hash, url
)
VALUES (
    %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s,
    CASE WHEN %s THEN nextval('token') END, %s, %s, %s, %s, %s, %s, %s
)
ON CONFLICT (key) DO UPDATE SET
    id = excluded.id, domain_id = excluded.domain_id, state = excluded.state, priority = excluded.priority,
    depth = excluded.depth, source = excluded.source, attempts = excluded.attempts, fetches = excluded.fetches,
    redirects = excluded.redirects, status = excluded.status, not_before = excluded.not_before,
    done_at = excluded.done_at, due_at = excluded.due_at, failed_at = excluded.failed_at,
    next_eligible_at = excluded.next_eligible_at, lastmod = excluded.lastmod,
    discovered_at = excluded.discovered_at, token = excluded.token, lease_until = excluded.lease_until,
    lease_owner = excluded.lease_owner, cause = excluded.cause, detail = excluded.detail,
    parent = excluded.parent, content_hash = excluded.content_hash, url = excluded.url;
