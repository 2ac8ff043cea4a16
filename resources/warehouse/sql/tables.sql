-- The tables of the warehouse and of what is published, with the meaning of each column.
-- Run on every opening; every statement may be run again. Times are UTC.

CREATE TABLE IF NOT EXISTS pages (
    url VARCHAR NOT NULL, final_url VARCHAR, domain VARCHAR NOT NULL, depth INTEGER, status INTEGER,
    content_type VARCHAR, encoding VARCHAR, title VARCHAR, description VARCHAR, language VARCHAR,
    canonical_url VARCHAR, text_length BIGINT, content_hash VARCHAR, body_bytes BIGINT, fetched_at TIMESTAMPTZ,
    first_seen_at TIMESTAMPTZ, changed_at TIMESTAMPTZ, run_id VARCHAR, parser_version VARCHAR
);
COMMENT ON TABLE pages IS 'Current pages: the newest good body of each URL. Pages that are gone move to gone_pages.';
COMMENT ON COLUMN pages.url IS 'Canonical URL; one row each';
COMMENT ON COLUMN pages.final_url IS 'URL that answered; equals url, since redirects are URLs of their own';
COMMENT ON COLUMN pages.domain IS 'host[:port], the partition key';
COMMENT ON COLUMN pages.depth IS 'Links away from a seed or sitemap entry';
COMMENT ON COLUMN pages.status IS 'HTTP status of the stored response';
COMMENT ON COLUMN pages.content_type IS 'Content-Type as sent';
COMMENT ON COLUMN pages.encoding IS 'WHATWG name of the encoding the body was decoded with';
COMMENT ON COLUMN pages.title IS 'Text of the title element';
COMMENT ON COLUMN pages.description IS 'Meta description, else Open Graph, else Dublin Core';
COMMENT ON COLUMN pages.language IS 'lang attribute of the html element';
COMMENT ON COLUMN pages.canonical_url IS 'The one rel=canonical of the head; NULL if none or several that differ';
COMMENT ON COLUMN pages.text_length IS 'Characters a reader can see, blanks not counted';
COMMENT ON COLUMN pages.content_hash IS 'xxh3-128 of the decoded body, hexadecimal';
COMMENT ON COLUMN pages.body_bytes IS 'Length of the decoded body';
COMMENT ON COLUMN pages.fetched_at IS 'When this body was received; a 304 or an equal body does not change the row';
COMMENT ON COLUMN pages.first_seen_at IS 'When the URL first gave a page';
COMMENT ON COLUMN pages.changed_at IS 'When the body last changed';
COMMENT ON COLUMN pages.run_id IS 'Run that fetched this body';
COMMENT ON COLUMN pages.parser_version IS 'Version of the parser that made the row';

CREATE TABLE IF NOT EXISTS gone_pages (
    url VARCHAR NOT NULL, domain VARCHAR NOT NULL, gone_at TIMESTAMPTZ, reason VARCHAR, content_hash VARCHAR,
    fetched_at TIMESTAMPTZ, first_seen_at TIMESTAMPTZ, title VARCHAR, run_id VARCHAR
);
COMMENT ON TABLE gone_pages IS 'Pages that once had a row and left: one row a URL, removed again when the page comes back';
COMMENT ON COLUMN gone_pages.url IS 'Canonical URL';
COMMENT ON COLUMN gone_pages.domain IS 'host[:port]';
COMMENT ON COLUMN gone_pages.gone_at IS 'When the tables learned of it';
COMMENT ON COLUMN gone_pages.reason IS 'http_404, http_410, wall_soft_404, redirect, excluded: <reason>, or forgotten (no stored body)';
COMMENT ON COLUMN gone_pages.content_hash IS 'Hash of its last body';
COMMENT ON COLUMN gone_pages.fetched_at IS 'When that body was received';
COMMENT ON COLUMN gone_pages.first_seen_at IS 'When the URL first gave a page';
COMMENT ON COLUMN gone_pages.title IS 'Its last title';
COMMENT ON COLUMN gone_pages.run_id IS 'Run in which it left';

CREATE TABLE IF NOT EXISTS links (
    from_url VARCHAR NOT NULL, to_url VARCHAR NOT NULL, anchor VARCHAR, rel VARCHAR, in_scope BOOLEAN, domain VARCHAR NOT NULL
);
COMMENT ON TABLE links IS 'Links of current pages: one row for each page and distinct target';
COMMENT ON COLUMN links.from_url IS 'Page that holds the link';
COMMENT ON COLUMN links.to_url IS 'Canonical target, on any domain';
COMMENT ON COLUMN links.anchor IS 'Words of its first anchor that has any, else alternative text of its image';
COMMENT ON COLUMN links.rel IS 'Lower-case rel tokens, sorted, separated by blanks';
COMMENT ON COLUMN links.in_scope IS 'Whether a site file covers the target and its scope includes it';
COMMENT ON COLUMN links.domain IS 'host[:port] of from_url';

