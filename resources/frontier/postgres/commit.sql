-- The end of claims: one statement per verdict for all acks of a commit, see frontier.base.Verdict. The token
-- is the fence: an ack whose lease has passed on finds no row.

-- name: done
UPDATE url SET state = 2, attempts = attempts + v.counted, fetches = fetches + 1, not_before = NULL,
    done_at = v.at, due_at = v.due_at, failed_at = NULL, next_eligible_at = NULL,
    status = coalesce(v.status, url.status), cause = v.cause, detail = v.detail,
    content_hash = coalesce(v.content_hash, url.content_hash), token = NULL, lease_owner = '', lease_until = NULL
FROM {acks} WHERE url.key = v.key AND url.token = v.token AND url.state = 1
RETURNING url.token, v.token, domain_id;

-- name: retry
UPDATE url SET state = 0, attempts = attempts + v.counted, fetches = fetches + 1, not_before = v.parked,
    status = coalesce(v.status, url.status), cause = v.cause, detail = v.detail,
    token = NULL, lease_owner = '', lease_until = NULL
FROM {acks} WHERE url.key = v.key AND url.token = v.token AND url.state = 1
RETURNING url.token, v.token, domain_id;

-- name: failed
UPDATE url SET state = 3, attempts = attempts + v.counted, fetches = fetches + 1, not_before = NULL,
    failed_at = v.at, next_eligible_at = v.next_eligible_at, status = coalesce(v.status, url.status),
    cause = v.cause, detail = v.detail, token = NULL, lease_owner = '', lease_until = NULL
FROM {acks} WHERE url.key = v.key AND url.token = v.token AND url.state = 1
RETURNING url.token, v.token, domain_id;

-- name: excluded
UPDATE url SET state = 4, not_before = NULL, status = coalesce(v.status, url.status), cause = v.cause,
    detail = v.detail, token = NULL, lease_owner = '', lease_until = NULL
FROM {acks} WHERE url.key = v.key AND url.token = v.token AND url.state = 1
RETURNING url.token, v.token, domain_id;

-- name: released
UPDATE url SET state = 0, not_before = v.parked, token = NULL, lease_owner = '', lease_until = NULL
FROM {acks} WHERE url.key = v.key AND url.token = v.token AND url.state = 1
RETURNING url.token, v.token, domain_id;

-- name: acks
unnest(
    %(key)s::bytea[], %(token)s::bigint[], %(counted)s::integer[], %(at)s::double precision[],
    %(due_at)s::double precision[], %(parked)s::double precision[], %(next_eligible_at)s::double precision[],
    %(status)s::integer[], %(cause)s::text[], %(detail)s::text[], %(content_hash)s::bytea[]
) AS v (key, token, counted, at, due_at, parked, next_eligible_at, status, cause, detail, content_hash)
