-- A conversation that somebody else than the agent spoiled is played again. The spoiled attempt is kept and counted
-- apart; of each position one attempt counts.
ALTER TABLE conversations
    ADD COLUMN attempt integer NOT NULL DEFAULT 1 CONSTRAINT conversations_attempt_positive CHECK (attempt > 0),
    ADD COLUMN superseded boolean NOT NULL DEFAULT false,
    -- how it came to its end, and how often the user spoke; not known of those from before
    ADD COLUMN ending text,
    ADD COLUMN user_turns integer,
    DROP CONSTRAINT conversations_position_unique,
    ADD CONSTRAINT conversations_attempt_unique UNIQUE (run_id, position, attempt);
CREATE UNIQUE INDEX conversations_position_unique ON conversations (run_id, position) WHERE NOT superseded;

-- One way in which the conversations of a run were judged: as they were played, or again later.
CREATE TABLE judgings (
    id uuid CONSTRAINT judgings_pkey PRIMARY KEY,
    run_id uuid NOT NULL CONSTRAINT judgings_run_fkey REFERENCES runs (id) ON DELETE CASCADE,
    -- documents that hold the judges
    library text NOT NULL CONSTRAINT judgings_library_fkey REFERENCES libraries (hash),
    -- who judged; more than one are a panel
    models jsonb NOT NULL,
    -- the run's own, made while it was played
    original boolean NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX judgings_original_unique ON judgings (run_id) WHERE original;
CREATE INDEX judgings_run_idx ON judgings (run_id, created_at);

INSERT INTO judgings (id, run_id, library, models, original, created_at)
SELECT gen_random_uuid(), id, library, jsonb_build_array(config -> 'models' -> 'judge'), true, created_at FROM runs;

-- A verdict belongs to a judging and says what follows from it. A judge that failed has no verdict, and the blame.
ALTER TABLE verdicts
    ADD COLUMN judging_id uuid CONSTRAINT verdicts_judging_fkey REFERENCES judgings (id) ON DELETE CASCADE,
    -- what the verifier found when it was judged again; else it stands in the events
    ADD COLUMN verification jsonb,
    ADD COLUMN outcome text,
    ADD COLUMN blame text,
    ADD COLUMN reason text;
UPDATE verdicts SET judging_id = judgings.id, outcome = conversations.outcome, blame = conversations.blame,
    reason = conversations.reason
FROM conversations JOIN judgings ON judgings.run_id = conversations.run_id
WHERE conversations.id = conversation_id;
-- A conversation that was cut off after its verdict gives it again when it is continued.
DELETE FROM verdicts WHERE outcome IS NULL;
ALTER TABLE verdicts
    DROP CONSTRAINT verdicts_pkey,
    DROP COLUMN model,
    ALTER COLUMN judging_id SET NOT NULL,
    ALTER COLUMN outcome SET NOT NULL,
    ALTER COLUMN overall DROP NOT NULL,
    ALTER COLUMN goal_achieved DROP NOT NULL,
    ALTER COLUMN verdict DROP NOT NULL,
    ADD CONSTRAINT verdicts_pkey PRIMARY KEY (conversation_id, judging_id),
    ADD CONSTRAINT verdicts_outcome_known CHECK (outcome IN ('accepted', 'failed')),
    ADD CONSTRAINT verdicts_blame_known
        CHECK (blame IN ('agent', 'simulated_user', 'tool_simulator', 'judge', 'infrastructure')),
    ADD CONSTRAINT verdicts_outcome_whole CHECK ((outcome = 'failed') = (blame IS NOT NULL)),
    ADD CONSTRAINT verdicts_whole CHECK (
        (verdict IS NULL) = (overall IS NULL) AND (verdict IS NULL) = (goal_achieved IS NULL)
        AND (verdict IS NOT NULL OR outcome = 'failed')
    );
CREATE INDEX verdicts_judging_idx ON verdicts (judging_id);
