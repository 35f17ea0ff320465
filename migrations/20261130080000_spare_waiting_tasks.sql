-- Whether the task at a position only waits for somebody outside, who has not answered yet. Then it is no reason for its player's death.
CREATE OR REPLACE FUNCTION waits_outside(run uuid, place integer) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM tasks JOIN requests ON requests.task_id = tasks.id
        WHERE tasks.run_id = run AND tasks.position = place AND NOT superseded AND requests.parks
            AND requests.answered_at IS NULL)
$$;
