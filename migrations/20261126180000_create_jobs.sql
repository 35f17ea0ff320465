-- Jobs: work that takes long and is not the playing of a run. One table and one set of rules for all kinds: any process
-- claims them, holds them as long as its player's heartbeat is in time, and may be followed and cancelled.
CREATE TABLE jobs (
    id uuid CONSTRAINT jobs_pkey PRIMARY KEY,
    -- null: it belongs to the installation, as probes of models do
    project_id uuid CONSTRAINT jobs_project_fkey REFERENCES projects (id) ON DELETE CASCADE,
    kind text NOT NULL CONSTRAINT jobs_kind_known
        CHECK (kind IN ('export', 'corpus', 'judging', 'validation', 'probe')),
    -- the id of what it makes: an export, a corpus, a judging, a validation, a probe
    subject uuid NOT NULL,
    -- what is asked for, as far as it does not stand in the subject's row
    spec jsonb NOT NULL DEFAULT '{}',
    state text NOT NULL DEFAULT 'queued' CONSTRAINT jobs_state_known
        CHECK (state IN ('queued', 'running', 'finished', 'failed', 'cancelled')),
    -- why it failed
    reason text,
    -- jobs of higher priority are claimed first
    priority integer NOT NULL DEFAULT 0,
    -- The process that works on it. A running job without a player is free: its process died.
    player bigint CONSTRAINT jobs_player_fkey REFERENCES players (id) ON DELETE SET NULL,
    -- claims that were not given back: of a job that nobody holds, how many processes died while they worked on it
    attempts integer NOT NULL DEFAULT 0 CONSTRAINT jobs_attempts_not_negative CHECK (attempts >= 0),
    -- what is done now, and how much of it is done
    phase text,
    done bigint NOT NULL DEFAULT 0,
    -- null: it is not known how much there is to do
    total bigint CONSTRAINT jobs_total_not_negative CHECK (total >= 0),
    -- what came of it, in short
    report jsonb,
    -- the run whose usage and budget it counts to
    run_id uuid CONSTRAINT jobs_run_fkey REFERENCES runs (id) ON DELETE CASCADE,
    -- who asked for it, by name; empty: a command
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    -- when it was first claimed
    started_at timestamptz,
    finished_at timestamptz,
    CONSTRAINT jobs_finished CHECK ((finished_at IS NULL) = (state IN ('queued', 'running'))),
    CONSTRAINT jobs_held_while_running CHECK (player IS NULL OR state = 'running'),
    CONSTRAINT jobs_failed_for_a_reason CHECK ((state = 'failed') = (reason IS NOT NULL))
);
-- Nothing is made twice at once.
CREATE UNIQUE INDEX jobs_unfinished_unique ON jobs (kind, subject) WHERE finished_at IS NULL;
-- What a process looks at for work.
CREATE INDEX jobs_claimable_idx ON jobs (priority DESC, created_at, id) WHERE finished_at IS NULL AND player IS NULL;
CREATE INDEX jobs_player_idx ON jobs (player) WHERE player IS NOT NULL;
CREATE INDEX jobs_subject_idx ON jobs (subject, finished_at DESC NULLS FIRST);
CREATE INDEX jobs_project_idx ON jobs (project_id, created_at DESC, id DESC);
CREATE INDEX jobs_run_idx ON jobs (run_id) WHERE run_id IS NOT NULL;

CREATE FUNCTION refuse_change_of_finished_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'job % has ended and does not change', OLD.id;
END
$$;
CREATE TRIGGER jobs_immutable BEFORE UPDATE ON jobs
    FOR EACH ROW WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_finished_job();

-- The newest job of a subject: its state is the subject's state. A subject gets another job only when the one before has
-- ended, and the database's clock alone says when that was.
CREATE FUNCTION current_job(of_kind text, of_subject uuid) RETURNS SETOF jobs LANGUAGE sql STABLE AS $$
    SELECT * FROM jobs WHERE subject = of_subject AND kind = of_kind ORDER BY finished_at DESC NULLS FIRST LIMIT 1
$$;

