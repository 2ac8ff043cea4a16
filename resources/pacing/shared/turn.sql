-- One worker's turn on one domain, as in `lua/turn.lua`, number by number: what it saw goes in; permits, slots and the
-- pace in force come out. All instants are this server's: clocks of workers do not matter.
--
-- The row of `pace_state` is the lock of its domain, held for the statement only; callers ask for many domains in the
-- order of their names, so they never wait in a circle.

CREATE TABLE IF NOT EXISTS pace_state (
    domain     text PRIMARY KEY,
    leader     text,
    lead_until double precision NOT NULL DEFAULT 0,
    rate       text,                          -- as told, 'inf' included
    cap        integer,
    gate       double precision NOT NULL DEFAULT 0,
    owed       double precision NOT NULL DEFAULT 0,
    told       text,                          -- the leader's whole state, for its successor
    tat        double precision,              -- theoretical arrival time of the next slot
    quiet      double precision NOT NULL DEFAULT 0, -- until then nothing new is given: see 0.
    lost       double precision NOT NULL DEFAULT 0  -- slots that were given and not used, to be made up for
) WITH (fillfactor = 50);
ALTER TABLE pace_state ADD COLUMN IF NOT EXISTS lost double precision NOT NULL DEFAULT 0; -- of an earlier version
CREATE TABLE IF NOT EXISTS pace_permit (
    domain text NOT NULL,
    worker text NOT NULL,
    held   integer NOT NULL,                  -- permits
    ends   double precision NOT NULL,         -- when they lapse
    since  double precision,                  -- holds permits without a break
    asked  double precision,                  -- waits for one
    PRIMARY KEY (domain, worker)
) WITH (fillfactor = 50);
-- Observations for the leader, and slots that were given back.
CREATE TABLE IF NOT EXISTS pace_seen (
    domain text NOT NULL, n bigint GENERATED ALWAYS AS IDENTITY, seen text NOT NULL, PRIMARY KEY (domain, n)
);
CREATE TABLE IF NOT EXISTS pace_slot (domain text NOT NULL, at double precision NOT NULL);
CREATE INDEX IF NOT EXISTS pace_slot_domain ON pace_slot (domain, at);

