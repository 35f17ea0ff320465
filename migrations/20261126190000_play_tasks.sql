-- A task is one unit of work of a run: a conversation, a row of a workflow, an episode, a job. Conversations were the only
-- kind until now, so their table becomes the table of all tasks. Nothing is copied: columns and tables get other names.
ALTER TABLE conversations RENAME TO tasks;
ALTER TABLE tasks
    ADD COLUMN kind text NOT NULL DEFAULT 'conversation'
        CONSTRAINT tasks_kind_form CHECK (kind ~ '^[a-z][a-z0-9_]{0,39}$'),
    -- the task that started it, and the group whose samples it belongs to
    ADD COLUMN parent uuid,
    ADD COLUMN sample_group uuid,
    ADD COLUMN reward real,
    -- the last of its events that another attempt may begin with; null: another attempt begins anew
    ADD COLUMN keep_through integer,
    ALTER COLUMN scenario DROP NOT NULL,
    ALTER COLUMN repeat DROP NOT NULL,
    ALTER COLUMN persona DROP NOT NULL,
    ALTER COLUMN complexity DROP NOT NULL,
    ADD CONSTRAINT tasks_conversation_whole CHECK (
        num_nonnulls(scenario, repeat, persona, complexity) = CASE kind WHEN 'conversation' THEN 4 ELSE 0 END),
    -- who can be to blame depends on the kind
    DROP CONSTRAINT conversations_blame_known,
    ADD CONSTRAINT tasks_blame_known CHECK (kind <> 'conversation'
        OR blame IN ('agent', 'simulated_user', 'tool_simulator', 'judge', 'infrastructure'));
ALTER TABLE tasks RENAME CONSTRAINT conversations_pkey TO tasks_pkey;
ALTER TABLE tasks RENAME CONSTRAINT conversations_run_fkey TO tasks_run_fkey;
ALTER TABLE tasks RENAME CONSTRAINT conversations_world_fkey TO tasks_world_fkey;
ALTER TABLE tasks RENAME CONSTRAINT conversations_outcome_known TO tasks_outcome_known;
ALTER TABLE tasks RENAME CONSTRAINT conversations_outcome_whole TO tasks_outcome_whole;
ALTER TABLE tasks RENAME CONSTRAINT conversations_attempt_positive TO tasks_attempt_positive;
ALTER INDEX conversations_position_unique RENAME TO tasks_position_unique;
ALTER TABLE events RENAME COLUMN conversation_id TO task_id;
ALTER TABLE tallies RENAME COLUMN conversations TO tasks;

-- How those ended that are older than the column. Now a column tells whether there is something to judge.
UPDATE tasks SET ending = ended.ending
FROM (SELECT task_id, event -> 'event' -> 'ended' -> 'ending' ->> 'kind' AS ending FROM events
      WHERE event -> 'event' -> 'ended' IS NOT NULL) AS ended
WHERE ended.task_id = id AND tasks.ending IS NULL AND outcome IS NOT NULL;

-- What was played to its end and could not be judged is judged again, and not played again.
UPDATE tasks SET keep_through = (
    SELECT max(seq) FROM events WHERE task_id = id
        AND event -> 'event' -> 'refused' IS NULL AND event -> 'event' -> 'finished' IS NULL)
WHERE outcome = 'failed' AND blame IN ('judge', 'infrastructure') AND verified IS NOT NULL AND NOT superseded;

-- What a run plays: its kind, and a spec that only this kind reads.
ALTER TABLE runs RENAME COLUMN config TO spec;
ALTER TABLE runs ADD COLUMN kind text NOT NULL DEFAULT 'conversations'
    CONSTRAINT runs_kind_form CHECK (kind ~ '^[a-z][a-z0-9_]{0,39}$');

CREATE OR REPLACE FUNCTION not_ended(run uuid, first integer, last integer) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT last - first + 1 - count(*)::integer FROM tasks
    WHERE run_id = run AND position BETWEEN first AND last AND NOT superseded AND outcome IS NOT NULL
$$;

DROP TRIGGER conversations_deleted ON tasks;
DROP FUNCTION delete_with_conversation();
CREATE FUNCTION delete_with_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM events WHERE task_id IN (SELECT id FROM gone);
    DELETE FROM verdicts WHERE conversation_id IN (SELECT id FROM gone);
    RETURN NULL;
END
$$;
CREATE TRIGGER tasks_deleted AFTER DELETE ON tasks
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_with_task();

CREATE OR REPLACE FUNCTION tell_reviewed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    conversation uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.conversation_id ELSE NEW.conversation_id END;
    is_rated boolean := false;
    is_annotated boolean := false;
    is_corrected boolean := false;
BEGIN
    -- Whoever else reviews it waits here, and then looks at what this one wrote.
    PERFORM FROM tasks WHERE id = conversation FOR NO KEY UPDATE;
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
    FROM tasks WHERE id = conversation
    ON CONFLICT (conversation_id) DO UPDATE SET
        rated = EXCLUDED.rated, annotated = EXCLUDED.annotated, corrected = EXCLUDED.corrected, change = EXCLUDED.change
    WHERE (reviewed_conversations.rated, reviewed_conversations.annotated, reviewed_conversations.corrected)
        IS DISTINCT FROM (EXCLUDED.rated, EXCLUDED.annotated, EXCLUDED.corrected);
    RETURN NULL;
END
$$;

-- Requests of tasks that somebody outside of the playing process answers: an outside agent, a worker. The answer is kept
-- until the task has taken it into its journal.
CREATE TABLE requests (
    task_id uuid NOT NULL,
    -- the request's id within its task, the same in every process
    request bigint NOT NULL,
    run_id uuid NOT NULL CONSTRAINT requests_run_fkey REFERENCES runs (id) ON DELETE CASCADE,
    -- who is to answer, such as `agent`
    kind text NOT NULL,
    body json NOT NULL,
    answer json,
    created_at timestamptz NOT NULL DEFAULT now(),
    answered_at timestamptz,
    CONSTRAINT requests_pkey PRIMARY KEY (task_id, request),
    CONSTRAINT requests_answered CHECK ((answer IS NULL) = (answered_at IS NULL))
);
CREATE INDEX requests_open_idx ON requests (kind, created_at) WHERE answer IS NULL;
CREATE INDEX requests_run_idx ON requests (run_id);
