-- After how long a silence others take over what a player plays. It says so itself: each has its own.
ALTER TABLE players ADD COLUMN lease interval NOT NULL DEFAULT '15 seconds';

-- How long a run has been played, pauses not counted: up to `running_since`, if it is played now.
ALTER TABLE runs ADD COLUMN played_for interval NOT NULL DEFAULT '0', ADD COLUMN running_since timestamptz;

UPDATE runs SET running_since = started_at WHERE state = 'running' AND finished_at IS NULL;
UPDATE runs SET played_for = finished_at - started_at WHERE finished_at >= started_at;
UPDATE runs SET played_for = greatest(last.ended - started_at, '0')
FROM (SELECT run_id, max(finished_at) AS ended FROM conversations GROUP BY run_id) AS last
WHERE run_id = id AND state = 'paused' AND runs.finished_at IS NULL AND last.ended IS NOT NULL;

CREATE FUNCTION count_playing() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was boolean := OLD.started_at IS NOT NULL AND OLD.state = 'running' AND OLD.finished_at IS NULL;
    goes_on boolean := NEW.started_at IS NOT NULL AND NEW.state = 'running' AND NEW.finished_at IS NULL;
BEGIN
    IF was AND NOT goes_on THEN
        NEW.played_for := OLD.played_for + greatest(now() - OLD.running_since, '0');
        NEW.running_since := NULL;
    ELSIF goes_on AND NOT was THEN
        NEW.running_since := now();
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER count_playing BEFORE UPDATE OF state, started_at, finished_at ON runs
    FOR EACH ROW EXECUTE FUNCTION count_playing();
