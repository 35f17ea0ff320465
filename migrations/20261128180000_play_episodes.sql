-- Episodes are conversations whose agent is outside: a trainer, or somebody's own program. They wait for it, for as long as it
-- takes, without a player: the answer to a request makes a claim, and whoever has room plays on.
ALTER TABLE requests
    -- from then on nobody waits for the answer; null: it is waited for as long as it takes
    ADD COLUMN expires_at timestamptz,
    -- whether the task leaves its player while it waits
    ADD COLUMN parks boolean NOT NULL DEFAULT false;
CREATE INDEX requests_expiry_idx ON requests (expires_at) WHERE answer IS NULL;

-- A run of episodes begins with none: each is added when somebody asks for it.
ALTER TABLE runs
    DROP CONSTRAINT runs_planned_positive,
    ADD CONSTRAINT runs_planned_positive CHECK (planned > 0 OR kind = 'episodes' AND planned = 0);

-- What trainers ask for by name: from which scenarios episodes are played, and who plays the other roles.
CREATE TABLE environments (
    project_id uuid NOT NULL CONSTRAINT environments_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    name text NOT NULL,
    spec jsonb NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    CONSTRAINT environments_pkey PRIMARY KEY (project_id, name)
);
