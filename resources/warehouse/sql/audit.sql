-- Questions of the audit. {table}, {key}, {column}, {field} are quoted identifiers.

-- name: duplicates
SELECT count(*) FROM (SELECT 1 FROM {table} WHERE domain = $1 GROUP BY {key} HAVING count(*) > 1)
-- name: orphans
SELECT count(*) FROM {table} t WHERE t.domain = $1
AND t.{column} NOT IN (SELECT url FROM pages WHERE domain = $1)
-- name: history
SELECT row_count FROM row_counts WHERE domain = $1 AND table_name = $2 ORDER BY counted_at DESC LIMIT $3
-- name: rejects
SELECT count(*), mode(detail) FROM rejected_items
WHERE domain = $1 AND item_type = $2 AND reason <> 'duplicate_key'
-- name: rows
SELECT count(*) FROM {table} WHERE domain = $1
-- name: coverage
SELECT (SELECT avg(CASE WHEN {field} IS NULL THEN 0 ELSE 1 END) FROM {table} WHERE domain = $domain),
       (SELECT avg(CASE WHEN {field} IS NULL THEN 0 ELSE 1 END) FROM {published}.main.{table} WHERE domain = $domain),
       (SELECT count(*) FROM {table} WHERE domain = $domain)
