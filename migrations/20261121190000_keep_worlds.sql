-- Worlds that conversations start from, each kept once however many start there. A playbook's base world is kept whole,
-- a scenario's as what it changes in its base. All later versions follow from the patches in the events.
CREATE TABLE worlds (
    -- SHA-256 of the world's canonical JSON
    hash text CONSTRAINT worlds_pkey PRIMARY KEY,
    base text CONSTRAINT worlds_base_fkey REFERENCES worlds (hash),
    -- the document, or the patch (RFC 6902) that makes it out of its base
    content json NOT NULL,
    created_at timestamptz NOT NULL
);

CREATE TRIGGER worlds_append_only BEFORE UPDATE ON worlds
    FOR EACH ROW EXECUTE FUNCTION refuse_update();

-- Conversations from before this table have none; their library still tells.
ALTER TABLE conversations ADD COLUMN world text CONSTRAINT conversations_world_fkey REFERENCES worlds (hash);
