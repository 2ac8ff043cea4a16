-- The fetch log of the running night, in the order in which it was committed.

-- name: append
INSERT INTO fetch_log (
    domain_id, url, run_id, worker, attempt, started_at, ttfb_ms, duration_ms, status, outcome, from_cache,
    revalidated, wire_bytes, body_bytes, retry_after_s, error, cause, redirect_to, rule
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: read
SELECT seq, url, name, run_id, worker, attempt, started_at, ttfb_ms, duration_ms, status, outcome, from_cache,
    revalidated, wire_bytes, body_bytes, retry_after_s, error, cause, redirect_to, rule
FROM fetch_log JOIN domain ON domain.id = domain_id
WHERE seq > ? ORDER BY seq LIMIT ?;

-- name: read_of_domain
SELECT seq, url, name, run_id, worker, attempt, started_at, ttfb_ms, duration_ms, status, outcome, from_cache,
    revalidated, wire_bytes, body_bytes, retry_after_s, error, cause, redirect_to, rule
FROM fetch_log JOIN domain ON domain.id = domain_id
WHERE seq > ? AND domain_id = ? ORDER BY seq LIMIT ?;

-- name: trim
DELETE FROM fetch_log WHERE seq IN (SELECT seq FROM fetch_log WHERE seq <= ? ORDER BY seq LIMIT ?);
