-- Leases on domains, signs of life, named values.

-- name: lease_domain
-- The owner keeps its fence; a new holder raises it. No row comes back while somebody else holds the lease.
INSERT INTO domain_lease (domain, owner, fence, until) VALUES (?1, ?2, 1, ?3)
ON CONFLICT (domain) DO UPDATE SET
    fence = fence + (owner <> excluded.owner), owner = excluded.owner, until = excluded.until
WHERE owner = excluded.owner OR until <= ?4
RETURNING fence;

-- name: domain_lease
SELECT owner, fence, until FROM domain_lease WHERE domain = ? AND until > ?;

-- name: unlease_domain
-- No owner has an empty name: whoever comes next is a new holder.
UPDATE domain_lease SET owner = '', until = 0 WHERE domain = ? AND owner = ? AND fence = ?;

-- name: beat
INSERT OR REPLACE INTO worker (worker, host, pid, started_at, at, doing, pages, run_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: workers
SELECT worker, host, pid, started_at, at, doing, pages, run_id FROM worker WHERE at >= ? ORDER BY worker;

-- name: set_value
INSERT INTO named_value (name, value) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;
