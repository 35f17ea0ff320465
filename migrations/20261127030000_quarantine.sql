-- A task whose player dies again and again is played alone, and ended at last.

ALTER TABLE claims
    -- how many players ended, or fell silent, while they held it
    ADD COLUMN deaths smallint NOT NULL DEFAULT 0;
CREATE INDEX claims_quarantined_idx ON claims (run_id) WHERE deaths >= 2;

ALTER TABLE players
    -- it belongs to a command that people end as they like: its end says nothing of what it played
    ADD COLUMN for_one_run boolean NOT NULL DEFAULT false;

ALTER TABLE tasks
    DROP CONSTRAINT tasks_blame_known,
    ADD CONSTRAINT tasks_blame_known CHECK (kind <> 'conversation'
        OR blame IN ('agent', 'simulated_user', 'tool_simulator', 'judge', 'playbook', 'infrastructure'));
