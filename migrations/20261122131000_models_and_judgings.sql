-- Models that administrators add, beside those of models.yaml. A spec names the variable of a key, never the key.
CREATE TABLE models (
    name text CONSTRAINT models_pkey PRIMARY KEY,
    spec jsonb NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Whether somebody still judges. The run's own judging is as far as the run is.
ALTER TABLE judgings
    ADD COLUMN state text NOT NULL DEFAULT 'finished'
        CONSTRAINT judgings_state_known CHECK (state IN ('running', 'finished', 'cancelled', 'failed')),
    -- why it failed
    ADD COLUMN reason text,
    -- who asked for it, by name; empty: a command
    ADD COLUMN created_by text NOT NULL DEFAULT '',
    -- whether judges are asked for each criterion by itself
    ADD COLUMN criteria_apart boolean NOT NULL DEFAULT false,
    -- what its panel may name: pools as the run keeps them
    ADD COLUMN pools jsonb NOT NULL DEFAULT '[]';
CREATE INDEX judgings_running_idx ON judgings (created_at) WHERE state = 'running';
