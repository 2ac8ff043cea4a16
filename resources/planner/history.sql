-- Earlier nights of each domain, as they really went: spans from the fetch log, since a run outlives its domains.

-- name: past_nights
-- $1: at most so many nights a domain; $2: leave out this night and later ones (it is being planned).
WITH recent AS (
    SELECT domain, night, started_at, ended_at,
           row_number() OVER (PARTITION BY domain ORDER BY started_at DESC) AS age,
           count(*) OVER (PARTITION BY domain) AS all_nights
    FROM nights WHERE requests > 0 AND night < $2
), sent AS (
    SELECT r.domain, r.night, count(*) AS requests, count(DISTINCT f.url) AS urls,
           epoch(max(f.started_at)) - epoch(min(f.started_at)) AS seconds, sum(f.wire_bytes) AS wire_bytes
    FROM recent r JOIN fetch_log f
      ON f.domain = r.domain AND f.started_at BETWEEN r.started_at AND r.ended_at
    WHERE r.age <= $1 AND f.outcome NOT IN ('excluded', 'cached', 'released')
    GROUP BY ALL
), fresh AS (
    SELECT r.domain, r.night, count(*) AS new_pages
    FROM recent r JOIN pages p
      ON p.domain = r.domain AND p.first_seen_at BETWEEN r.started_at AND r.ended_at
    WHERE r.age <= $1
    GROUP BY ALL
)
SELECT r.domain, r.night, s.requests, s.urls, s.seconds, coalesce(s.wire_bytes, 0), coalesce(n.new_pages, 0),
       r.all_nights <= $1
FROM recent r JOIN sent s USING (domain, night) LEFT JOIN fresh n USING (domain, night)
WHERE r.age <= $1
ORDER BY r.domain, r.started_at;

-- name: eligible
SELECT domain, count(*) FROM failed_urls WHERE next_eligible_at <= to_timestamp($1) GROUP BY domain;
