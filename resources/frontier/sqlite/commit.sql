-- The end of claims: one statement per verdict, see frontier.base.Verdict.

-- name: done
UPDATE url SET state = 2, attempts = attempts + ?2, fetches = fetches + 1, not_before = NULL,
    done_at = ?3, due_at = ?4, failed_at = NULL, next_eligible_at = NULL,
    status = coalesce(?5, status), cause = ?6, detail = ?7, content_hash = coalesce(?8, content_hash)
WHERE id = ?1;

-- name: retry
UPDATE url SET state = 0, attempts = attempts + ?2, fetches = fetches + 1, not_before = ?3,
    status = coalesce(?4, status), cause = ?5, detail = ?6
WHERE id = ?1;

-- name: failed
UPDATE url SET state = 3, attempts = attempts + ?2, fetches = fetches + 1, not_before = NULL,
    failed_at = ?3, next_eligible_at = ?4, status = coalesce(?5, status), cause = ?6, detail = ?7
WHERE id = ?1;

-- name: excluded
UPDATE url SET state = 4, not_before = NULL, status = coalesce(?2, status), cause = ?3, detail = ?4
WHERE id = ?1;

-- name: released
UPDATE url SET state = 0, not_before = ?2 WHERE id = ?1;