-- `ask`: domain, hold (permits it holds to), want (URLs it could request now), slots, burst, owed (seconds everybody
-- must wait), told ([rate, cap, gate, state] of a leader with news), back (slots given back), seen, cut (true in the
-- first turn after a connection broke), lost (slots that were too late to be used).
-- The answer is that of `lua/turn.lua`: now, leading (0 no, 1 yes, 2 just now), permits more, permits to hold at most,
-- holders, rate, cap, gate, told, seconds after which to ask again, number of slots, slots, observations.
CREATE OR REPLACE FUNCTION pace_turn(me text, ask jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    lead_s CONSTANT double precision := 3;
    permit_s CONSTANT double precision := 20;
    slice_s CONSTANT double precision := 4;
    ahead_s CONSTANT double precision := 1;
    again_s CONSTANT double precision := 0.2;
    soon_s CONSTANT double precision := 0.03;
    catch_up CONSTANT double precision := 0.01;
    sooner double precision;
    passed integer;
    of_domain CONSTANT text := ask->>'domain';
    hold CONSTANT integer := (ask->>'hold')::integer;
    want CONSTANT integer := (ask->>'want')::integer;
    slots_asked CONSTANT integer := (ask->>'slots')::integer;
    state pace_state%ROWTYPE;
    mine pace_permit%ROWTYPE;
    now double precision;
    leads integer := 0;
    open_at double precision;
    others integer;
    holders integer;
    queue integer;
    most integer;
    wanted integer;
    fair integer;
    target integer := hold;
    extra integer := 0;
    again double precision := again_s;
    waits_since double precision;
    free integer;
    before_me integer;
    interval_s double precision;
    arrival double precision;
    slot double precision;
    slots double precision[] := '{}';
    booked integer;
    heard jsonb := '[]';
BEGIN
    INSERT INTO pace_state (domain) VALUES (of_domain) ON CONFLICT DO NOTHING;
    SELECT * INTO state FROM pace_state WHERE domain = of_domain FOR UPDATE;
    now := extract(epoch FROM clock_timestamp());

    -- 0. Where a connection broke the server may have crashed, and what it gave in its last moments be forgotten:
    -- slots of the next second, and permits, which those who hold them say within that time.
    IF ask->'cut' = 'true' THEN
        state.quiet := now + ahead_s;
        state.tat := greatest(state.tat, state.quiet);
    END IF;

    -- 1. The leader: whoever asks first, until it is not heard of for a while.
    IF state.leader = me THEN
        leads := 1;
    ELSIF state.leader IS NULL OR state.lead_until < now THEN
        leads := 2;
    END IF;
    IF leads > 0 THEN
        state.leader := me;
        state.lead_until := now + lead_s;
    END IF;
    IF leads = 1 AND ask->'told' <> 'null' THEN
        state.rate := ask->'told'->>0;
        state.cap := (ask->'told'->>1)::integer;
        state.gate := (ask->'told'->>2)::double precision;
        state.told := ask->'told'->>3;
    END IF;
    IF ask->>'owed' IS NOT NULL THEN
        state.owed := greatest(state.owed, now + (ask->>'owed')::double precision);
    END IF;
    open_at := greatest(state.gate, state.owed);

    -- 2. Permits: what all workers hold together is never more than the cap.
    DELETE FROM pace_permit WHERE domain = of_domain AND ends <= now;
    SELECT * INTO mine FROM pace_permit WHERE domain = of_domain AND worker = me;
    SELECT coalesce(sum(held), 0), count(*) FILTER (WHERE held > 0), count(*) FILTER (WHERE asked IS NOT NULL)
        INTO others, holders, queue FROM pace_permit WHERE domain = of_domain AND worker <> me;
    most := coalesce(state.cap, 1);
    wanted := least(most, want);
    waits_since := NULL;
    IF want > 0 OR hold > 0 THEN
        fair := greatest(1, most / (holders + queue + 1));
        IF want <= 0 THEN
            target := 0;
        ELSIF queue > 0 THEN
            -- Somebody waits: no more than a fair share, and of a single permit only for a while.
            target := least(wanted, fair);
            IF hold > 0 AND most < holders + queue + 1 THEN
                IF now - coalesce(mine.since, now) >= slice_s THEN target := 0; END IF;
                again := greatest(soon_s, least(again_s, coalesce(mine.since, now) + slice_s - now));
            END IF;
        ELSE
            target := wanted;
        END IF;
        free := most - others - hold;
        IF target > hold AND free > 0 THEN
            before_me := queue;
            IF hold = 0 THEN
                SELECT count(*) INTO before_me FROM pace_permit
                WHERE domain = of_domain AND worker <> me AND asked < coalesce(mine.asked, now);
            END IF;
            extra := greatest(0, least(target - hold, free - before_me));
        END IF;
        IF now < state.quiet THEN
            extra := 0;
            target := least(target, hold);
        END IF;
        IF hold + extra = 0 AND want > 0 THEN
            -- Ask again when the first of the holders has had its time.
            SELECT greatest(soon_s, least(again, min(since) + slice_s - now)) INTO again
            FROM pace_permit WHERE domain = of_domain AND since IS NOT NULL;
            again := coalesce(again, again_s);
            waits_since := coalesce(mine.asked, now);
        END IF;
    END IF;
    IF hold + extra > 0 THEN holders := holders + 1; END IF;
    IF hold + extra > 0 OR want > 0 THEN
        INSERT INTO pace_permit VALUES (
            of_domain, me, hold + extra, now + permit_s,
            CASE WHEN hold + extra > 0 THEN coalesce(mine.since, now) END, waits_since
        )
        ON CONFLICT (domain, worker) DO UPDATE SET
            held = excluded.held, ends = excluded.ends, since = excluded.since, asked = excluded.asked;
    ELSE
        DELETE FROM pace_permit WHERE domain = of_domain AND worker = me;
    END IF;

    -- 3. Slots: those given back that are still to come (others are lost, but for a wait), then new ones by the generic cell rate algorithm of
    -- `pacing.slots`, one for all workers.
    IF ask->'back' <> '[]' THEN
        INSERT INTO pace_slot SELECT of_domain, b::double precision FROM jsonb_array_elements_text(ask->'back') AS b;
    END IF;
    DELETE FROM pace_slot WHERE domain = of_domain AND at < greatest(now, open_at, state.quiet);
    GET DIAGNOSTICS passed = ROW_COUNT;
    IF open_at > now OR state.quiet > now THEN passed := 0; END IF;
    -- Lost slots are made up for by gaps that much shorter, as in `lua/turn.lua`.
    IF state.rate::double precision > 0 THEN
        state.lost := least(state.lost + coalesce((ask->>'lost')::integer, 0) + passed, state.rate::double precision);
    END IF;
    IF state.rate::double precision > 0 AND hold + extra > 0 AND open_at < 'infinity' AND slots_asked > 0 THEN
        WITH first AS (
            SELECT ctid FROM pace_slot WHERE domain = of_domain ORDER BY at LIMIT slots_asked
        ), popped AS (DELETE FROM pace_slot WHERE ctid IN (SELECT ctid FROM first) RETURNING at)
        SELECT coalesce(array_agg(at ORDER BY at), '{}') INTO slots FROM popped;
        booked := cardinality(slots);
        interval_s := 1 / state.rate::double precision;
        arrival := coalesce(state.tat, now);
        WHILE cardinality(slots) < slots_asked LOOP
            slot := greatest(arrival - ((ask->>'burst')::integer - 1) * interval_s, now, open_at);
            EXIT WHEN cardinality(slots) > 0 AND slot > now + ahead_s;
            sooner := least(state.lost, catch_up);
            state.lost := state.lost - sooner;
            arrival := greatest(arrival, slot) + interval_s * (1 - sooner);
            slots := slots || slot;
        END LOOP;
        IF cardinality(slots) > booked THEN state.tat := arrival; END IF;
    END IF;

    -- 4. What was seen.
    IF leads = 0 THEN
        INSERT INTO pace_seen (domain, seen)
        SELECT of_domain, s FROM jsonb_array_elements_text(ask->'seen') WITH ORDINALITY AS a (s, n) ORDER BY n;
    ELSE
        WITH gone AS (DELETE FROM pace_seen WHERE domain = of_domain RETURNING n, seen)
        SELECT coalesce(jsonb_agg(seen ORDER BY n), '[]') INTO heard FROM gone;
    END IF;
    UPDATE pace_state SET (leader, lead_until, rate, cap, gate, owed, told, tat, quiet, lost) = (
        state.leader, state.lead_until, state.rate, state.cap, state.gate, state.owed, state.told, state.tat,
        state.quiet, state.lost
    ) WHERE domain = of_domain;
    RETURN jsonb_build_array(
        now, leads, extra, target, holders, state.rate, state.cap, least(open_at, 1e12),
        CASE WHEN leads = 2 THEN coalesce(state.told, '') ELSE '' END, again, cardinality(slots)
    ) || to_jsonb(slots) || heard;
END
$$;
