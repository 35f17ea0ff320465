-- An upload that gets no bytes for a while is deleted. Those that are there have as long as one that begins now.
ALTER TABLE dataset_uploads ADD COLUMN last_received_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE dataset_uploads ALTER COLUMN last_received_at DROP DEFAULT;
CREATE INDEX dataset_uploads_last_received_idx ON dataset_uploads (last_received_at);
