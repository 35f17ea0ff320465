-- The documents a run was started with. Content-addressed: runs over the same files share one row, and a run can be
-- continued and explained when the files on disk have long changed.
CREATE TABLE libraries (
    hash text CONSTRAINT libraries_pkey PRIMARY KEY,
    -- path -> text
    files jsonb NOT NULL,
    created_at timestamptz NOT NULL
);

-- A batch of conversations with everything that decides how they are played.
CREATE TABLE runs (
    id uuid CONSTRAINT runs_pkey PRIMARY KEY,
    library text NOT NULL CONSTRAINT runs_library_fkey REFERENCES libraries (hash),
    playbook text NOT NULL,
    seed bigint NOT NULL,
    -- models and temperatures by role, style of the agent, where rows are written
    config jsonb NOT NULL,
    planned integer NOT NULL CONSTRAINT runs_planned_positive CHECK (planned > 0),
    created_at timestamptz NOT NULL
);

-- Newest first: "the last run" is what people ask for.
CREATE INDEX runs_created_at_idx ON runs (created_at DESC, id DESC);

-- One play of one scenario. Planned in the run's transaction, finished once.
CREATE TABLE conversations (
    id uuid CONSTRAINT conversations_pkey PRIMARY KEY,
    run_id uuid NOT NULL CONSTRAINT conversations_run_fkey REFERENCES runs (id) ON DELETE CASCADE,
    -- place in the run, from 0: exports and pages are in this order
    position integer NOT NULL,
    scenario text NOT NULL,
    -- how often the run has played this scenario before
    repeat integer NOT NULL,
    persona text NOT NULL,
    complexity text NOT NULL,
    outcome text CONSTRAINT conversations_outcome_known CHECK (outcome IN ('accepted', 'failed')),
    blame text CONSTRAINT conversations_blame_known
        CHECK (blame IN ('agent', 'simulated_user', 'tool_simulator', 'judge', 'infrastructure')),
    reason text,
    finished_at timestamptz,
    CONSTRAINT conversations_position_unique UNIQUE (run_id, position),
    -- a conversation is unfinished, accepted, or failed with a culprit; nothing in between
    CONSTRAINT conversations_outcome_whole CHECK (
        (outcome IS NULL AND blame IS NULL AND finished_at IS NULL)
        OR (outcome = 'accepted' AND blame IS NULL AND finished_at IS NOT NULL)
        OR (outcome = 'failed' AND blame IS NOT NULL AND finished_at IS NOT NULL)
    )
);

-- What happened, step by step. Everything else about a conversation can be derived from here.
CREATE TABLE events (
    conversation_id uuid NOT NULL
        CONSTRAINT events_conversation_fkey REFERENCES conversations (id) ON DELETE CASCADE,
    seq integer NOT NULL CONSTRAINT events_seq_not_negative CHECK (seq >= 0),
    event jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT events_pkey PRIMARY KEY (conversation_id, seq)
);

CREATE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are only appended', TG_TABLE_NAME;
END
$$;

CREATE TRIGGER events_append_only BEFORE UPDATE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse_update();

-- What judges said. Several a conversation: judging can be redone without replaying.
CREATE TABLE verdicts (
    conversation_id uuid NOT NULL
        CONSTRAINT verdicts_conversation_fkey REFERENCES conversations (id) ON DELETE CASCADE,
    judge text NOT NULL,
    -- version of the judge's folder
    judge_version text NOT NULL,
    -- who played the judge
    model text NOT NULL,
    overall smallint NOT NULL CONSTRAINT verdicts_overall_range CHECK (overall BETWEEN 0 AND 10),
    goal_achieved boolean NOT NULL,
    -- scores, rationales and the weighted mean
    verdict jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT verdicts_pkey PRIMARY KEY (conversation_id, judge, judge_version, model)
);
