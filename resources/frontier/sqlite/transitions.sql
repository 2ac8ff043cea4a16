-- Moves of many rows at once. Each takes the rows of a bounded chunk; the caller repeats it.

-- name: due
UPDATE url SET state = 0, attempts = 0, not_before = NULL WHERE id IN (
    SELECT id FROM url INDEXED BY url_done
    WHERE domain_id = :domain AND state = 2 AND due_at <= :now LIMIT :limit
);

-- name: all_done
UPDATE url SET state = 0, attempts = 0, not_before = NULL WHERE id IN (
    SELECT id FROM url INDEXED BY url_done
    WHERE domain_id = :domain AND state = 2 LIMIT :limit
);

-- name: eligible
UPDATE url SET state = 0, not_before = NULL, failed_at = NULL, next_eligible_at = NULL WHERE id IN (
    SELECT id FROM url INDEXED BY url_failed
    WHERE domain_id = :domain AND state = 3 AND (:cause IS NULL OR cause = :cause) AND next_eligible_at <= :now LIMIT :limit
);

-- name: all_failed
UPDATE url SET state = 0, not_before = NULL, failed_at = NULL, next_eligible_at = NULL WHERE id IN (
    SELECT id FROM url INDEXED BY url_failed
    WHERE domain_id = :domain AND state = 3 AND (:cause IS NULL OR cause = :cause) LIMIT :limit
);

-- name: reconsider
UPDATE url SET state = 0, attempts = 0, not_before = NULL, cause = '', detail = '' WHERE id IN (
    SELECT id FROM url INDEXED BY url_excluded
    WHERE domain_id = :domain AND state = 4 AND cause = :cause LIMIT :limit
);

-- name: exclude
UPDATE url SET state = 4, not_before = NULL, cause = ?2, detail = ?3 WHERE id = ?1 AND state = 0
RETURNING domain_id;

-- name: some_rows
-- Any rows of a domain, a chunk of them; each branch walks one partial index.
SELECT id, key, state FROM (
    SELECT id, key, state FROM url WHERE domain_id = ?1 AND state = 0 AND not_before IS NULL
    UNION ALL SELECT id, key, state FROM url WHERE domain_id = ?1 AND state = 0 AND not_before IS NOT NULL
    UNION ALL SELECT id, key, state FROM url WHERE id IN (SELECT url_id FROM lease WHERE domain_id = ?1)
    UNION ALL SELECT id, key, state FROM url WHERE domain_id = ?1 AND state = 2
    UNION ALL SELECT id, key, state FROM url WHERE domain_id = ?1 AND state = 3
    UNION ALL SELECT id, key, state FROM url WHERE domain_id = ?1 AND state = 4
) LIMIT ?2;
