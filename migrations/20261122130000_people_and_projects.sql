-- People, what they may do, and what they did.

CREATE TABLE users (
    id uuid CONSTRAINT users_pkey PRIMARY KEY,
    -- what they sign in with; lower case
    name text NOT NULL CONSTRAINT users_name_unique UNIQUE
        CONSTRAINT users_name_form CHECK (name ~ '^[a-z0-9][a-z0-9._@+-]{0,63}$'),
    -- argon2id, as a PHC string; null until they have chosen one
    password_hash text,
    -- may do everything in every project, and administers models and users
    administrator boolean NOT NULL DEFAULT false,
    disabled_at timestamptz,
    created_at timestamptz NOT NULL
);

-- One-time links: the first administrator's, and those by which people choose their password. Only hashes of secrets
-- are kept, here and below.
CREATE TABLE invitations (
    secret_hash bytea CONSTRAINT invitations_pkey PRIMARY KEY,
    -- null: whoever opens it becomes the first administrator
    user_id uuid CONSTRAINT invitations_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE TABLE sessions (
    secret_hash bytea CONSTRAINT sessions_pkey PRIMARY KEY,
    user_id uuid NOT NULL CONSTRAINT sessions_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_user_idx ON sessions (user_id);

-- Failed sign-ins, so that guessing passwords is slow. One row a name and one an address.
CREATE TABLE sign_in_failures (
    subject text CONSTRAINT sign_in_failures_pkey PRIMARY KEY,
    failures integer NOT NULL,
    last_at timestamptz NOT NULL
);

CREATE TABLE projects (
    id uuid CONSTRAINT projects_pkey PRIMARY KEY,
    -- in URLs
    name text NOT NULL CONSTRAINT projects_name_unique UNIQUE
        CONSTRAINT projects_name_form CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
    title text NOT NULL,
    created_at timestamptz NOT NULL
);
-- Where commands work that name no project.
INSERT INTO projects (id, name, title, created_at)
VALUES ('00000000-0000-7000-8000-000000000001', 'default', 'Default project', now());

CREATE TABLE memberships (
    project_id uuid NOT NULL CONSTRAINT memberships_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    user_id uuid NOT NULL CONSTRAINT memberships_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    role text NOT NULL CONSTRAINT memberships_role_known CHECK (role IN ('viewer', 'author', 'runner', 'admin')),
    CONSTRAINT memberships_pkey PRIMARY KEY (project_id, user_id)
);
CREATE INDEX memberships_user_idx ON memberships (user_id);

-- For programs. A token can do no more than the person who made it.
CREATE TABLE api_tokens (
    id uuid CONSTRAINT api_tokens_pkey PRIMARY KEY,
    user_id uuid NOT NULL CONSTRAINT api_tokens_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    -- null: every project of theirs
    project_id uuid CONSTRAINT api_tokens_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    name text NOT NULL,
    secret_hash bytea NOT NULL CONSTRAINT api_tokens_secret_unique UNIQUE,
    scopes text[] NOT NULL CONSTRAINT api_tokens_scopes_known
        CHECK (scopes <@ ARRAY['read', 'author', 'run', 'admin'] AND scopes <> '{}'),
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz
);
CREATE INDEX api_tokens_user_idx ON api_tokens (user_id);

-- Who changed what. Names are copied, for people and projects go.
CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT audit_log_pkey PRIMARY KEY,
    at timestamptz NOT NULL,
    -- empty: a command on the machine itself
    actor text NOT NULL,
    -- the token that was used, by name
    token text,
    project_id uuid,
    -- `run.create`, `user.disable`
    action text NOT NULL,
    -- id or name of what was changed
    subject text NOT NULL,
    detail jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_project_idx ON audit_log (project_id, id DESC);
CREATE TRIGGER audit_log_append_only BEFORE UPDATE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION refuse_update();

-- Answers to requests with an Idempotency-Key, so that what is sent twice is done once.
CREATE TABLE idempotency_keys (
    user_id uuid NOT NULL CONSTRAINT idempotency_keys_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    key text NOT NULL,
    -- of method, path and body
    request_hash bytea NOT NULL,
    -- null while it is being done
    status smallint,
    response json,
    created_at timestamptz NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (user_id, key)
);

ALTER TABLE runs ADD COLUMN project_id uuid NOT NULL DEFAULT '00000000-0000-7000-8000-000000000001'
    CONSTRAINT runs_project_fkey REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE runs ALTER COLUMN project_id DROP DEFAULT;
CREATE INDEX runs_project_idx ON runs (project_id, created_at DESC, id DESC);
