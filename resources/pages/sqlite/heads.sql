What `heads.py` runs. `{table}` is page or version, `{marks}` the parameters of a list.

-- name: find
SELECT id, domain_id, kind, key_high, key_low, hash, status, body_bytes, validated_at, fetched_at,
       first_seen_at, changed_at, requested_at, head_dictionary, fields
FROM {table} WHERE key_high IN ({marks}) AND kind = ?
ORDER BY id DESC;

-- name: scan
SELECT id, domain_id, kind, key_high, key_low, hash, status, body_bytes, validated_at, fetched_at,
       first_seen_at, changed_at, requested_at, head_dictionary, fields
FROM page
WHERE domain_id = :domain AND kind = :kind AND key_high >= :high AND (key_high > :high OR key_low > :low)
ORDER BY key_high, key_low;

-- name: of_domain
SELECT id, domain_id, kind, key_high, key_low, hash, status, body_bytes, validated_at, fetched_at,
       first_seen_at, changed_at, requested_at, head_dictionary, fields
FROM {table} WHERE domain_id = ?;

-- name: insert
INSERT INTO {table} (domain_id, kind, key_high, key_low, hash, status, body_bytes, validated_at, fetched_at,
                     first_seen_at, changed_at, requested_at, head_dictionary, fields)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: replace
UPDATE page SET domain_id = ?, kind = ?, key_high = ?, key_low = ?, hash = ?, status = ?, body_bytes = ?,
                validated_at = ?, fetched_at = ?, first_seen_at = ?, changed_at = ?, requested_at = ?,
                head_dictionary = ?, fields = ?
WHERE id = ?;

-- name: touch
UPDATE page SET domain_id = ?, kind = ?, key_high = ?, key_low = ?, hash = ?, status = ?, body_bytes = ?,
                validated_at = ?, fetched_at = ?, first_seen_at = ?, changed_at = ?, requested_at = ?,
                head_dictionary = ?, fields = ?
WHERE key_high = ? AND kind = ? AND key_low = ? AND hash = ?;

-- name: archive
INSERT INTO version (domain_id, kind, key_high, key_low, hash, status, body_bytes, validated_at, fetched_at,
                     first_seen_at, changed_at, requested_at, head_dictionary, fields)
SELECT domain_id, kind, key_high, key_low, hash, status, body_bytes, validated_at, fetched_at,
       first_seen_at, changed_at, requested_at, head_dictionary, fields
FROM page WHERE id = ?;

-- name: trim
DELETE FROM version WHERE id IN (
    SELECT id FROM version WHERE key_high = ? AND kind = ? AND key_low = ? ORDER BY id DESC LIMIT -1 OFFSET ?
);

-- name: trim_domain
DELETE FROM version WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY kind, key_high, key_low ORDER BY id DESC) AS age
        FROM version WHERE domain_id = :domain
    ) WHERE age > :keep
);
