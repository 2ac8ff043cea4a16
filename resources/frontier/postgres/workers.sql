-- Leases on domains, signs of life, named values.

-- name: lease_domain
-- The owner keeps its fence; a new holder raises it. No row comes back while somebody else holds the lease.
INSERT INTO domain_lease AS held (domain, owner, fence, until) VALUES (%(domain)s, %(owner)s, 1, %(until)s)
ON CONFLICT (domain) DO UPDATE SET
    fence = held.fence + (held.owner <> excluded.owner)::integer, owner = excluded.owner, until = excluded.until
WHERE held.owner = excluded.owner OR held.until <= %(now)s
RETURNING fence;

-- name: domain_lease
SELECT owner, fence, until FROM domain_lease WHERE domain = %(domain)s AND until > %(now)s;

-- name: unlease_domain
-- No owner has an empty name: whoever comes next is a new holder.
UPDATE domain_lease SET owner = '', until = 0 WHERE domain = %(domain)s AND owner = %(owner)s AND fence = %(fence)s;

-- name: beat
INSERT INTO worker (worker, host, pid, started_at, at, doing, pages, run_id)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (worker) DO UPDATE SET host = excluded.host, pid = excluded.pid, started_at = excluded.started_at,
    at = excluded.at, doing = excluded.doing, pages = excluded.pages, run_id = excluded.run_id;

-- name: workers
SELECT worker, host, pid, started_at, at, doing, pages, run_id FROM worker WHERE at >= %s ORDER BY worker COLLATE "C";

-- name: set_value
INSERT INTO named_value (name, value) VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: append_log
INSERT INTO fetch_log (domain, row)
SELECT v.domain, v.row FROM unnest(%(domains)s::text[], %(rows)s::json[]) WITH ORDINALITY AS v (domain, row, n) ORDER BY v.n;

-- name: read_log
SELECT seq, row::text FROM fetch_log
WHERE seq > %(after)s AND (%(domain)s::text IS NULL OR domain = %(domain)s) ORDER BY seq LIMIT %(limit)s;

-- name: trim_log
DELETE FROM fetch_log WHERE seq IN (SELECT seq FROM fetch_log WHERE seq <= %(up_to)s ORDER BY seq LIMIT %(limit)s);
