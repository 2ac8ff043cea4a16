-- What the fetch log and the snapshots say of one night. `log` is the view that read.py makes: rows of its runs.

-- name: span
SELECT epoch(min(started_at)), epoch(max(started_at)) FROM log;

-- name: buckets
-- $1: seconds of a bucket, $2: start of the first.
SELECT floor((epoch(started_at) - $2) / $1) AS place,
       count(*),
       count(*) FILTER (outcome IN ('ok', 'not_modified')),
       count(*) FILTER (status IN (429, 503)),
       count(*) FILTER (outcome = 'wall' OR status = 403),
       count(*) FILTER (outcome IN ('failed', 'retry', 'truncated') AND coalesce(status, 0) NOT IN (403, 429, 503))
FROM log WHERE outcome NOT IN ('excluded', 'cached', 'released')
GROUP BY place ORDER BY place;

-- name: errors
SELECT coalesce(nullif(cause, ''), CASE WHEN status IS NULL THEN outcome ELSE 'http_' || status END) AS cause,
       count(*), count(DISTINCT domain)
FROM log WHERE outcome IN ('failed', 'retry', 'truncated', 'wall')
GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: domains
SELECT domain,
       count(*) FILTER (outcome NOT IN ('excluded', 'cached', 'released')),
       count(*) FILTER (outcome IN ('ok', 'not_modified', 'cached')),
       count(*) FILTER (outcome IN ('not_modified', 'cached')),
       count(*) FILTER (status IN (429, 503)),
       count(*) FILTER (status = 403),
       count(*) FILTER (outcome = 'wall'),
       count(*) FILTER (outcome IN ('failed', 'retry', 'truncated') AND coalesce(status, 0) NOT IN (403, 429, 503)),
       coalesce(sum(wire_bytes), 0),
       quantile_cont(ttfb_ms, 0.95),
       epoch(max(started_at) FILTER (outcome NOT IN ('excluded', 'cached', 'released')))
FROM log GROUP BY domain;

-- name: states
SELECT domain, site, coalesce(pending, 0), coalesce(failed, 0), rate, limit_rate, coalesce(rate_reason, ''),
       coalesce(paused_cause, ''), coalesce(stale, false), coalesce(stale_reason, '')
FROM domains;

-- name: dead_letters
-- $1: start of the night.
SELECT cause, count(*) FROM failed_urls WHERE failed_at >= to_timestamp($1) GROUP BY cause;

-- name: row_counts
-- $1: start of the night. The last count of each domain before it, and the last one of all.
SELECT table_name,
       sum(before) FILTER (before IS NOT NULL), sum(now)
FROM (
    SELECT table_name, domain,
           arg_max(row_count, counted_at) FILTER (counted_at < to_timestamp($1)) AS before,
           arg_max(row_count, counted_at) AS now
    FROM row_counts GROUP BY ALL
) GROUP BY table_name;

-- name: gone_pages
SELECT count(*) FROM gone_pages WHERE gone_at >= to_timestamp($1);

-- name: dated_tables
SELECT table_name FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = current_schema()
  AND column_name IN ('first_seen_at', 'changed_at') AND table_name <> 'gone_pages'
GROUP BY table_name HAVING count(*) = 2 ORDER BY table_name;

-- name: history
-- $1: the night.
SELECT night, sum(requests)::BIGINT, sum(throttled)::BIGINT FROM nights WHERE night <= $1
GROUP BY night ORDER BY night DESC LIMIT 14;
