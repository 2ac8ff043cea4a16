-- One batch of one domain into the tables, in one transaction. $domain and $run are parameters; file lists are
-- put in as literals made from our own file names.

-- name: touched
CREATE OR REPLACE TEMP TABLE touched (page_key BLOB, signature BLOB, url VARCHAR, gone VARCHAR)
-- name: touched_parsed
INSERT INTO touched SELECT page_key, signature, url, NULL FROM read_parquet({parsed})
-- name: touched_gone
INSERT INTO touched
SELECT g.page_key, NULL, p.url, g.reason
FROM read_parquet({gone}) g JOIN loading.parsed p ON p.page_key = g.page_key AND p.domain = $domain

-- name: gone_again
DELETE FROM gone_pages WHERE domain = $domain AND url IN (SELECT url FROM touched)
-- name: gone
INSERT INTO gone_pages
SELECT p.url, p.domain, $now, t.gone, p.content_hash, p.fetched_at, p.first_seen_at, p.title, $run
FROM pages p JOIN touched t ON t.url = p.url AND t.gone IS NOT NULL WHERE p.domain = $domain

-- name: pages_old
DELETE FROM pages WHERE domain = $domain AND url IN (SELECT url FROM touched)
-- name: pages
INSERT INTO pages BY NAME SELECT * FROM read_parquet({files})

-- name: links_old
DELETE FROM links WHERE domain = $domain AND from_url IN (SELECT url FROM touched)
-- name: links
INSERT INTO links BY NAME SELECT *, $domain AS domain FROM read_parquet({files})

-- name: structured_data_old
DELETE FROM structured_data WHERE domain = $domain AND url IN (SELECT url FROM touched)
-- name: structured_data
INSERT INTO structured_data BY NAME SELECT *, $domain AS domain FROM read_parquet({files})

-- name: rejected_items_old
DELETE FROM candidates.rejected_items WHERE domain = $domain AND url IN (SELECT url FROM touched)
-- name: rejected_items
INSERT INTO candidates.rejected_items BY NAME SELECT *, $domain AS domain FROM read_parquet({files})

-- name: parsed_old
DELETE FROM loading.parsed WHERE domain = $domain AND page_key IN (SELECT page_key FROM touched)
-- name: parsed
INSERT INTO loading.parsed SELECT $domain, page_key, signature, url FROM touched WHERE gone IS NULL
-- name: batch
INSERT INTO loading.batches VALUES ($batch, $domain, $now)
