-- Datasets: rows that runs begin with, and search indexes over them. The rows are in object storage; here is what they are.

-- A version of a dataset. Once ready, it never changes.
CREATE TABLE datasets (
    id uuid CONSTRAINT datasets_pkey PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT datasets_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    name text NOT NULL CONSTRAINT datasets_name_plain CHECK (name ~ '^[a-z0-9][a-z0-9_.-]{0,63}$'),
    version integer NOT NULL CONSTRAINT datasets_version_positive CHECK (version > 0),
    -- what it is made of
    source json NOT NULL,
    rows bigint CONSTRAINT datasets_rows_positive CHECK (rows > 0),
    -- of its files
    bytes bigint CONSTRAINT datasets_bytes_positive CHECK (bytes > 0),
    -- SHA-256 of its rows as JSON lines, in hex
    hash text CONSTRAINT datasets_hash_form CHECK (hash ~ '^[0-9a-f]{64}$'),
    -- names, types and statistics
    columns json,
    -- its files in object storage, each with the rows of its row groups
    parts json,
    -- who asked for it, by name; empty: a command
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT datasets_version_unique UNIQUE (project_id, name, version),
    CONSTRAINT datasets_whole CHECK (num_nonnulls(rows, bytes, hash, columns, parts) IN (0, 5))
);
CREATE INDEX datasets_project_idx ON datasets (project_id, created_at DESC, id DESC);

CREATE FUNCTION refuse_change_of_finished_dataset() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.hash IS NOT NULL OR NOT EXISTS (
        SELECT FROM jobs WHERE kind = 'dataset' AND subject = OLD.id AND finished_at IS NULL
    ) THEN
        RAISE EXCEPTION 'dataset % has ended and does not change', OLD.id;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER datasets_immutable BEFORE UPDATE ON datasets
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_finished_dataset();

-- A file that is being uploaded, in pieces that are objects of their own. It goes when a dataset was made of it.
CREATE TABLE dataset_uploads (
    id uuid CONSTRAINT dataset_uploads_pkey PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT dataset_uploads_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    file_name text NOT NULL,
    -- how many bytes it will have
    bytes bigint NOT NULL CONSTRAINT dataset_uploads_bytes_positive CHECK (bytes > 0),
    -- how many have come: the next piece begins there
    received bigint NOT NULL DEFAULT 0 CONSTRAINT dataset_uploads_received_within CHECK (received BETWEEN 0 AND bytes),
    created_by text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX dataset_uploads_project_idx ON dataset_uploads (project_id, created_at DESC, id DESC);

CREATE TABLE dataset_upload_pieces (
    upload_id uuid NOT NULL CONSTRAINT dataset_upload_pieces_upload_fkey REFERENCES dataset_uploads (id) ON DELETE CASCADE,
    -- where in the file it begins
    start bigint NOT NULL,
    bytes bigint NOT NULL CONSTRAINT dataset_upload_pieces_bytes_positive CHECK (bytes > 0),
    object text NOT NULL,
    CONSTRAINT dataset_upload_pieces_pkey PRIMARY KEY (upload_id, start)
);

-- A search index over a dataset. Once ready, it never changes.
CREATE TABLE indexes (
    id uuid CONSTRAINT indexes_pkey PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT indexes_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    name text NOT NULL CONSTRAINT indexes_name_plain CHECK (name ~ '^[a-z0-9][a-z0-9_.-]{0,63}$'),
    -- a dataset is there as long as it has indexes
    dataset_id uuid NOT NULL CONSTRAINT indexes_dataset_fkey REFERENCES datasets (id),
    -- which columns are its id, title, text and url
    columns json NOT NULL,
    documents bigint CONSTRAINT indexes_documents_not_negative CHECK (documents >= 0),
    bytes bigint CONSTRAINT indexes_bytes_positive CHECK (bytes > 0),
    -- its files in object storage
    files json,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT indexes_name_unique UNIQUE (project_id, name),
    CONSTRAINT indexes_whole CHECK (num_nonnulls(documents, bytes, files) IN (0, 3))
);
CREATE INDEX indexes_project_idx ON indexes (project_id, created_at DESC, id DESC);
CREATE INDEX indexes_dataset_idx ON indexes (dataset_id);

CREATE FUNCTION refuse_change_of_finished_index() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.files IS NOT NULL OR NOT EXISTS (
        SELECT FROM jobs WHERE kind = 'index' AND subject = OLD.id AND finished_at IS NULL
    ) THEN
        RAISE EXCEPTION 'index % has ended and does not change', OLD.id;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER indexes_immutable BEFORE UPDATE ON indexes
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_finished_index();

-- Objects that nothing names any more: they are deleted after the transaction that says so.
CREATE TABLE discarded_objects (
    -- how their paths begin
    prefix text CONSTRAINT discarded_objects_pkey PRIMARY KEY,
    discarded_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE jobs DROP CONSTRAINT jobs_kind_known;
ALTER TABLE jobs ADD CONSTRAINT jobs_kind_known
    CHECK (kind IN ('export', 'corpus', 'judging', 'validation', 'probe', 'dataset', 'index'));
