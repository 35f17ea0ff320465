-- jsonb orders keys and rewrites numbers. A conversation that is resumed must read what an unbroken one would, so events
-- keep their text.
ALTER TABLE events ALTER COLUMN event TYPE json USING event::json;
