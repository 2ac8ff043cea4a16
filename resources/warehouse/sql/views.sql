-- Views of the warehouse that the published copy holds as tables.

CREATE OR REPLACE VIEW crawl_health AS
SELECT domain, run_id, time_bucket(INTERVAL 5 MINUTES, started_at) AS window_start,
       count(*) FILTER (WHERE outcome NOT IN ('excluded', 'cached', 'released')) AS requests,
       count(*) FILTER (WHERE outcome IN ('ok', 'not_modified', 'cached')) AS pages,
       count(*) FILTER (WHERE outcome IN ('ok', 'not_modified', 'cached')) / 300.0 AS pages_per_s,
       count(*) FILTER (WHERE status = 403) AS status_403,
       count(*) FILTER (WHERE status = 429) AS status_429,
       count(*) FILTER (WHERE status >= 500) AS status_5xx,
       count(*) FILTER (WHERE cause IN ('connect_timeout', 'read_timeout', 'total_timeout')) AS timeouts,
       count(*) FILTER (WHERE outcome = 'retry') AS retries,
       coalesce(count(*) FILTER (WHERE status = 429) / nullif(count(*) FILTER (WHERE status IS NOT NULL), 0), 0.0) AS share_429,
       coalesce(count(*) FILTER (WHERE outcome IN ('not_modified', 'cached'))
           / nullif(count(*) FILTER (WHERE outcome IN ('ok', 'not_modified', 'cached')), 0), 0.0) AS cache_hit_rate,
       count(*) FILTER (WHERE outcome = 'wall' OR status = 403) AS ban_signals,
       quantile_cont(ttfb_ms, 0.95) AS p95_ttfb_ms
FROM fetch_log
WHERE outcome <> 'excluded'
GROUP BY ALL;
COMMENT ON VIEW crawl_health IS 'The five health metrics in windows of five minutes, per domain and run, from fetch_log';
COMMENT ON COLUMN crawl_health.domain IS 'host[:port]';
COMMENT ON COLUMN crawl_health.run_id IS 'Run that fetched';
COMMENT ON COLUMN crawl_health.window_start IS 'Start of the five minutes';
COMMENT ON COLUMN crawl_health.requests IS 'Requests sent';
COMMENT ON COLUMN crawl_health.pages IS 'Pages gained: new, confirmed by 304, or from the cache';
COMMENT ON COLUMN crawl_health.pages_per_s IS 'Pages a second over the window';
COMMENT ON COLUMN crawl_health.status_403 IS '403 answers';
COMMENT ON COLUMN crawl_health.status_429 IS '429 answers';
COMMENT ON COLUMN crawl_health.status_5xx IS '5xx answers';
COMMENT ON COLUMN crawl_health.timeouts IS 'Requests that timed out';
COMMENT ON COLUMN crawl_health.retries IS 'Attempts put off for another try';
COMMENT ON COLUMN crawl_health.share_429 IS 'Share of answers that were 429';
COMMENT ON COLUMN crawl_health.cache_hit_rate IS 'Share of pages that needed no body';
COMMENT ON COLUMN crawl_health.ban_signals IS 'Block pages and 403 answers';
COMMENT ON COLUMN crawl_health.p95_ttfb_ms IS '95th percentile of the time to the response head'
