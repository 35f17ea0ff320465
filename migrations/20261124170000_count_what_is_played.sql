-- A run may bound how many of its conversations are played at once (max_in_flight). A claim stays until all of it has ended,
-- and until then holds positions in which nobody plays any more: those do not count.
CREATE FUNCTION not_ended(run uuid, first integer, last integer) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT last - first + 1 - count(*)::integer FROM conversations
    WHERE run_id = run AND position BETWEEN first AND last AND NOT superseded AND outcome IS NOT NULL
$$;
