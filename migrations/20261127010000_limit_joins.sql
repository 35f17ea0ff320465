-- How often workers have joined by a token within a minute: a token that leaked must not fill the pool in seconds.

ALTER TABLE join_tokens
    ADD COLUMN joins integer NOT NULL DEFAULT 0,
    -- When the minute began in which these joins were.
    ADD COLUMN joins_from timestamptz NOT NULL DEFAULT '-infinity';
