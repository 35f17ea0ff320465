//! The ledger of a run: nothing lost, nothing doubled, every task ended once. The rules are queries of their own,
//! so that they are right even where the program is wrong.

use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

/// Each rule of a run that has ended, with the query for the positions at which it is broken. `$1` is the run.
const RULES: [(&str, &str); 12] = [
    (
        "each position has one task that counts, and it has ended (or its run of episodes has not)",
        "SELECT position FROM generate_series(0, (SELECT planned - 1 FROM runs WHERE id = $1)) AS position
         WHERE 1 <> (SELECT count(*) FROM tasks c JOIN runs ON runs.id = run_id
                     WHERE run_id = $1 AND c.position = position.position AND NOT superseded
                         AND (outcome IS NOT NULL OR runs.kind = 'episodes' AND runs.finished_at IS NULL))",
    ),
    (
        "attempts that do not count have ended, blaming somebody else than the agent",
        "SELECT position FROM tasks
         WHERE run_id = $1 AND superseded AND (outcome IS NULL OR blame IS NULL OR blame = 'agent')",
    ),
    (
        "attempts are numbered from 1, without gaps",
        "SELECT position FROM tasks WHERE run_id = $1 GROUP BY position
         HAVING max(attempt) <> count(*) OR count(DISTINCT attempt) <> count(*)",
    ),
    (
        "events have no gaps",
        "SELECT c.position FROM tasks c JOIN events e ON e.task_id = c.id WHERE run_id = $1
         GROUP BY c.id, c.position HAVING min(seq) <> 0 OR max(seq) <> count(*) - 1",
    ),
    (
        "each conversation begins once and ends once, with its last event",
        "SELECT c.position FROM tasks c JOIN events e ON e.task_id = c.id WHERE run_id = $1
             AND kind = 'conversation' AND outcome IS NOT NULL
         GROUP BY c.id, c.position
         HAVING 1 <> count(*) FILTER (WHERE event -> 'event' -> 'started' IS NOT NULL)
             OR 1 <> count(*) FILTER (WHERE event -> 'event' -> 'finished' IS NOT NULL)
             OR max(seq) <> max(seq) FILTER (WHERE event -> 'event' -> 'finished' IS NOT NULL)",
    ),
    (
        "every task has events",
        "SELECT position FROM tasks c
         WHERE run_id = $1 AND NOT EXISTS (SELECT FROM events WHERE task_id = c.id)",
    ),
    (
        "what was counted is what is there",
        "SELECT 0 FROM (SELECT outcome, superseded, sum(tasks) AS n FROM tallies WHERE run_id = $1 GROUP BY 1, 2) t
         FULL JOIN (SELECT coalesce(blame, outcome) AS outcome, superseded, count(*) AS n FROM tasks
                    WHERE run_id = $1 GROUP BY 1, 2) c USING (outcome, superseded)
         WHERE coalesce(t.n, 0) <> coalesce(c.n, 0)",
    ),
    (
        "what is noted of tools is what was called",
        "SELECT c.position FROM tasks c CROSS JOIN LATERAL (
             SELECT event -> 'event' -> 'tool_answered' AS call FROM events e
             WHERE task_id = id AND event -> 'event' -> 'tool_answered' IS NOT NULL AND NOT EXISTS (
                 SELECT FROM events u, json_array_elements(u.event -> 'event' -> 'user_acted' -> 'tool_calls') AS own
                 WHERE u.task_id = id AND u.event -> 'event' -> 'user_acted' IS NOT NULL
                   AND own ->> 'id' = e.event -> 'event' -> 'tool_answered' ->> 'call_id')
         ) AS answered WHERE run_id = $1 AND kind = 'conversation'
         GROUP BY c.id, c.position
         HAVING tool_calls <> count(*)
             OR tools <> coalesce(array_agg(DISTINCT call ->> 'tool' COLLATE \"C\" ORDER BY call ->> 'tool' COLLATE \"C\")
                                      FILTER (WHERE call ->> 'answer' <> 'unknown_tool'), '{}')",
    ),
    (
        "scores are those of the verdict",
        "SELECT c.position FROM tasks c JOIN verdicts ON conversation_id = c.id
         WHERE run_id = $1 AND verdict IS NOT NULL
           AND scores <> ARRAY(SELECT (score ->> 'score')::smallint FROM jsonb_array_elements(verdict -> 'scores') AS score)",
    ),
    (
        "no request is left of a task that has ended",
        "SELECT position FROM requests JOIN tasks ON id = task_id WHERE requests.run_id = $1 AND outcome IS NOT NULL",
    ),
    ("nothing is claimed any more", "SELECT first_position FROM claims WHERE run_id = $1"),
    // A run of episodes has no end of its own.
    ("it has ended", "SELECT 0 FROM runs WHERE id = $1 AND finished_at IS NULL AND kind <> 'episodes'"),
];

/// The rule of all events and verdicts, whose run nobody knows when their task is gone.
const NO_ORPHANS: &str = "no event and no verdict is an orphan";

/// A rule that is broken, and some of the positions.
pub type Broken = (&'static str, Vec<i32>);

/// The rules that are broken in a run, or by an orphan of any run.
pub async fn broken(db: &mut PgConnection, run: Uuid) -> Result<Vec<Broken>> {
    let mut broken = broken_in(&mut *db, run).await?;
    broken.extend(broken_by_orphans(db).await?);
    Ok(broken)
}

/// The rules that are broken in a run. Whoever asks this of many runs asks for orphans once, because that reads all events.
pub async fn broken_in(db: &mut PgConnection, run: Uuid) -> Result<Vec<Broken>> {
    let mut broken = Vec::new();
    for (rule, query) in RULES {
        let query = format!("{query} LIMIT 10");
        let at: Vec<i32> = sqlx::query_scalar(sqlx::AssertSqlSafe(query)).bind(run).fetch_all(&mut *db).await?;
        if !at.is_empty() {
            broken.push((rule, at));
        }
    }
    Ok(broken)
}

/// The rule that no event and no verdict is left of a task that is gone, if it is broken. Orphans have no position.
pub async fn broken_by_orphans(db: &mut PgConnection) -> Result<Option<Broken>> {
    let found: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM events WHERE NOT EXISTS (SELECT FROM tasks WHERE id = task_id))
             OR EXISTS (SELECT FROM verdicts WHERE NOT EXISTS (SELECT FROM tasks WHERE id = conversation_id))",
    )
    .fetch_one(db)
    .await?;
    Ok(found.then_some((NO_ORPHANS, Vec::new())))
}
