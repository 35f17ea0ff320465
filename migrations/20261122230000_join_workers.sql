-- Workers serve models on machines of their own. They join with a token that an administrator made, and say every few
-- seconds how they do. What is kept of them is what players need in order to ask them, and what people look at.

CREATE TABLE join_tokens (
    id           uuid PRIMARY KEY,
    name         text NOT NULL,
    secret_hash  bytea NOT NULL CONSTRAINT join_tokens_secret_hash_key UNIQUE,
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    last_used_at timestamptz
);

CREATE TABLE workers (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- A token that is withdrawn takes its workers with it.
    join_token    uuid NOT NULL REFERENCES join_tokens ON DELETE CASCADE,
    name          text NOT NULL CONSTRAINT workers_name_key UNIQUE,
    model         text NOT NULL,
    served_as     text,
    url           text NOT NULL,
    engine        text NOT NULL,
    key_env       text,
    max_in_flight integer CHECK (max_in_flight > 0),
    state         text NOT NULL DEFAULT 'starting',
    -- What people want of it.
    ordered       text NOT NULL DEFAULT 'serve',
    detail        text,
    load          jsonb NOT NULL DEFAULT '{}',
    gpus          jsonb NOT NULL DEFAULT '[]',
    restarts      integer NOT NULL DEFAULT 0,
    joined_at     timestamptz NOT NULL DEFAULT now(),
    -- By the clock of the database, like those of players: nobody else's counts.
    heartbeat_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX workers_join_token_idx ON workers (join_token);
