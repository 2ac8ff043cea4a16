-- Views of the warehouse that the published copy holds as tables.

CREATE OR REPLACE VIEW crawl_health AS
WITH windows AS (
    SELECT domain, run_id, time_bucket(INTERVAL 5 MINUTES, started_at) AS window_start,
           count(*) FILTER (WHERE outcome NOT IN ('cached', 'released')) AS requests,
           count(*) FILTER (WHERE outcome IN ('ok', 'not_modified', 'cached')) AS pages,
           count(*) FILTER (WHERE status = 403) AS status_403,
           count(*) FILTER (WHERE status = 429) AS status_429,
           count(*) FILTER (WHERE status >= 500) AS status_5xx,
           count(*) FILTER (WHERE cause IN ('connect_timeout', 'read_timeout', 'total_timeout')) AS timeouts,
           count(*) FILTER (WHERE outcome = 'retry') AS retries,
           count(*) FILTER (WHERE outcome IN ('not_modified', 'cached')) AS cache_hits,
           count(*) FILTER (WHERE outcome = 'wall') AS walls,
           sum(wire_bytes) AS wire_bytes,
           quantile_cont(ttfb_ms, 0.95) AS p95_ttfb_ms
    FROM fetch_log
    WHERE outcome <> 'excluded'
    GROUP BY ALL
)
SELECT domain, run_id, window_start, requests, pages, pages / 300.0 AS pages_per_s,
       status_403, status_429, status_5xx, timeouts, retries,
       coalesce(status_429 / nullif(requests, 0), 0.0) AS share_429,
       coalesce(retries / nullif(requests, 0), 0.0) AS retry_share,
       coalesce(cache_hits / nullif(pages, 0), 0.0) AS cache_hit_rate,
       walls + status_403 AS ban_signals, walls, wire_bytes, p95_ttfb_ms,
       sum(pages) OVER half_hour / 1800.0 AS rolling_pages_per_s,
       coalesce(sum(status_429) OVER half_hour / nullif(sum(requests) OVER half_hour, 0), 0.0) AS rolling_share_429,
       coalesce(sum(cache_hits) OVER half_hour / nullif(sum(pages) OVER half_hour, 0), 0.0) AS rolling_cache_hit_rate,
       coalesce(sum(walls + status_403) OVER half_hour / nullif(sum(requests) OVER half_hour, 0), 0.0)
           AS rolling_ban_share
FROM windows
WINDOW half_hour AS (PARTITION BY domain ORDER BY window_start RANGE BETWEEN INTERVAL 25 MINUTES PRECEDING AND CURRENT ROW);
COMMENT ON VIEW crawl_health IS 'The five health metrics in windows of five minutes, per domain and run, from fetch_log; rolling_ columns look back half an hour';
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
COMMENT ON COLUMN crawl_health.share_429 IS 'Share of requests that were answered with 429';
COMMENT ON COLUMN crawl_health.retry_share IS 'Share of requests that have to be made again';
COMMENT ON COLUMN crawl_health.cache_hit_rate IS 'Share of pages that needed no body';
COMMENT ON COLUMN crawl_health.ban_signals IS 'Block pages and 403 answers';
COMMENT ON COLUMN crawl_health.walls IS 'Block pages';
COMMENT ON COLUMN crawl_health.wire_bytes IS 'Bytes of bodies on the wire';
COMMENT ON COLUMN crawl_health.p95_ttfb_ms IS '95th percentile of the time to the response head';
COMMENT ON COLUMN crawl_health.rolling_pages_per_s IS 'Pages a second over the half hour that ends with the window';
COMMENT ON COLUMN crawl_health.rolling_share_429 IS 'Share of 429s over that half hour';
COMMENT ON COLUMN crawl_health.rolling_cache_hit_rate IS 'Share of pages that needed no body over that half hour';
COMMENT ON COLUMN crawl_health.rolling_ban_share IS 'Share of requests that met a block page or a 403 over that half hour';

-- Of the warehouse alone: all domains together.
CREATE OR REPLACE VIEW crawl_health_overall AS
SELECT window_start, count(DISTINCT domain) AS domains, sum(requests) AS requests, sum(pages) AS pages,
       sum(pages) / 300.0 AS pages_per_s, sum(status_403) AS status_403, sum(status_429) AS status_429,
       sum(status_5xx) AS status_5xx, sum(timeouts) AS timeouts, sum(retries) AS retries,
       coalesce(sum(status_429) / nullif(sum(requests), 0), 0.0) AS share_429,
       coalesce(sum(cache_hit_rate * pages) / nullif(sum(pages), 0), 0.0) AS cache_hit_rate,
       sum(ban_signals) AS ban_signals
FROM crawl_health
GROUP BY window_start;
COMMENT ON VIEW crawl_health_overall IS 'crawl_health over all domains, per five minutes';

CREATE OR REPLACE VIEW workers AS
SELECT worker, domain, run_id, min(started_at) AS first_request_at, max(started_at) AS last_request_at,
       arg_max(url, started_at) AS last_url,
       count(*) FILTER (WHERE outcome NOT IN ('cached', 'released')) AS requests,
       count(*) FILTER (WHERE outcome IN ('ok', 'not_modified', 'cached')) AS pages,
       count(*) FILTER (WHERE status IN (429, 503)) AS throttled,
       count(*) FILTER (WHERE outcome IN ('retry', 'failed', 'truncated')) AS failures,
       sum(wire_bytes) AS wire_bytes
FROM fetch_log
WHERE outcome <> 'excluded'
GROUP BY worker, domain, run_id;
COMMENT ON VIEW workers IS 'What each worker did on each domain, from fetch_log; who works right now is told by nightcrawl top';
COMMENT ON COLUMN workers.worker IS 'Process that fetched: host, process and start';
COMMENT ON COLUMN workers.domain IS 'host[:port]';
COMMENT ON COLUMN workers.run_id IS 'Run it belonged to; worker:… for one without a run';
COMMENT ON COLUMN workers.first_request_at IS 'Its first request there';
COMMENT ON COLUMN workers.last_request_at IS 'Its last request there';
COMMENT ON COLUMN workers.last_url IS 'What it fetched last';
COMMENT ON COLUMN workers.requests IS 'Requests sent';
COMMENT ON COLUMN workers.pages IS 'Pages gained: new, confirmed by 304, or from the cache';
COMMENT ON COLUMN workers.throttled IS '429 and 503 answers';
COMMENT ON COLUMN workers.failures IS 'Requests that have to be made again, or were given up';
COMMENT ON COLUMN workers.wire_bytes IS 'Bytes of bodies on the wire'
