-- Adding URLs.

-- name: insert_url
INSERT INTO url (id, state, domain_id, priority, depth, source, redirects, lastmod, discovered_at, cause, key, parent, url)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: make_due
UPDATE url SET state = 0, attempts = 0, not_before = NULL, lastmod = ?2
WHERE id = ?1 AND state = 2 AND done_at < ?2
RETURNING domain_id;

-- name: note_lastmod
UPDATE url SET lastmod = ?2 WHERE id = ?1 AND (lastmod IS NULL OR lastmod < ?2);
