-- Answers that hold a secret were kept with the others until now.
UPDATE idempotency_keys SET response = NULL;
