-- What was limited by conversations is limited by rows as well: as far as new projects are.
UPDATE projects SET storage_limits = storage_limits || '{"rows": 100000000}' WHERE storage_limits IS NOT NULL;
