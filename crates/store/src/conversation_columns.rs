//! What lists, filters and statistics look at: narrow columns, read in bulk.

use chrono::{DateTime, Utc};
use futures::{Stream, TryStreamExt};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

/// What is read of a run, and how far the run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHead {
    pub run: Uuid,
    /// Whose verdicts count, and whether they are the run's own.
    pub judging: Uuid,
    pub own: bool,
    pub library: String,
    pub playbook: String,
    /// Who plays it and judges here, as filters name them: `NAME` of the agent under test, and `ROLE:NAME` of each role.
    pub models: Vec<String>,
    /// Positions from here on have not begun.
    pub next_position: i32,
    pub finished: bool,
    /// How often failures were played again on request.
    pub retried: i32,
    /// Grows with what people do about its conversations.
    pub reviews: i64,
}

/// Runs of a project, newest first, each with its own judging. Of `only` those that are the project's; all if it names
/// none.
pub async fn of_project(db: &mut PgConnection, project: Uuid, only: &[Uuid]) -> Result<Vec<RunHead>> {
    let heads = sqlx::query_as!(
        RunHead,
        r#"SELECT r.id AS run, j.id AS judging, true AS "own!", r.library, playbook,
                  models_of(r.spec, j.models) AS "models!", next_position, finished_at IS NOT NULL AS "finished!", retried,
                  (SELECT coalesce(sum(change), 0)::bigint FROM reviewed_conversations WHERE run_id = r.id) AS "reviews!"
           FROM runs r JOIN judgings j ON j.run_id = r.id AND original
           WHERE project_id = $1 AND (cardinality($2::uuid[]) = 0 OR r.id = ANY($2))
           ORDER BY r.created_at DESC, r.id DESC"#,
        project,
        only
    );
    Ok(heads.fetch_all(db).await?)
}

/// The run of a judging.
pub async fn run_of(db: &mut PgConnection, judging: Uuid) -> Result<Option<Uuid>> {
    Ok(sqlx::query_scalar!("SELECT run_id FROM judgings WHERE id = $1", judging).fetch_optional(db).await?)
}

/// The run and the position of a conversation.
pub async fn place_of(db: &mut PgConnection, conversation: Uuid) -> Result<Option<(Uuid, i32)>> {
    let place = sqlx::query!("SELECT run_id, position FROM tasks WHERE id = $1", conversation);
    Ok(place.fetch_optional(db).await?.map(|row| (row.run_id, row.position)))
}

/// A row that a corpus kept.
pub struct CorpusRow {
    pub run: Uuid,
    pub position: i32,
    pub golden: bool,
}

/// What a corpus kept, by run.
pub async fn corpus_rows(db: &mut PgConnection, corpus: Uuid) -> Result<Vec<CorpusRow>> {
    let rows = sqlx::query_as!(
        CorpusRow,
        r#"SELECT c.run_id AS run, c.position, r.split = 'golden' AS "golden!"
           FROM corpus_rows r JOIN tasks c ON c.id = r.conversation_id
           WHERE corpus_id = $1 AND split IS NOT NULL ORDER BY c.run_id, c.position"#,
        corpus
    );
    Ok(rows.fetch_all(db).await?)
}

/// Whose verdicts a corpus was selected by, as its filter names them, and whether it is ready.
pub async fn selected_by(db: &mut PgConnection, corpus: Uuid) -> Result<Option<(Option<String>, bool)>> {
    let row = sqlx::query!(
        r#"SELECT spec -> 'filter' ->> 'judging' AS judging, manifest_hash IS NOT NULL AS "ready!" FROM corpora WHERE id = $1"#,
        corpus
    );
    Ok(row.fetch_optional(db).await?.map(|row| (row.judging, row.ready)))
}

/// From here on the transaction sees one moment.
pub async fn read_one_snapshot(db: &mut PgConnection) -> Result<()> {
    sqlx::query!("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").execute(db).await?;
    Ok(())
}

/// One run as a judging sees it. `None` if the judging is not the run's.
pub async fn of_judging(db: &mut PgConnection, run: Uuid, judging: Uuid) -> Result<Option<RunHead>> {
    let head = sqlx::query_as!(
        RunHead,
        r#"SELECT r.id AS run, j.id AS judging, original AS "own!", r.library, playbook,
                  models_of(r.spec, j.models) AS "models!", next_position, finished_at IS NOT NULL AS "finished!", retried,
                  (SELECT coalesce(sum(change), 0)::bigint FROM reviewed_conversations WHERE run_id = r.id) AS "reviews!"
           FROM runs r JOIN judgings j ON j.run_id = r.id WHERE r.id = $1 AND j.id = $2"#,
        run,
        judging
    );
    Ok(head.fetch_optional(db).await?)
}

/// Positions of a run whose conversations may still change: first and last of each claim, and those that wait for somebody
/// outside.
pub async fn open_positions(db: &mut PgConnection, run: Uuid) -> Result<Vec<(i32, i32)>> {
    let open = sqlx::query!(
        r#"SELECT first_position AS "first!", last_position AS "last!" FROM claims WHERE run_id = $1
           UNION ALL SELECT position, position FROM tasks WHERE id IN (SELECT task_id FROM requests WHERE run_id = $1)"#,
        run
    );
    Ok(open.fetch_all(db).await?.into_iter().map(|open| (open.first, open.last)).collect())
}

