-- What the summary of a run says of each task, in columns of its own, so that it reads no events.
ALTER TABLE tasks
    -- of a row with an output: the metrics of its workflow by name, numbers and booleans
    ADD COLUMN metrics json,
    -- how long the attempt was played by the player that ended it, and what of that time it was answered, waited, and began
    ADD COLUMN seconds real,
    ADD COLUMN seconds_processing real,
    ADD COLUMN seconds_queueing real,
    ADD COLUMN seconds_initialising real;
