-- What lists, filters and statistics say of a conversation, in columns of its own. So far it stood only in events and in
-- long documents, and a million of those are not read to find fifty.
ALTER TABLE conversations
    -- whether the verifier found nothing wrong; null if it never looked
    ADD COLUMN verified boolean,
    -- calls by the agent and its sub-agents, answered or refused
    ADD COLUMN tool_calls integer,
    -- the tools that they called, each once, sorted; names that no tool has are not among them
    ADD COLUMN tools text[];
ALTER TABLE verdicts
    -- 0 to 10, in the order of the judge's criteria, as in the document
    ADD COLUMN scores smallint[],
    ADD COLUMN weighted_mean real,
    -- of a panel, from 0 to 1
    ADD COLUMN agreement real,
    -- the verifier's finding when it was judged again; else it stands with the conversation
    ADD COLUMN verified boolean;
-- How often failures were played again on request: what was read of the run before may no longer be so.
ALTER TABLE runs ADD COLUMN retried integer NOT NULL DEFAULT 0;

UPDATE conversations SET verified = NOT EXISTS (
    SELECT FROM json_array_elements(event -> 'event' -> 'verified' -> 'verification' -> 'items') AS item
    WHERE NOT (item ->> 'passed')::boolean)
FROM events
WHERE conversation_id = id AND event -> 'event' -> 'verified' IS NOT NULL AND outcome IS NOT NULL;

WITH answered AS (
    SELECT conversation_id, event -> 'event' -> 'tool_answered' AS call FROM events
    WHERE event -> 'event' -> 'tool_answered' IS NOT NULL
), of_users AS (
    SELECT conversation_id, call ->> 'id' AS id
    FROM events CROSS JOIN LATERAL json_array_elements(event -> 'event' -> 'user_acted' -> 'tool_calls') AS call
    WHERE event -> 'event' -> 'user_acted' IS NOT NULL
), of_agents AS (
    SELECT conversation_id, count(*) AS calls,
           array_agg(DISTINCT call ->> 'tool' COLLATE "C" ORDER BY call ->> 'tool' COLLATE "C")
               FILTER (WHERE call ->> 'answer' <> 'unknown_tool') AS tools
    FROM answered
    WHERE NOT EXISTS (SELECT FROM of_users
                      WHERE of_users.conversation_id = answered.conversation_id AND of_users.id = call ->> 'call_id')
    GROUP BY conversation_id
)
UPDATE conversations SET tool_calls = coalesce(calls, 0), tools = coalesce(of_agents.tools, '{}')
FROM conversations AS ended LEFT JOIN of_agents ON conversation_id = ended.id
WHERE conversations.id = ended.id AND ended.outcome IS NOT NULL;

UPDATE verdicts SET
    scores = ARRAY(
        SELECT (score ->> 'score')::smallint FROM jsonb_array_elements(verdict -> 'scores') WITH ORDINALITY AS s (score, n)
        ORDER BY n),
    weighted_mean = (verdict ->> 'weighted_mean')::real,
    -- one minus the mean distance between two judges, over all criteria, as a share of the scale
    agreement = (
        SELECT 1 - avg(abs((a ->> 'score')::numeric - (b ->> 'score')::numeric)) / 10
        FROM jsonb_array_elements(verdict -> 'panel') WITH ORDINALITY AS one (said, n)
        JOIN jsonb_array_elements(verdict -> 'panel') WITH ORDINALITY AS other (said, n) ON one.n < other.n
        CROSS JOIN LATERAL jsonb_array_elements(one.said -> 'scores') AS a
        JOIN LATERAL jsonb_array_elements(other.said -> 'scores') AS b ON a -> 'criterion' = b -> 'criterion')
WHERE verdict IS NOT NULL;

UPDATE verdicts SET verified = NOT EXISTS (
    SELECT FROM jsonb_array_elements(verification -> 'items') AS item WHERE NOT (item ->> 'passed')::boolean)
WHERE verification IS NOT NULL;

ALTER TABLE verdicts ADD CONSTRAINT verdicts_scores_whole
    CHECK ((verdict IS NULL) = (scores IS NULL) AND (verdict IS NULL) = (weighted_mean IS NULL));