CREATE TABLE IF NOT EXISTS structured_data (
    url VARCHAR NOT NULL, domain VARCHAR NOT NULL, format VARCHAR, position INTEGER, type VARCHAR, data JSON,
    content_hash VARCHAR, fetched_at TIMESTAMPTZ, run_id VARCHAR, parser_version VARCHAR
);
COMMENT ON TABLE structured_data IS 'What current pages say of themselves in machine-readable form';
COMMENT ON COLUMN structured_data.url IS 'Page it stands on';
COMMENT ON COLUMN structured_data.domain IS 'host[:port]';
COMMENT ON COLUMN structured_data.format IS 'jsonld, microdata, rdfa, microformats, opengraph or dublin_core';
COMMENT ON COLUMN structured_data.position IS 'Order on the page within its format, from 0';
COMMENT ON COLUMN structured_data.type IS 'Last part of the first type (schema.org or another), root class of a microformat, or og:type';
COMMENT ON COLUMN structured_data.data IS 'The object as JSON';
COMMENT ON COLUMN structured_data.content_hash IS 'Hash of the body it was read from';
COMMENT ON COLUMN structured_data.fetched_at IS 'When that body was received';
COMMENT ON COLUMN structured_data.run_id IS 'Run that made the row';
COMMENT ON COLUMN structured_data.parser_version IS 'Version of the parser that made the row';

CREATE TABLE IF NOT EXISTS fetch_log (
    url VARCHAR NOT NULL, domain VARCHAR NOT NULL, run_id VARCHAR, worker VARCHAR, attempt INTEGER, started_at TIMESTAMPTZ,
    ttfb_ms DOUBLE, duration_ms DOUBLE, status INTEGER, outcome VARCHAR, from_cache BOOLEAN, revalidated BOOLEAN,
    wire_bytes BIGINT, body_bytes BIGINT, retry_after_s DOUBLE, error VARCHAR, cause VARCHAR, redirect_to VARCHAR, rule VARCHAR
);
COMMENT ON TABLE fetch_log IS 'Every fetch attempt of every night, one row each';
COMMENT ON COLUMN fetch_log.url IS 'Canonical URL';
COMMENT ON COLUMN fetch_log.domain IS 'host[:port]';
COMMENT ON COLUMN fetch_log.run_id IS 'Run that fetched';
COMMENT ON COLUMN fetch_log.worker IS 'Process that fetched';
COMMENT ON COLUMN fetch_log.attempt IS 'Counted attempts of the URL in this cycle, this one included';
COMMENT ON COLUMN fetch_log.started_at IS 'When the request went out';
COMMENT ON COLUMN fetch_log.ttfb_ms IS 'Milliseconds to the response head; NULL where none came';
COMMENT ON COLUMN fetch_log.duration_ms IS 'Milliseconds to the end of the body';
COMMENT ON COLUMN fetch_log.status IS 'HTTP status; NULL where none came';
COMMENT ON COLUMN fetch_log.outcome IS 'ok, not_modified, cached, redirect, retry, lost, failed, excluded, wall, truncated or released';
COMMENT ON COLUMN fetch_log.from_cache IS 'Answered from the page store without a request';
COMMENT ON COLUMN fetch_log.revalidated IS 'A 304 confirmed the stored body';
COMMENT ON COLUMN fetch_log.wire_bytes IS 'Bytes of the body on the wire';
COMMENT ON COLUMN fetch_log.body_bytes IS 'Bytes of the decoded body';
COMMENT ON COLUMN fetch_log.retry_after_s IS 'Seconds the server asked to wait';
COMMENT ON COLUMN fetch_log.error IS 'What went wrong, in words';
COMMENT ON COLUMN fetch_log.cause IS 'What went wrong, as a word of the taxonomy';
COMMENT ON COLUMN fetch_log.redirect_to IS 'Target of a redirect';
COMMENT ON COLUMN fetch_log.rule IS 'Robots line, scope pattern or trap that decided; of a page: where its markup was cut';

