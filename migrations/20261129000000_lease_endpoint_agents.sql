-- Endpoints that play the agents of episodes. A server asks one for as long as its lease goes on; if the server dies, another one, or
-- the same one after a restart, asks on.
CREATE TABLE endpoint_agents (
    task_id uuid NOT NULL CONSTRAINT endpoint_agents_task_fkey REFERENCES tasks (id) ON DELETE CASCADE,
    -- null: it has a key, which is stored nowhere; whoever sent it has to send it again
    endpoint jsonb,
    -- the server that asks it
    server uuid NOT NULL,
    leased_until timestamptz NOT NULL,
    CONSTRAINT endpoint_agents_pkey PRIMARY KEY (task_id)
);
CREATE INDEX endpoint_agents_lease_idx ON endpoint_agents (leased_until);
