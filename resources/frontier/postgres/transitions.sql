-- Moves of many rows at once. Each takes the rows of a bounded chunk; the caller repeats it.

-- name: due
UPDATE url SET state = 0, attempts = 0, not_before = NULL WHERE key IN (
    SELECT key FROM url WHERE domain_id = %(domain)s AND state = 2 AND due_at <= %(now)s
    LIMIT %(limit)s FOR UPDATE
);

-- name: all_done
UPDATE url SET state = 0, attempts = 0, not_before = NULL WHERE key IN (
    SELECT key FROM url WHERE domain_id = %(domain)s AND state = 2 LIMIT %(limit)s FOR UPDATE
);

-- name: eligible
UPDATE url SET state = 0, not_before = NULL, failed_at = NULL, next_eligible_at = NULL WHERE key IN (
    SELECT key FROM url
    WHERE domain_id = %(domain)s AND state = 3 AND (%(cause)s::text IS NULL OR cause = %(cause)s)
        AND next_eligible_at <= %(now)s
    LIMIT %(limit)s FOR UPDATE
);

-- name: all_failed
UPDATE url SET state = 0, not_before = NULL, failed_at = NULL, next_eligible_at = NULL WHERE key IN (
    SELECT key FROM url
    WHERE domain_id = %(domain)s AND state = 3 AND (%(cause)s::text IS NULL OR cause = %(cause)s)
    LIMIT %(limit)s FOR UPDATE
);

-- name: reconsider
UPDATE url SET state = 0, attempts = 0, not_before = NULL, cause = '', detail = '' WHERE key IN (
    SELECT key FROM url WHERE domain_id = %(domain)s AND state = 4 AND cause = %(cause)s
    LIMIT %(limit)s FOR UPDATE
);

-- name: exclude
UPDATE url SET state = 4, not_before = NULL, cause = %(reason)s, detail = %(detail)s
WHERE key IN (SELECT key FROM url WHERE key = ANY(%(keys)s::bytea[]) AND state = 0 ORDER BY key FOR UPDATE)
RETURNING domain_id;

-- name: forget
DELETE FROM url WHERE key IN (
    SELECT key FROM url WHERE domain_id = %(domain)s LIMIT %(limit)s FOR UPDATE
) RETURNING state;
