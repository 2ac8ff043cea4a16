What `store.py` runs.

-- name: pages
SELECT count(*) FROM page WHERE domain_id = ? AND kind = ?;

-- name: new_bodies
SELECT count(*), count(DISTINCT hash) FROM page
WHERE domain_id = :domain AND kind = :kind AND coalesce(first_seen_at, fetched_at) >= :since;

-- name: counts
-- Stored: the frames that these pages need, and the dictionaries that those need.
WITH needed AS MATERIALIZED (
    SELECT DISTINCT pack_id, start, length, dictionary FROM body WHERE domain_id = :domain
       AND hash IN (SELECT hash FROM page WHERE domain_id = :domain AND kind = :kind)
)
SELECT count(*), coalesce(sum(body_bytes), 0),
       (SELECT coalesce(sum(length), 0) FROM needed)
     + (SELECT coalesce(sum(length(data)), 0) FROM dictionary WHERE id IN (SELECT dictionary FROM needed))
FROM page WHERE domain_id = :domain AND kind = :kind;
