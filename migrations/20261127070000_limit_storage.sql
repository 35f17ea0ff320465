-- What projects may take of the disk, and what they take, so that it is known without reading events.

-- Null: the limits of this version of the program (`domain::storage`). Within it, null means no limit.
ALTER TABLE projects ADD COLUMN storage_limits jsonb
    CONSTRAINT projects_storage_limits_object CHECK (jsonb_typeof(storage_limits) = 'object');

-- Players add to it what they have written, about once a second. It is apart from `runs`, whose rows are wide and are locked
-- by claims.
CREATE TABLE run_storage (
    run_id uuid CONSTRAINT run_storage_pkey PRIMARY KEY CONSTRAINT run_storage_run_fkey REFERENCES runs (id) ON DELETE CASCADE,
    -- that of the run, which never changes
    project_id uuid NOT NULL CONSTRAINT run_storage_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    bytes bigint NOT NULL CONSTRAINT run_storage_bytes_not_negative CHECK (bytes >= 0)
);
CREATE INDEX run_storage_project_idx ON run_storage (project_id);

-- What was played before is read once; 90 bytes are what PostgreSQL takes for an event beside its text
-- (`store::journal::encoded_events::EVENT_ROW`).
INSERT INTO run_storage (run_id, project_id, bytes)
SELECT runs.id, project_id, sum(pg_column_size(event) + 90)
FROM runs JOIN tasks ON run_id = runs.id JOIN events ON task_id = tasks.id GROUP BY runs.id;

ALTER TABLE document_versions ADD COLUMN bytes bigint NOT NULL
    GENERATED ALWAYS AS (coalesce(octet_length(files::text), 0)) STORED;
-- Holds all that a sum needs.
CREATE INDEX document_versions_bytes_idx ON document_versions (project_id) INCLUDE (bytes);
