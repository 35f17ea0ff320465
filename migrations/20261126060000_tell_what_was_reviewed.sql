-- What people did about conversations, as lists and corpora are narrowed by it. Few conversations are reviewed, so what is
-- not there was not. It follows from the tables that it is counted from, whoever writes to them.
CREATE TABLE reviewed_conversations (
    conversation_id uuid CONSTRAINT reviewed_conversations_pkey PRIMARY KEY
        CONSTRAINT reviewed_conversations_conversation_fkey REFERENCES conversations (id) ON DELETE CASCADE,
    run_id uuid NOT NULL CONSTRAINT reviewed_conversations_run_fkey REFERENCES runs (id) ON DELETE CASCADE,
    rated boolean NOT NULL,
    annotated boolean NOT NULL,
    -- a correction is in force: of a turn's corrections the last one is no withdrawal
    corrected boolean NOT NULL,
    -- Grows with each change, so that the sum over a run tells whether anything changed in it.
    change bigint NOT NULL
);
CREATE INDEX reviewed_conversations_run_idx ON reviewed_conversations (run_id) INCLUDE (change);
CREATE SEQUENCE reviewed_changes AS bigint;

-- What a column of the table that was written to says of a conversation now.
CREATE FUNCTION tell_reviewed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    conversation uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.conversation_id ELSE NEW.conversation_id END;
    is_rated boolean := false;
    is_annotated boolean := false;
    is_corrected boolean := false;
BEGIN
    -- Whoever else reviews it waits here, and then looks at what this one wrote.
    PERFORM FROM conversations WHERE id = conversation FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT EXISTS (SELECT FROM human_ratings WHERE conversation_id = conversation),
           EXISTS (SELECT FROM annotations WHERE conversation_id = conversation),
           EXISTS (SELECT FROM corrections c WHERE conversation_id = conversation AND turn IS NOT NULL
                   AND version = (SELECT max(version) FROM corrections
                                  WHERE conversation_id = conversation AND seq = c.seq))
    INTO is_rated, is_annotated, is_corrected;
    INSERT INTO reviewed_conversations (conversation_id, run_id, rated, annotated, corrected, change)
    SELECT id, run_id, is_rated, is_annotated, is_corrected, nextval('reviewed_changes')
    FROM conversations WHERE id = conversation
    ON CONFLICT (conversation_id) DO UPDATE SET
        rated = EXCLUDED.rated, annotated = EXCLUDED.annotated, corrected = EXCLUDED.corrected, change = EXCLUDED.change
    WHERE (reviewed_conversations.rated, reviewed_conversations.annotated, reviewed_conversations.corrected)
        IS DISTINCT FROM (EXCLUDED.rated, EXCLUDED.annotated, EXCLUDED.corrected);
    RETURN NULL;
END
$$;
CREATE TRIGGER human_ratings_tell AFTER INSERT OR DELETE ON human_ratings
    FOR EACH ROW EXECUTE FUNCTION tell_reviewed();
CREATE TRIGGER annotations_tell AFTER INSERT OR DELETE ON annotations
    FOR EACH ROW EXECUTE FUNCTION tell_reviewed();
CREATE TRIGGER corrections_tell AFTER INSERT OR DELETE ON corrections
    FOR EACH ROW EXECUTE FUNCTION tell_reviewed();

INSERT INTO reviewed_conversations (conversation_id, run_id, rated, annotated, corrected, change)
SELECT c.id, c.run_id,
       EXISTS (SELECT FROM human_ratings WHERE conversation_id = c.id),
       EXISTS (SELECT FROM annotations WHERE conversation_id = c.id),
       EXISTS (SELECT FROM corrections o WHERE o.conversation_id = c.id AND turn IS NOT NULL
               AND version = (SELECT max(version) FROM corrections l WHERE l.conversation_id = c.id AND l.seq = o.seq)),
       nextval('reviewed_changes')
FROM conversations c
WHERE c.id IN (SELECT conversation_id FROM human_ratings UNION SELECT conversation_id FROM annotations
               UNION SELECT conversation_id FROM corrections);
