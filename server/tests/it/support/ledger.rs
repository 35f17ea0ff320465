//! The ledger of a run, by SQL: nothing lost, nothing doubled, every conversation ended once.

use sqlx::PgPool;
use uuid::Uuid;

/// Rows that break a rule, each rule with its query. `$1` is the run.
const RULES: [(&str, &str); 9] = [
    (
        "each position has one conversation that counts, and it has ended",
        "SELECT position FROM generate_series(0, (SELECT planned - 1 FROM runs WHERE id = $1)) AS position
         WHERE 1 <> (SELECT count(*) FROM conversations c WHERE run_id = $1 AND c.position = position.position
                     AND NOT superseded AND outcome IS NOT NULL)",
    ),
    (
        "attempts that do not count have ended, blaming somebody else than the agent",
        "SELECT position FROM conversations
         WHERE run_id = $1 AND superseded AND (outcome IS NULL OR blame IS NULL OR blame = 'agent')",
    ),
    (
        "attempts are numbered from 1, without gaps",
        "SELECT position FROM conversations WHERE run_id = $1 GROUP BY position
         HAVING max(attempt) <> count(*) OR count(DISTINCT attempt) <> count(*)",
    ),
    (
        "events have no gaps",
        "SELECT c.position FROM conversations c JOIN events e ON e.conversation_id = c.id WHERE run_id = $1
         GROUP BY c.id, c.position HAVING min(seq) <> 0 OR max(seq) <> count(*) - 1",
    ),
    (
        "each conversation begins once and ends once, with its last event",
        "SELECT c.position FROM conversations c JOIN events e ON e.conversation_id = c.id WHERE run_id = $1
         GROUP BY c.id, c.position
         HAVING 1 <> count(*) FILTER (WHERE event -> 'event' -> 'started' IS NOT NULL)
             OR 1 <> count(*) FILTER (WHERE event -> 'event' -> 'finished' IS NOT NULL)
             OR max(seq) <> max(seq) FILTER (WHERE event -> 'event' -> 'finished' IS NOT NULL)",
    ),
    (
        "every conversation has events",
        "SELECT position FROM conversations c
         WHERE run_id = $1 AND NOT EXISTS (SELECT FROM events WHERE conversation_id = c.id)",
    ),
    (
        "no event and no verdict is an orphan",
        "SELECT 0 FROM events WHERE $1::uuid IS NOT NULL AND conversation_id NOT IN (SELECT id FROM conversations)
         UNION ALL SELECT 0 FROM verdicts WHERE conversation_id NOT IN (SELECT id FROM conversations)",
    ),
    (
        "what was counted is what is there",
        "SELECT 0 FROM (SELECT outcome, superseded, sum(conversations) AS n FROM tallies WHERE run_id = $1 GROUP BY 1, 2) t
         FULL JOIN (SELECT coalesce(blame, outcome) AS outcome, superseded, count(*) AS n FROM conversations
                    WHERE run_id = $1 GROUP BY 1, 2) c USING (outcome, superseded)
         WHERE coalesce(t.n, 0) <> coalesce(c.n, 0)",
    ),
    ("nothing is claimed any more", "SELECT first_position FROM claims WHERE run_id = $1"),
];

/// Checks a run that has ended.
pub async fn check(pool: &PgPool, run: Uuid) {
    for (rule, query) in RULES {
        let broken: Vec<i32> = sqlx::query_scalar(query).bind(run).fetch_all(pool).await.unwrap();
        assert!(broken.is_empty(), "{rule}: {broken:?}");
    }
    let ended: bool =
        sqlx::query_scalar("SELECT finished_at IS NOT NULL FROM runs WHERE id = $1").bind(run).fetch_one(pool).await.unwrap();
    assert!(ended, "the run has not ended");
}
