-- The frontier in one PostgreSQL schema. Version 1; the comment on the schema holds the number.
--
-- As in the SQLite form, every index but the key's is partial: a row stands in one of them and moves when its
-- state does. Leases are columns of the row: a claim is one UPDATE of rows that nobody else has locked.

CREATE SEQUENCE url_id;
CREATE SEQUENCE token;

CREATE TABLE domain (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name     text   NOT NULL UNIQUE,
    -- Counters by state, kept in the transaction that moves the rows: counting never walks them.
    pending  bigint NOT NULL DEFAULT 0,
    leased   bigint NOT NULL DEFAULT 0,
    done     bigint NOT NULL DEFAULT 0,
    failed   bigint NOT NULL DEFAULT 0,
    excluded bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE url (
    key              bytea    PRIMARY KEY,
    id               bigint   NOT NULL,          -- order of discovery (sequence url_id)
    domain_id        bigint   NOT NULL,
    state            smallint NOT NULL,          -- frontier.base.State
    priority         integer  NOT NULL,
    depth            integer  NOT NULL,
    source           smallint NOT NULL,          -- frontier.base.Source
    attempts         integer  NOT NULL DEFAULT 0,
    fetches          integer  NOT NULL DEFAULT 0,
    redirects        integer  NOT NULL DEFAULT 0,
    status           integer,
    not_before       double precision,           -- set: parked; NULL: claimable at once
    done_at          double precision,
    due_at           double precision,
    failed_at        double precision,
    next_eligible_at double precision,
    lastmod          double precision,
    discovered_at    double precision NOT NULL,
    token            bigint,                     -- of the claim that holds it (sequence token): the fence
    lease_until      double precision,
    lease_owner      text     NOT NULL DEFAULT '',
    cause            text     NOT NULL DEFAULT '',
    detail           text     NOT NULL DEFAULT '',
    parent           bytea,
    content_hash     bytea,
    url              text     NOT NULL
) WITH (fillfactor = 85);

CREATE INDEX url_ready    ON url (domain_id, priority, id)            WHERE state = 0 AND not_before IS NULL;
CREATE INDEX url_parked   ON url (domain_id, not_before)              WHERE state = 0 AND not_before IS NOT NULL;
CREATE INDEX url_leased   ON url (lease_owner)                        WHERE state = 1;
CREATE INDEX url_expiring ON url (lease_until)                        WHERE state = 1;
CREATE INDEX url_done     ON url (domain_id, due_at)                  WHERE state = 2;
CREATE INDEX url_failed   ON url (domain_id, cause, next_eligible_at) WHERE state = 3;
CREATE INDEX url_excluded ON url (domain_id, cause)                   WHERE state = 4;

CREATE TABLE fetch_log (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain text NOT NULL,
    row    json NOT NULL
);
CREATE INDEX fetch_log_domain ON fetch_log (domain, seq);

-- A row outlives its lease, so that the fence never starts again.
CREATE TABLE domain_lease (
    domain text PRIMARY KEY,
    owner  text   NOT NULL,
    fence  bigint NOT NULL,
    until  double precision NOT NULL
);

CREATE TABLE worker (
    worker     text PRIMARY KEY,
    host       text    NOT NULL,
    pid        integer NOT NULL,
    started_at double precision NOT NULL,
    at         double precision NOT NULL,
    doing      text    NOT NULL,
    pages      bigint  NOT NULL,
    run_id     text    NOT NULL
);

CREATE TABLE named_value (
    name  text PRIMARY KEY,
    value text NOT NULL
);
