-- What a model was found to be able to when it was asked last: runs warn by it before they spend money. A model is named
-- here as runs name it, in the registry or by its endpoint.
CREATE TABLE model_probes (
    model     text PRIMARY KEY,
    probed_at timestamptz NOT NULL,
    replicas  jsonb NOT NULL
);
