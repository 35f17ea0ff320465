-- What came later, where it is there.
ALTER TABLE tasks
    DROP COLUMN IF EXISTS metrics,
    DROP COLUMN IF EXISTS seconds,
    DROP COLUMN IF EXISTS seconds_processing,
    DROP COLUMN IF EXISTS seconds_queueing,
    DROP COLUMN IF EXISTS seconds_initialising;
DROP TABLE IF EXISTS discarded_objects, indexes, dataset_upload_pieces, dataset_uploads, datasets;
DROP FUNCTION IF EXISTS refuse_change_of_finished_dataset, refuse_change_of_finished_index;
ALTER TABLE document_versions DROP COLUMN IF EXISTS bytes;
DROP TABLE IF EXISTS run_storage;
ALTER TABLE projects DROP COLUMN IF EXISTS storage_limits;
ALTER TABLE claims DROP COLUMN IF EXISTS deaths;
ALTER TABLE players DROP COLUMN IF EXISTS for_one_run;
DROP FUNCTION IF EXISTS blind_to(text, boolean);
ALTER TABLE join_tokens DROP COLUMN IF EXISTS joins, DROP COLUMN IF EXISTS joins_from;

DROP TABLE requests;
DROP TABLE IF EXISTS environments;
DROP TABLE IF EXISTS endpoint_agents, episode_tokens;
ALTER TABLE runs
    DROP CONSTRAINT runs_planned_positive,
    DROP COLUMN kind,
    ADD CONSTRAINT runs_planned_positive CHECK (planned > 0);
ALTER TABLE runs RENAME COLUMN spec TO config;
ALTER TABLE tallies RENAME COLUMN tasks TO conversations;
ALTER TABLE events RENAME COLUMN task_id TO conversation_id;
ALTER TABLE tasks RENAME TO conversations;
ALTER TABLE conversations
    DROP CONSTRAINT tasks_conversation_whole,
    DROP CONSTRAINT tasks_blame_known,
    DROP COLUMN kind,
    DROP COLUMN parent,
    DROP COLUMN sample_group,
    DROP COLUMN reward,
    DROP COLUMN keep_through,
    ALTER COLUMN scenario SET NOT NULL,
    ALTER COLUMN repeat SET NOT NULL,
    ALTER COLUMN persona SET NOT NULL,
    ALTER COLUMN complexity SET NOT NULL,
    ADD CONSTRAINT conversations_blame_known
        CHECK (blame IN ('agent', 'simulated_user', 'tool_simulator', 'judge', 'infrastructure'));
ALTER TABLE conversations RENAME CONSTRAINT tasks_pkey TO conversations_pkey;
ALTER TABLE conversations RENAME CONSTRAINT tasks_run_fkey TO conversations_run_fkey;
ALTER TABLE conversations RENAME CONSTRAINT tasks_world_fkey TO conversations_world_fkey;
ALTER TABLE conversations RENAME CONSTRAINT tasks_outcome_known TO conversations_outcome_known;
ALTER TABLE conversations RENAME CONSTRAINT tasks_outcome_whole TO conversations_outcome_whole;
ALTER TABLE conversations RENAME CONSTRAINT tasks_attempt_positive TO conversations_attempt_positive;
ALTER INDEX tasks_position_unique RENAME TO conversations_position_unique;

CREATE OR REPLACE FUNCTION not_ended(run uuid, first integer, last integer) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT last - first + 1 - count(*)::integer FROM conversations
    WHERE run_id = run AND position BETWEEN first AND last AND NOT superseded AND outcome IS NOT NULL
$$;

DROP TRIGGER tasks_deleted ON conversations;
DROP FUNCTION delete_with_task();
CREATE FUNCTION delete_with_conversation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM events WHERE conversation_id IN (SELECT id FROM gone);
    DELETE FROM verdicts WHERE conversation_id IN (SELECT id FROM gone);
    RETURN NULL;
END
$$;
CREATE TRIGGER conversations_deleted AFTER DELETE ON conversations
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_with_conversation();
CREATE OR REPLACE FUNCTION tell_reviewed() RETURNS trigger LANGUAGE plpgsql AS $$
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
