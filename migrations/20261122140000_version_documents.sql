-- The documents of projects: every save is a version, and none is ever lost.

CREATE TABLE document_versions (
    project_id uuid NOT NULL CONSTRAINT document_versions_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    kind text NOT NULL
        CONSTRAINT document_versions_kind_known CHECK (kind IN ('playbook', 'scenario', 'persona', 'judge')),
    name text NOT NULL CONSTRAINT document_versions_name_form CHECK (name ~ '^[a-z0-9_][a-z0-9_-]{0,79}$'),
    -- from 1, without gaps
    version integer NOT NULL CONSTRAINT document_versions_version_positive CHECK (version > 0),
    -- path within the project -> text; null: this version deleted the document
    files jsonb CONSTRAINT document_versions_files_some CHECK (jsonb_typeof(files) = 'object' AND files <> '{}'),
    -- SHA-256 of the files
    hash text NOT NULL,
    -- what lists show and filter: title, playbook, intent, tags
    about jsonb NOT NULL,
    message text NOT NULL,
    -- who saved it, by name; empty: a command on the machine itself
    author text NOT NULL,
    created_at timestamptz NOT NULL,
    -- what was found when it was saved or promoted
    findings json NOT NULL,
    critical integer NOT NULL CONSTRAINT document_versions_critical_not_negative CHECK (critical >= 0),
    errors integer NOT NULL CONSTRAINT document_versions_errors_not_negative CHECK (errors >= 0),
    warnings integer NOT NULL CONSTRAINT document_versions_warnings_not_negative CHECK (warnings >= 0),
    infos integer NOT NULL CONSTRAINT document_versions_infos_not_negative CHECK (infos >= 0),
    -- the newest promoted version is the one that runs and the archive use
    promoted boolean NOT NULL
        CONSTRAINT document_versions_promoted_sound CHECK (NOT promoted OR (critical = 0 AND errors = 0)),
    CONSTRAINT document_versions_pkey PRIMARY KEY (project_id, kind, name, version)
);
CREATE INDEX document_versions_promoted_idx ON document_versions (project_id, kind, name, version DESC) WHERE promoted;

-- A version stays as it was saved. A draft may be promoted, once, with what was found then.
CREATE FUNCTION refuse_new_version_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.promoted OR NOT NEW.promoted
       OR (OLD.project_id, OLD.kind, OLD.name, OLD.version, OLD.files, OLD.hash, OLD.about, OLD.message, OLD.author,
           OLD.created_at)
          IS DISTINCT FROM
          (NEW.project_id, NEW.kind, NEW.name, NEW.version, NEW.files, NEW.hash, NEW.about, NEW.message, NEW.author,
           NEW.created_at)
    THEN
        RAISE EXCEPTION 'a version of a document is never changed, only promoted';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER document_versions_append_only BEFORE UPDATE ON document_versions
    FOR EACH ROW EXECUTE FUNCTION refuse_new_version_text();

-- Whose documents were validated. Until now all were those of commands.
ALTER TABLE validations ADD COLUMN project_id uuid NOT NULL DEFAULT '00000000-0000-7000-8000-000000000001'
    CONSTRAINT validations_project_fkey REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE validations ALTER COLUMN project_id DROP DEFAULT;
CREATE INDEX validations_project_idx ON validations (project_id, created_at DESC, id DESC);
