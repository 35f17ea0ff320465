-- Tokens that may only act in one episode, for the programs that play agents. The user who opened the episode passes them on.
CREATE TABLE episode_tokens (
    task_id uuid NOT NULL CONSTRAINT episode_tokens_task_fkey REFERENCES tasks (id) ON DELETE CASCADE,
    -- the user who opened the episode: the token may do nothing that this user may not do
    user_id uuid NOT NULL CONSTRAINT episode_tokens_user_fkey REFERENCES users (id) ON DELETE CASCADE,
    -- SHA-256 of the secret, which is kept nowhere
    secret_hash bytea NOT NULL CONSTRAINT episode_tokens_secret_hash_key UNIQUE,
    CONSTRAINT episode_tokens_pkey PRIMARY KEY (task_id)
);