-- A process that works on jobs is a player: it has a lease, and its number is the fencing token of what it stores. A server
-- that leaves playing to others is one that claims no positions of runs.
ALTER TABLE players ADD COLUMN plays boolean NOT NULL DEFAULT true;

-- What was being built or judged is taken up by whoever comes first. What has ended keeps its data.
INSERT INTO jobs (id, project_id, kind, subject, state, reason, done, total, created_by, created_at, started_at, finished_at)
SELECT gen_random_uuid(), project_id, 'export', id,
       CASE state WHEN 'building' THEN 'queued' WHEN 'ready' THEN 'finished' ELSE state END,
       CASE state WHEN 'failed' THEN coalesce(reason, '') END,
       CASE state WHEN 'building' THEN 0 ELSE done END, total, created_by, created_at,
       CASE state WHEN 'building' THEN NULL ELSE created_at END, finished_at
FROM exports;
INSERT INTO jobs (id, project_id, kind, subject, state, reason, phase, done, total, created_by, created_at, started_at, finished_at)
SELECT gen_random_uuid(), project_id, 'corpus', id,
       CASE state WHEN 'building' THEN 'queued' WHEN 'ready' THEN 'finished' ELSE state END,
       CASE state WHEN 'failed' THEN coalesce(reason, '') END,
       CASE state WHEN 'building' THEN NULL ELSE step END, CASE state WHEN 'building' THEN 0 ELSE done END,
       CASE state WHEN 'building' THEN NULL ELSE total END, created_by, created_at,
       CASE state WHEN 'building' THEN NULL ELSE created_at END,
       CASE state WHEN 'building' THEN NULL ELSE coalesce(finished_at, created_at) END
FROM corpora;
-- A run's own judging is as far as the run is, and what a command judged it judged by itself: they have no jobs.
INSERT INTO jobs (id, project_id, kind, subject, state, reason, run_id, created_by, created_at, started_at, finished_at)
SELECT gen_random_uuid(), runs.project_id, 'judging', judgings.id,
       CASE judgings.state WHEN 'running' THEN 'queued' ELSE judgings.state END,
       CASE judgings.state WHEN 'failed' THEN coalesce(reason, '') END, run_id, created_by, judgings.created_at,
       CASE judgings.state WHEN 'running' THEN NULL ELSE judgings.created_at END,
       CASE judgings.state WHEN 'running' THEN NULL ELSE coalesce(
           (SELECT max(verdicts.created_at) FROM verdicts WHERE judging_id = judgings.id), judgings.created_at) END
FROM judgings JOIN runs ON runs.id = run_id
WHERE NOT original AND (judgings.state <> 'finished' OR created_by <> '');

-- An export is written to once, by the job that makes it, and only as long as that job is not at its end.
CREATE OR REPLACE FUNCTION refuse_change_of_finished_export() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.hash IS NOT NULL OR NOT EXISTS (
        SELECT FROM jobs WHERE kind = 'export' AND subject = OLD.id AND finished_at IS NULL
    ) THEN
        RAISE EXCEPTION 'export % has ended and does not change', OLD.id;
    END IF;
    RETURN NEW;
END
$$;
DROP INDEX exports_building_idx;
ALTER TABLE exports
    DROP CONSTRAINT exports_finished,
    DROP CONSTRAINT exports_ready_whole,
    DROP COLUMN state,
    DROP COLUMN reason,
    DROP COLUMN done,
    DROP COLUMN total,
    DROP COLUMN heartbeat_at,
    DROP COLUMN finished_at,
    ADD CONSTRAINT exports_whole CHECK (num_nonnulls(bytes, hash, rows, report) IN (0, 4));

DROP INDEX corpora_building_idx;
ALTER TABLE corpora
    DROP COLUMN state,
    DROP COLUMN reason,
    DROP COLUMN step,
    DROP COLUMN done,
    DROP COLUMN total,
    DROP COLUMN finished_at;

DROP INDEX judgings_running_idx;
ALTER TABLE judgings DROP COLUMN state, DROP COLUMN reason;