CREATE TABLE IF NOT EXISTS failed_urls (
    url VARCHAR NOT NULL, domain VARCHAR NOT NULL, cause VARCHAR, detail VARCHAR, status INTEGER, attempts INTEGER, depth INTEGER,
    failed_at TIMESTAMPTZ, next_eligible_at TIMESTAMPTZ, last_success_at TIMESTAMPTZ, discovered_at TIMESTAMPTZ
);
ALTER TABLE failed_urls ADD COLUMN IF NOT EXISTS mend VARCHAR;
COMMENT ON TABLE failed_urls IS 'Dead letters: URLs that failed for now, with what a retry pass needs to know';
COMMENT ON COLUMN failed_urls.url IS 'Canonical URL';
COMMENT ON COLUMN failed_urls.domain IS 'host[:port]';
COMMENT ON COLUMN failed_urls.cause IS 'Word of the taxonomy: dns, http_404, wall_captcha …';
COMMENT ON COLUMN failed_urls.detail IS 'The last error in words';
COMMENT ON COLUMN failed_urls.status IS 'Last HTTP status, if any';
COMMENT ON COLUMN failed_urls.attempts IS 'Counted attempts';
COMMENT ON COLUMN failed_urls.depth IS 'Links away from a seed';
COMMENT ON COLUMN failed_urls.failed_at IS 'When it became a dead letter';
COMMENT ON COLUMN failed_urls.next_eligible_at IS 'From when a retry pass may take it';
COMMENT ON COLUMN failed_urls.mend IS 'What would mend it, in words';
COMMENT ON COLUMN failed_urls.last_success_at IS 'When it last gave a page; NULL: never';
COMMENT ON COLUMN failed_urls.discovered_at IS 'When the URL was first met';

CREATE TABLE IF NOT EXISTS excluded_urls (
    url VARCHAR NOT NULL, domain VARCHAR NOT NULL, reason VARCHAR, detail VARCHAR, depth INTEGER, discovered_at TIMESTAMPTZ
);
COMMENT ON TABLE excluded_urls IS 'URLs that are known and not fetched, with the reason';
COMMENT ON COLUMN excluded_urls.url IS 'Canonical URL';
COMMENT ON COLUMN excluded_urls.domain IS 'host[:port]';
COMMENT ON COLUMN excluded_urls.reason IS 'robots, scope, depth, trap, address_refused …';
COMMENT ON COLUMN excluded_urls.detail IS 'The line or pattern that decided';
COMMENT ON COLUMN excluded_urls.depth IS 'Links away from a seed';
COMMENT ON COLUMN excluded_urls.discovered_at IS 'When the URL was first met';

CREATE TABLE IF NOT EXISTS domains (
    domain VARCHAR NOT NULL, site VARCHAR, discovered BIGINT, pending BIGINT, leased BIGINT, done BIGINT, failed BIGINT,
    excluded BIGINT, pages BIGINT, rate DOUBLE, concurrency INTEGER, rate_reason VARCHAR, limit_rate DOUBLE,
    owed_until TIMESTAMPTZ, paused_cause VARCHAR, last_night VARCHAR, last_fetch_at TIMESTAMPTZ, last_run_id VARCHAR,
    loaded_at TIMESTAMPTZ, stale BOOLEAN DEFAULT false, stale_reason VARCHAR, stale_since TIMESTAMPTZ, published_at TIMESTAMPTZ
);
COMMENT ON TABLE domains IS 'One row a domain: its URLs by state, its pace, and whether its published rows are of tonight';
COMMENT ON COLUMN domains.domain IS 'host[:port], the partition key';
COMMENT ON COLUMN domains.site IS 'Name of the site file that covers it; NULL: none does any more';
COMMENT ON COLUMN domains.discovered IS 'URLs ever met: pending + leased + done + failed + excluded';
COMMENT ON COLUMN domains.pending IS 'URLs still to fetch';
COMMENT ON COLUMN domains.leased IS 'URLs being fetched when the row was written';
COMMENT ON COLUMN domains.done IS 'URLs fetched';
COMMENT ON COLUMN domains.failed IS 'Dead letters';
COMMENT ON COLUMN domains.excluded IS 'URLs not to fetch';
COMMENT ON COLUMN domains.pages IS 'Rows of this domain in pages';
COMMENT ON COLUMN domains.rate IS 'Requests a second where the last night ended; NULL: nothing learned yet';
COMMENT ON COLUMN domains.concurrency IS 'Requests at once where the last night ended';
COMMENT ON COLUMN domains.rate_reason IS 'What held the rate back';
COMMENT ON COLUMN domains.limit_rate IS 'The server''s limit as understood, requests a second';
COMMENT ON COLUMN domains.owed_until IS 'No request before this (Retry-After)';
COMMENT ON COLUMN domains.paused_cause IS 'Why the domain is paused until somebody resumes it; empty: it is not';
COMMENT ON COLUMN domains.last_night IS 'Name of its last night';
COMMENT ON COLUMN domains.last_fetch_at IS 'Start of its last request';
COMMENT ON COLUMN domains.last_run_id IS 'Run of that request';
COMMENT ON COLUMN domains.loaded_at IS 'When the row was written';
COMMENT ON COLUMN domains.stale IS 'Published: the rows are of an earlier night, because tonight''s failed the audit';
COMMENT ON COLUMN domains.stale_reason IS 'Published: what failed';
COMMENT ON COLUMN domains.stale_since IS 'Published: since when';
COMMENT ON COLUMN domains.published_at IS 'Published: when its rows last passed';

