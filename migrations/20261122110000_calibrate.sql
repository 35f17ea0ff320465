-- What people say of conversations, for comparing judges with them. A rater's later word replaces the earlier one.
CREATE TABLE human_ratings (
    conversation_id uuid NOT NULL
        CONSTRAINT human_ratings_conversation_fkey REFERENCES conversations (id) ON DELETE CASCADE,
    -- empty if the file named nobody
    rater text NOT NULL,
    -- criterion -> 0 to 10
    scores jsonb NOT NULL,
    goal_achieved boolean,
    created_at timestamptz NOT NULL,
    CONSTRAINT human_ratings_pkey PRIMARY KEY (conversation_id, rater)
);

-- How far judges agree with people. The corrections that follow from it stand beside the raw scores.
CREATE TABLE calibrations (
    id uuid CONSTRAINT calibrations_pkey PRIMARY KEY,
    judge text NOT NULL,
    -- versions of the judge that were compared; others are not corrected by it
    judge_versions text[] NOT NULL,
    -- who judged, as in judgings
    models jsonb NOT NULL,
    report json NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX calibrations_judge_idx ON calibrations (judge, created_at DESC);
