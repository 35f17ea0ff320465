-- Selections of conversations that can be exported. Once made, a corpus does not change.
CREATE TABLE corpora (
    id uuid CONSTRAINT corpora_pkey PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT corpora_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    name text NOT NULL,
    -- how it was selected: filter, duplicates, balance, scans, split
    spec jsonb NOT NULL,
    state text NOT NULL CONSTRAINT corpora_state_known CHECK (state IN ('building', 'ready', 'failed', 'cancelled')),
    -- why it failed
    reason text,
    -- how many conversations are left after each step, the split, the proof that nothing leaks
    report json,
    -- SHA-256 of the manifest
    manifest_hash text,
    -- who asked for it, by name
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    CONSTRAINT corpora_name_unique UNIQUE (project_id, name)
);

-- The manifest: each conversation that the filter found, and what became of it.
CREATE TABLE corpus_rows (
    corpus_id uuid NOT NULL CONSTRAINT corpus_rows_corpus_fkey REFERENCES corpora (id) ON DELETE CASCADE,
    -- place in the manifest, from 0
    ordinal integer NOT NULL,
    run_id uuid NOT NULL CONSTRAINT corpus_rows_run_fkey REFERENCES runs (id),
    conversation_id uuid NOT NULL,
    -- null if it was dropped
    split text CONSTRAINT corpus_rows_split_known CHECK (split IN ('train', 'golden')),
    -- the step that dropped it, and why
    dropped_by text,
    reason text,
    CONSTRAINT corpus_rows_pkey PRIMARY KEY (corpus_id, ordinal),
    CONSTRAINT corpus_rows_kept_or_dropped CHECK ((split IS NULL) = (dropped_by IS NOT NULL))
);
CREATE INDEX corpus_rows_run_idx ON corpus_rows (run_id);
