-- Of the prompts' tokens, those that the endpoint's prefix cache held.
ALTER TABLE usage ADD COLUMN cached_tokens bigint NOT NULL DEFAULT 0;
