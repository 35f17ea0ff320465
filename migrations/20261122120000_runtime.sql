-- Processes that play. The number grows with each one and is its fencing token: what a player commits counts only while
-- its row is there. Whoever finds that a heartbeat is overdue deletes the row, and the player's claims are free again.
CREATE TABLE players (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT players_pkey PRIMARY KEY,
    -- where it runs, for people
    host text NOT NULL,
    pid integer NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    -- by the database's clock, so that the clocks of machines need not agree
    heartbeat_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE runs
    -- what people asked for; whether a run has ended says finished_at
    ADD COLUMN state text NOT NULL DEFAULT 'running'
        CONSTRAINT runs_state_known CHECK (state IN ('running', 'paused', 'cancelled')),
    -- why it was paused, if not by a person: a budget that is used up
    ADD COLUMN paused_because text,
    -- a run of higher priority is played before those of lower
    ADD COLUMN priority integer NOT NULL DEFAULT 0,
    -- conversations at once, all players together
    ADD COLUMN max_in_flight integer CONSTRAINT runs_max_in_flight_positive CHECK (max_in_flight > 0),
    -- caps at which it pauses
    ADD COLUMN budget jsonb NOT NULL DEFAULT '{}',
    -- positions from here on were never claimed, and their conversations have no rows yet
    ADD COLUMN next_position integer NOT NULL DEFAULT 0,
    ADD COLUMN started_at timestamptz,
    ADD COLUMN finished_at timestamptz;
-- Earlier versions wrote a row for each conversation when they made the run.
UPDATE runs SET next_position = planned;
UPDATE runs SET finished_at = (SELECT max(c.finished_at) FROM conversations c WHERE run_id = runs.id)
WHERE NOT EXISTS (SELECT FROM conversations c WHERE run_id = runs.id AND outcome IS NULL);
ALTER TABLE runs ADD CONSTRAINT runs_next_position_within CHECK (next_position BETWEEN 0 AND planned);
-- What a player looks at for work.
CREATE INDEX runs_playable_idx ON runs (priority DESC, created_at) WHERE state = 'running' AND finished_at IS NULL;

-- Positions of a run that are being played, or that wait because their player is gone (NULL).
CREATE TABLE claims (
    run_id uuid NOT NULL CONSTRAINT claims_run_fkey REFERENCES runs (id) ON DELETE CASCADE,
    first_position integer NOT NULL,
    last_position integer NOT NULL,
    player bigint CONSTRAINT claims_player_fkey REFERENCES players (id) ON DELETE SET NULL,
    CONSTRAINT claims_pkey PRIMARY KEY (run_id, first_position),
    CONSTRAINT claims_not_empty CHECK (last_position >= first_position)
);
CREATE INDEX claims_player_idx ON claims (player);
INSERT INTO claims (run_id, first_position, last_position)
SELECT run_id, position, position FROM conversations WHERE outcome IS NULL;

-- How many conversations ended how, counted in the transaction that ends them. Each writer counts in rows of its own, so
-- that nobody waits for anybody; the sum is exact.
CREATE TABLE tallies (
    run_id uuid NOT NULL CONSTRAINT tallies_run_fkey REFERENCES runs (id) ON DELETE CASCADE,
    player bigint NOT NULL,
    -- one of the player's connections
    writer smallint NOT NULL,
    -- accepted, or who is to blame
    outcome text NOT NULL,
    -- whether another attempt has taken their place
    superseded boolean NOT NULL,
    conversations bigint NOT NULL,
    CONSTRAINT tallies_pkey PRIMARY KEY (run_id, player, writer, outcome, superseded)
) WITH (fillfactor = 50);
INSERT INTO tallies (run_id, player, writer, outcome, superseded, conversations)
SELECT run_id, 0, 0, coalesce(blame, outcome), superseded, count(*) FROM conversations
WHERE outcome IS NOT NULL GROUP BY 1, 4, 5;

-- What models were asked and what that cost, counted in the same way. Not known of runs from before.
CREATE TABLE usage (
    run_id uuid NOT NULL CONSTRAINT usage_run_fkey REFERENCES runs (id) ON DELETE CASCADE,
    player bigint NOT NULL,
    writer smallint NOT NULL,
    role text NOT NULL,
    model text NOT NULL,
    -- replies that were used, and requests beyond the first that they took
    calls bigint NOT NULL,
    retries bigint NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    -- in billionths of the unit of the prices
    cost bigint NOT NULL,
    CONSTRAINT usage_pkey PRIMARY KEY (run_id, player, writer, role, model)
) WITH (fillfactor = 50);

-- The tables that every conversation writes to pay for each index and each foreign key. What these two constraints
-- forbid, conversations_position_unique and the primary keys forbid too; and the ledger test looks for orphans.
ALTER TABLE conversations DROP CONSTRAINT conversations_attempt_unique;
ALTER TABLE events DROP CONSTRAINT events_conversation_fkey;
ALTER TABLE verdicts DROP CONSTRAINT verdicts_conversation_fkey;
CREATE FUNCTION delete_with_conversation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM events WHERE conversation_id IN (SELECT id FROM gone);
    DELETE FROM verdicts WHERE conversation_id IN (SELECT id FROM gone);
    RETURN NULL;
END
$$;
CREATE TRIGGER conversations_deleted AFTER DELETE ON conversations
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_with_conversation();
-- Finishing a conversation then changes no index and finds room on its page.
ALTER TABLE conversations SET (fillfactor = 80);
