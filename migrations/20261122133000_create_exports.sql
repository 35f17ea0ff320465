-- Files that were made of a run or a corpus. Once ready, an export never changes.
CREATE TABLE exports (
    id uuid CONSTRAINT exports_pkey PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT exports_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    -- source, profile, toggles, rule of pairs: all that decides which bytes the file holds
    spec json NOT NULL,
    -- what it is made of, as in the spec; neither goes while the export is there
    run_id uuid CONSTRAINT exports_run_fkey REFERENCES runs (id),
    corpus_id uuid CONSTRAINT exports_corpus_fkey REFERENCES corpora (id),
    state text NOT NULL CONSTRAINT exports_state_known CHECK (state IN ('building', 'ready', 'failed', 'cancelled')),
    -- why it failed
    reason text,
    -- conversations that were looked at, of those that there are
    done bigint NOT NULL DEFAULT 0,
    total bigint NOT NULL CONSTRAINT exports_total_not_negative CHECK (total >= 0),
    -- who builds it writes here now and then; whoever finds it overdue builds it anew
    heartbeat_at timestamptz,
    -- what it is called when it is downloaded
    file_name text NOT NULL CONSTRAINT exports_file_name_plain CHECK (file_name ~ '^[a-z0-9][a-z0-9.-]{0,127}$'),
    bytes bigint,
    -- SHA-256 of the file, in hex
    hash text CONSTRAINT exports_hash_form CHECK (hash ~ '^[0-9a-f]{64}$'),
    rows bigint,
    -- data files, what was left out and why, what the rows are like
    report json,
    -- who asked for it, by name
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    CONSTRAINT exports_one_source CHECK ((run_id IS NULL) <> (corpus_id IS NULL)),
    CONSTRAINT exports_finished CHECK ((state = 'building') = (finished_at IS NULL)),
    CONSTRAINT exports_ready_whole CHECK (
        state <> 'ready' OR (bytes IS NOT NULL AND hash IS NOT NULL AND rows IS NOT NULL AND report IS NOT NULL)
    )
);
CREATE INDEX exports_project_idx ON exports (project_id, created_at DESC, id DESC);
CREATE INDEX exports_building_idx ON exports (created_at) WHERE state = 'building';
CREATE INDEX exports_run_idx ON exports (run_id);
CREATE INDEX exports_corpus_idx ON exports (corpus_id);

CREATE FUNCTION refuse_change_of_finished_export() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> 'building' THEN
        RAISE EXCEPTION 'export % has ended and does not change', OLD.id;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER exports_immutable BEFORE UPDATE ON exports
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_finished_export();
