What `store.py` runs.

-- name: pages
SELECT count(*) FROM page WHERE domain_id = ? AND kind = ?;

-- name: counts
SELECT count(*), coalesce(sum(body_bytes), 0), coalesce((
    SELECT sum(length) FROM body WHERE domain_id = :domain
       AND hash IN (SELECT hash FROM page WHERE domain_id = :domain AND kind = :kind)
), 0)
FROM page WHERE domain_id = :domain AND kind = :kind;
