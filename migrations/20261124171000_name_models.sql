-- Who plays a run and who judges it, as filters of conversations name them: the model of the agent under test by itself, and
-- each role's as ROLE:NAME. Judges are those of the judging that is looked at.
CREATE FUNCTION models_of(config jsonb, judges jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM (
        SELECT config -> 'models' ->> 'agent'
        UNION SELECT role || ':' || model FROM jsonb_each_text(config -> 'models') AS m (role, model) WHERE role <> 'judge'
        UNION SELECT 'judge:' || model FROM jsonb_array_elements_text(judges) AS j (model)
    ) AS names (name) WHERE name IS NOT NULL
$$;