/// A conversation that counts, as it was played.
pub struct PlayedColumns {
    pub id: Uuid,
    pub position: i32,
    pub scenario: String,
    pub repeat: i32,
    pub persona: String,
    pub complexity: String,
    pub outcome: Option<String>,
    pub blame: Option<String>,
    pub reason: Option<String>,
    pub finished_at: Option<DateTime<Utc>>,
    pub ending: Option<String>,
    pub user_turns: Option<i32>,
    pub verified: Option<bool>,
    pub tool_calls: Option<i32>,
    pub tools: Option<Vec<String>>,
}

/// All conversations of a run, in no particular order.
pub fn played(db: &mut PgConnection, run: Uuid) -> impl Stream<Item = Result<PlayedColumns>> + '_ {
    let rows = sqlx::query_as!(
        PlayedColumns,
        r#"SELECT id, position, scenario AS "scenario!", repeat AS "repeat!", persona AS "persona!", complexity AS "complexity!", outcome, blame, reason, finished_at, ending, user_turns,
                verified, tool_calls, tools
         FROM tasks WHERE run_id = $1 AND NOT superseded"#,
        run
    );
    rows.fetch(db).map_err(Into::into)
}

/// Those at some positions.
pub async fn played_at(db: &mut PgConnection, run: Uuid, positions: &[i32]) -> Result<Vec<PlayedColumns>> {
    let rows = sqlx::query_as!(
        PlayedColumns,
        r#"SELECT id, position, scenario AS "scenario!", repeat AS "repeat!", persona AS "persona!", complexity AS "complexity!", outcome, blame, reason, finished_at, ending, user_turns,
                verified, tool_calls, tools
         FROM tasks WHERE run_id = $1 AND position = ANY($2) AND NOT superseded"#,
        run,
        positions
    );
    Ok(rows.fetch_all(db).await?)
}

/// A conversation that people did something about, and what.
pub struct ReviewColumns {
    pub position: i32,
    pub conversation_id: Uuid,
    pub rated: bool,
    pub annotated: bool,
    pub corrected: bool,
}

/// All of a run that people did anything about; among them attempts that do not count.
pub async fn reviews(db: &mut PgConnection, run: Uuid) -> Result<Vec<ReviewColumns>> {
    let rows = sqlx::query_as!(
        ReviewColumns,
        "SELECT position, conversation_id, rated, annotated, corrected
         FROM reviewed_conversations o JOIN tasks c ON c.id = conversation_id WHERE o.run_id = $1",
        run
    );
    Ok(rows.fetch_all(db).await?)
}

/// What a judging says of a conversation.
pub struct VerdictColumns {
    pub conversation_id: Uuid,
    pub judge_version: String,
    pub outcome: String,
    pub blame: Option<String>,
    pub reason: Option<String>,
    pub overall: Option<i16>,
    pub goal_achieved: Option<bool>,
    /// In the order of the criteria of that version of the judge.
    pub scores: Option<Vec<i16>>,
    pub weighted_mean: Option<f32>,
    pub agreement: Option<f32>,
    /// Only of what was judged again.
    pub verified: Option<bool>,
}

/// All that a judging says.
pub fn verdicts(db: &mut PgConnection, judging: Uuid) -> impl Stream<Item = Result<VerdictColumns>> + '_ {
    let rows = sqlx::query_as!(
        VerdictColumns,
        "SELECT conversation_id, judge_version, outcome, blame, reason, overall, goal_achieved, scores, weighted_mean,
                agreement, verified
         FROM verdicts WHERE judging_id = $1",
        judging
    );
    rows.fetch(db).map_err(Into::into)
}

/// What it says of some conversations.
pub async fn verdicts_of(db: &mut PgConnection, judging: Uuid, conversations: &[Uuid]) -> Result<Vec<VerdictColumns>> {
    let rows = sqlx::query_as!(
        VerdictColumns,
        "SELECT conversation_id, judge_version, outcome, blame, reason, overall, goal_achieved, scores, weighted_mean,
                agreement, verified
         FROM verdicts WHERE judging_id = $1 AND conversation_id = ANY($2)",
        judging,
        conversations
    );
    Ok(rows.fetch_all(db).await?)
}

/// The version of a judge that a judging has a verdict of, and a conversation that it is of. `None` if it has none.
pub async fn any_verdict(db: &mut PgConnection, judging: Uuid) -> Result<Option<(String, Uuid)>> {
    let any = sqlx::query!(
        "SELECT judge_version, conversation_id FROM verdicts WHERE judging_id = $1 AND scores IS NOT NULL LIMIT 1",
        judging
    );
    Ok(any.fetch_optional(db).await?.map(|row| (row.judge_version, row.conversation_id)))
}

/// The criteria that a judging's scores of a conversation are of, in their order.
pub async fn criteria(db: &mut PgConnection, judging: Uuid, conversation: Uuid) -> Result<Vec<String>> {
    let names = sqlx::query_scalar!(
        r#"SELECT score ->> 'criterion' AS "criterion!"
           FROM verdicts CROSS JOIN LATERAL jsonb_array_elements(verdict -> 'scores') WITH ORDINALITY AS s (score, n)
           WHERE judging_id = $1 AND conversation_id = $2 ORDER BY n"#,
        judging,
        conversation
    );
    Ok(names.fetch_all(db).await?)
}

/// Tells whether a judging that goes on has said more. Not cheap: it looks at each of its verdicts.
pub async fn verdict_counts(db: &mut PgConnection, judging: Uuid) -> Result<(i64, i64)> {
    let said = sqlx::query!(
        r#"SELECT count(*) AS "verdicts!", count(overall) AS "scores!" FROM verdicts WHERE judging_id = $1"#,
        judging
    );
    let said = said.fetch_one(db).await?;
    Ok((said.verdicts, said.scores))
}
