-- What somebody is still to rate by themselves: the conversations of open, blind queues that they have not rated. Whoever
-- administers the project sees all but what was given to them. One definition, for one conversation and for all.
CREATE FUNCTION blind_to(person text, administers boolean)
RETURNS TABLE (project_id uuid, conversation_id uuid)
LANGUAGE sql STABLE AS $$
    SELECT q.project_id, i.conversation_id
    FROM review_items i JOIN review_queues q ON q.id = i.queue_id
    WHERE q.state = 'open' AND q.blind
      AND NOT EXISTS (SELECT FROM human_ratings r WHERE r.conversation_id = i.conversation_id AND r.rater = person)
      AND (NOT administers OR EXISTS (SELECT FROM review_assignments a WHERE a.queue_id = i.queue_id
                                      AND a.conversation_id = i.conversation_id AND a.rater = person
                                      AND a.state = 'assigned'))
$$;
