-- People look at conversations: they rate them, in queues or by themselves, annotate and correct them.

-- What a person said earlier of a conversation. A trigger keeps it, so that no writer can forget.
ALTER TABLE human_ratings ADD COLUMN comment text;
CREATE TABLE human_rating_history (
    conversation_id uuid NOT NULL
        CONSTRAINT human_rating_history_conversation_fkey REFERENCES conversations (id) ON DELETE CASCADE,
    rater text NOT NULL,
    scores jsonb NOT NULL,
    goal_achieved boolean,
    comment text,
    -- when it was said, and when another word took its place
    created_at timestamptz NOT NULL,
    replaced_at timestamptz NOT NULL
);
CREATE INDEX human_rating_history_idx ON human_rating_history (conversation_id, rater, replaced_at);
CREATE FUNCTION keep_human_rating() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO human_rating_history
        (conversation_id, rater, scores, goal_achieved, comment, created_at, replaced_at)
    VALUES (OLD.conversation_id, OLD.rater, OLD.scores, OLD.goal_achieved, OLD.comment, OLD.created_at, NEW.created_at);
    RETURN NEW;
END
$$;
CREATE TRIGGER human_ratings_replaced BEFORE UPDATE ON human_ratings FOR EACH ROW
    WHEN ((OLD.scores, OLD.goal_achieved, OLD.comment) IS DISTINCT FROM (NEW.scores, NEW.goal_achieved, NEW.comment))
    EXECUTE FUNCTION keep_human_rating();

-- Conversations that people are to rate.
CREATE TABLE review_queues (
    id uuid CONSTRAINT review_queues_pkey PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT review_queues_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    name text NOT NULL,
    instructions text NOT NULL,
    -- by how many people each conversation is to be rated
    raters_each smallint NOT NULL CONSTRAINT review_queues_raters_each_range CHECK (raters_each BETWEEN 1 AND 10),
    -- whose scores the conversations were spread over; null: those of their runs
    judging_id uuid CONSTRAINT review_queues_judging_fkey REFERENCES judgings (id) ON DELETE SET NULL,
    -- raters see neither the judge's scores nor other people's before they have rated
    blind boolean NOT NULL,
    state text NOT NULL CONSTRAINT review_queues_state_known CHECK (state IN ('open', 'closed')),
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT review_queues_name_unique UNIQUE (project_id, name)
);
CREATE INDEX review_queues_project_idx ON review_queues (project_id, created_at DESC, id DESC);

CREATE TABLE review_items (
    queue_id uuid NOT NULL CONSTRAINT review_items_queue_fkey REFERENCES review_queues (id) ON DELETE CASCADE,
    -- place in the queue, from 0
    ordinal integer NOT NULL,
    conversation_id uuid NOT NULL
        CONSTRAINT review_items_conversation_fkey REFERENCES conversations (id) ON DELETE CASCADE,
    CONSTRAINT review_items_pkey PRIMARY KEY (queue_id, conversation_id),
    CONSTRAINT review_items_ordinal_unique UNIQUE (queue_id, ordinal)
);
CREATE INDEX review_items_conversation_idx ON review_items (conversation_id);

-- Who has which conversation of a queue. Nobody has one twice.
CREATE TABLE review_assignments (
    queue_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    -- name of a user; empty: a file that named nobody
    rater text NOT NULL,
    state text NOT NULL CONSTRAINT review_assignments_state_known CHECK (state IN ('assigned', 'done', 'skipped')),
    -- who gave it to them; null: they took it
    assigned_by text,
    assigned_at timestamptz NOT NULL,
    -- from then on others may have it. Null: it is theirs until they have done it.
    expires_at timestamptz,
    finished_at timestamptz,
    CONSTRAINT review_assignments_pkey PRIMARY KEY (queue_id, conversation_id, rater),
    CONSTRAINT review_assignments_item_fkey FOREIGN KEY (queue_id, conversation_id)
        REFERENCES review_items (queue_id, conversation_id) ON DELETE CASCADE,
    CONSTRAINT review_assignments_finished CHECK ((state = 'assigned') = (finished_at IS NULL))
);
CREATE INDEX review_assignments_rater_idx ON review_assignments (queue_id, rater);

