-- How far the building of a corpus is: which step, and how much of it is done.
ALTER TABLE corpora
    ADD COLUMN step text,
    ADD COLUMN done integer NOT NULL DEFAULT 0,
    -- null if it is not known how much there is to do
    ADD COLUMN total integer;
-- What builders look at for work.
CREATE INDEX corpora_building_idx ON corpora (created_at) WHERE state = 'building';
