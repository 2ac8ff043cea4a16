-- Adding URLs. Rows go in in the order of their keys: two workers that add the same URLs never wait in a circle.

-- name: known
SELECT key FROM url WHERE key = ANY(%(keys)s::bytea[]);

-- name: insert
INSERT INTO url (key, id, domain_id, state, priority, depth, source, redirects, lastmod, discovered_at, cause, parent, url)
SELECT * FROM unnest(
    %(key)s::bytea[], %(id)s::bigint[], %(domain)s::bigint[], %(state)s::smallint[], %(priority)s::integer[],
    %(depth)s::integer[], %(source)s::smallint[], %(redirects)s::integer[], %(lastmod)s::double precision[],
    %(discovered_at)s::double precision[], %(cause)s::text[], %(parent)s::bytea[], %(url)s::text[]
)
ON CONFLICT (key) DO NOTHING RETURNING key;

-- name: make_due
UPDATE url SET state = 0, attempts = 0, not_before = NULL, lastmod = greatest(url.lastmod, v.lastmod)
FROM unnest(%(keys)s::bytea[], %(dates)s::double precision[]) AS v (key, lastmod)
WHERE url.key = v.key AND state = 2 AND done_at < v.lastmod
RETURNING domain_id;

-- name: note_lastmod
UPDATE url SET lastmod = v.lastmod
FROM unnest(%(keys)s::bytea[], %(dates)s::double precision[]) AS v (key, lastmod)
WHERE url.key = v.key AND (url.lastmod IS NULL OR url.lastmod < v.lastmod);
