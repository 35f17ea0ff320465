-- Runs of one conversation that goes on from a turn of another one: found from that other one.
CREATE INDEX runs_branch_of_idx ON runs ((config -> 'branch_of' ->> 'conversation'))
    WHERE config -> 'branch_of' ->> 'conversation' IS NOT NULL;