CREATE TABLE IF NOT EXISTS nights (
    domain VARCHAR NOT NULL, night VARCHAR, started_at TIMESTAMPTZ, ended_at TIMESTAMPTZ, requests BIGINT, throttled BIGINT,
    forbidden BIGINT, walls BIGINT, failures BIGINT, rate_start DOUBLE, rate_end DOUBLE, limit_rate DOUBLE,
    trouble_rate DOUBLE, waited_s DOUBLE, paused_cause VARCHAR
);
COMMENT ON TABLE nights IS 'The pace of each domain in each night, from the ledger';
COMMENT ON COLUMN nights.domain IS 'host[:port]';
COMMENT ON COLUMN nights.night IS 'Name of the night';
COMMENT ON COLUMN nights.started_at IS 'First request';
COMMENT ON COLUMN nights.ended_at IS 'Last request';
COMMENT ON COLUMN nights.requests IS 'Requests sent';
COMMENT ON COLUMN nights.throttled IS '429 and 503 answers';
COMMENT ON COLUMN nights.forbidden IS '403 answers';
COMMENT ON COLUMN nights.walls IS 'Block pages';
COMMENT ON COLUMN nights.failures IS 'Other failures';
COMMENT ON COLUMN nights.rate_start IS 'Requests a second at the start';
COMMENT ON COLUMN nights.rate_end IS 'Requests a second at the end';
COMMENT ON COLUMN nights.limit_rate IS 'The server''s limit as understood';
COMMENT ON COLUMN nights.trouble_rate IS 'Rate at which trouble last began';
COMMENT ON COLUMN nights.waited_s IS 'Seconds waited because the server asked';
COMMENT ON COLUMN nights.paused_cause IS 'Why the domain was paused; empty: it was not';

CREATE TABLE IF NOT EXISTS row_counts (
    domain VARCHAR NOT NULL, table_name VARCHAR NOT NULL, run_id VARCHAR NOT NULL, counted_at TIMESTAMPTZ, row_count BIGINT
);
COMMENT ON TABLE row_counts IS 'Rows of each table after each load, per domain: what drift is measured against';
COMMENT ON COLUMN row_counts.domain IS 'host[:port]';
COMMENT ON COLUMN row_counts.table_name IS 'Table, or item type';
COMMENT ON COLUMN row_counts.run_id IS 'Run after which they were counted; one count a run';
COMMENT ON COLUMN row_counts.counted_at IS 'When';
COMMENT ON COLUMN row_counts.row_count IS 'Rows of the domain';

-- Rows as they were read, before items that stand on several pages are told apart: see views.sql.
CREATE SCHEMA IF NOT EXISTS candidates;
CREATE TABLE IF NOT EXISTS candidates.rejected_items (
    url VARCHAR NOT NULL, domain VARCHAR NOT NULL, item_type VARCHAR, item_index INTEGER, field VARCHAR, reason VARCHAR,
    detail VARCHAR, raw JSON, content_hash VARCHAR, fetched_at TIMESTAMPTZ, run_id VARCHAR, parser_version VARCHAR
);

-- What makes loading idempotent. Nobody but the loader reads it.
CREATE SCHEMA IF NOT EXISTS loading;
CREATE TABLE IF NOT EXISTS loading.parsed (domain VARCHAR NOT NULL, page_key BLOB NOT NULL, signature BLOB NOT NULL, url VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS loading.batches (batch VARCHAR NOT NULL, domain VARCHAR NOT NULL, loaded_at TIMESTAMPTZ);
CREATE TABLE IF NOT EXISTS loading.log_position (frontier VARCHAR NOT NULL, up_to BIGINT NOT NULL);