-- Whether an assignment takes up one of the places of its conversation.
CREATE FUNCTION review_holds(state text, expires_at timestamptz, at timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT state = 'done' OR (state = 'assigned' AND (expires_at IS NULL OR expires_at > at))
$$;

-- What a rater may have of a queue: what they hold, and what still has a place for them.
CREATE FUNCTION review_open_for(queue uuid, person text, at timestamptz)
RETURNS TABLE (conversation_id uuid, ordinal integer, mine boolean)
LANGUAGE sql STABLE AS $$
    SELECT i.conversation_id, i.ordinal, own.rater IS NOT NULL
    FROM review_items i JOIN review_queues q ON q.id = i.queue_id
         LEFT JOIN review_assignments own
             ON own.queue_id = i.queue_id AND own.conversation_id = i.conversation_id AND own.rater = person
    WHERE i.queue_id = queue AND (own.rater IS NULL OR own.state = 'assigned')
      AND ((own.rater IS NOT NULL AND review_holds(own.state, own.expires_at, at))
           OR (SELECT count(*) FROM review_assignments a
               WHERE a.queue_id = i.queue_id AND a.conversation_id = i.conversation_id AND a.rater <> person
                 AND review_holds(a.state, a.expires_at, at)) < q.raters_each)
$$;

-- Remarks on a step of a conversation.
CREATE TABLE annotations (
    id uuid CONSTRAINT annotations_pkey PRIMARY KEY,
    conversation_id uuid NOT NULL
        CONSTRAINT annotations_conversation_fkey REFERENCES conversations (id) ON DELETE CASCADE,
    -- the event
    seq integer NOT NULL CONSTRAINT annotations_seq_not_negative CHECK (seq >= 0),
    text text NOT NULL,
    labels text[] NOT NULL,
    author text NOT NULL,
    created_at timestamptz NOT NULL,
    resolved_by text,
    resolved_at timestamptz,
    CONSTRAINT annotations_resolved_whole CHECK ((resolved_by IS NULL) = (resolved_at IS NULL))
);
CREATE INDEX annotations_conversation_idx ON annotations (conversation_id, seq, created_at);

-- What agents should have said. The events stay as they are: each version says of one turn how it reads from then on.
CREATE TABLE corrections (
    conversation_id uuid NOT NULL
        CONSTRAINT corrections_conversation_fkey REFERENCES conversations (id) ON DELETE CASCADE,
    version integer NOT NULL CONSTRAINT corrections_version_positive CHECK (version > 0),
    -- the event of the agent's turn
    seq integer NOT NULL,
    -- the parts that read differently; null: the turn reads as it was played again
    turn json,
    author text NOT NULL,
    note text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT corrections_pkey PRIMARY KEY (conversation_id, version)
);
CREATE TRIGGER corrections_append_only BEFORE UPDATE ON corrections
    FOR EACH ROW EXECUTE FUNCTION refuse_update();

-- Calibrations belong to a project, and say what they were made from and by whom (empty: a command).
ALTER TABLE calibrations
    ADD COLUMN project_id uuid NOT NULL DEFAULT '00000000-0000-7000-8000-000000000001'
        CONSTRAINT calibrations_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    ADD COLUMN judging_id uuid CONSTRAINT calibrations_judging_fkey REFERENCES judgings (id) ON DELETE SET NULL,
    ADD COLUMN created_by text NOT NULL DEFAULT '';
ALTER TABLE calibrations ALTER COLUMN project_id DROP DEFAULT, ALTER COLUMN created_by DROP DEFAULT;
CREATE INDEX calibrations_project_idx ON calibrations (project_id, created_at DESC, id DESC);
