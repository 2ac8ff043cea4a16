What `reading.py` runs. `{table}` is page or version.

-- name: read
SELECT p.id, p.domain_id, p.kind, p.key_high, p.key_low, p.hash, p.status, p.body_bytes, p.validated_at,
       p.fetched_at, p.first_seen_at, p.changed_at, p.requested_at, p.head_dictionary, p.fields,
       b.pack_id, b.start, b.length, b.dictionary, b.body_start, b.body_length, b.frame_length
FROM {table} AS p LEFT JOIN body AS b ON b.domain_id = p.domain_id AND b.hash = p.hash
WHERE p.domain_id = :domain AND p.kind = :kind AND coalesce(b.pack_id, 0) % :parts = :part
ORDER BY b.pack_id, b.start, b.body_start;
