-- What validating a project found, each time: how scenarios got better, and which models said what of them.
CREATE TABLE validations (
    id uuid CONSTRAINT validations_pkey PRIMARY KEY,
    library text NOT NULL CONSTRAINT validations_library_fkey REFERENCES libraries (hash),
    -- thresholds, models that were asked, share of yes that a question needs
    options jsonb NOT NULL,
    -- grade, rule, place and message of each
    findings json NOT NULL,
    -- what the models answered, scenario by scenario
    reviews json NOT NULL,
    critical integer NOT NULL CONSTRAINT validations_critical_not_negative CHECK (critical >= 0),
    errors integer NOT NULL CONSTRAINT validations_errors_not_negative CHECK (errors >= 0),
    warnings integer NOT NULL CONSTRAINT validations_warnings_not_negative CHECK (warnings >= 0),
    infos integer NOT NULL CONSTRAINT validations_infos_not_negative CHECK (infos >= 0),
    -- only what has nothing critical and no error is promoted
    sound boolean NOT NULL CONSTRAINT validations_sound_means CHECK (sound = (critical = 0 AND errors = 0)),
    created_at timestamptz NOT NULL
);

-- Newest first: "how are these documents now" is what people ask for.
CREATE INDEX validations_library_idx ON validations (library, created_at DESC, id DESC);

CREATE TRIGGER validations_append_only BEFORE UPDATE ON validations
    FOR EACH ROW EXECUTE FUNCTION refuse_update();
