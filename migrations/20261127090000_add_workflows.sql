-- Workflows are documents of a project, and their runs are runs of rows.
ALTER TABLE document_versions
    DROP CONSTRAINT document_versions_kind_known,
    ADD CONSTRAINT document_versions_kind_known
        CHECK (kind IN ('playbook', 'scenario', 'persona', 'judge', 'workflow'));
