//! Conversations: planned with their run, finished once.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::api::ConversationSummary;
use domain::outcome::Outcome;
use sqlx::PgConnection;
use uuid::Uuid;

use super::tasks::{ConversationPlan, PlannedTask};
use super::{BadRow, Result};

/// A conversation as it is planned.
#[derive(Debug, Clone)]
pub struct PlannedConversation {
    pub id: Uuid,
    pub position: i32,
    pub scenario: String,
    pub repeat: i32,
    pub persona: String,
    pub complexity: String,
    /// From 1; more if somebody else than the agent spoiled the ones before.
    pub attempt: i32,
}

impl From<PlannedConversation> for PlannedTask {
    fn from(planned: PlannedConversation) -> Self {
        let PlannedConversation { id, position, scenario, repeat, persona, complexity, attempt } = planned;
        Self { id, position, attempt, conversation: Some(ConversationPlan { scenario, repeat, persona, complexity }) }
    }
}

impl PlannedConversation {
    /// `None` if the task is no conversation.
    pub fn of_task(task: &PlannedTask) -> Option<Self> {
        let ConversationPlan { scenario, repeat, persona, complexity } = task.conversation.clone()?;
        Some(Self {
            id: task.id,
            position: task.position,
            scenario,
            repeat,
            persona,
            complexity,
            attempt: task.attempt,
        })
    }
}

/// What has ended, in order: of each position the last attempt.
pub async fn finished(db: &mut PgConnection, run: Uuid) -> Result<Vec<PlannedConversation>> {
    let ended = sqlx::query_as!(
        PlannedConversation,
        r#"SELECT id, position, scenario AS "scenario!", repeat AS "repeat!", persona AS "persona!",
                  complexity AS "complexity!", attempt FROM tasks
         WHERE run_id = $1 AND kind = 'conversation' AND outcome IS NOT NULL AND NOT superseded ORDER BY position"#,
        run
    );
    Ok(ended.fetch_all(db).await?)
}

/// What came to an end that a judge can look at, in order: of each position the last attempt.
pub async fn ended(db: &mut PgConnection, run: Uuid) -> Result<Vec<PlannedConversation>> {
    let ended = sqlx::query_as!(
        PlannedConversation,
        r#"SELECT id, position, scenario AS "scenario!", repeat AS "repeat!", persona AS "persona!",
                  complexity AS "complexity!", attempt FROM tasks
         WHERE run_id = $1 AND kind = 'conversation' AND outcome IS NOT NULL AND NOT superseded
           AND ending IS NOT NULL
         ORDER BY position"#,
        run
    );
    Ok(ended.fetch_all(db).await?)
}

/// How one conversation was planned, and its run.
pub async fn planned(db: &mut PgConnection, id: Uuid) -> Result<Option<(Uuid, PlannedConversation)>> {
    let row = sqlx::query!(
        r#"SELECT run_id, id, position, scenario AS "scenario!", repeat AS "repeat!", persona AS "persona!",
                  complexity AS "complexity!", attempt
           FROM tasks WHERE id = $1 AND kind = 'conversation'"#,
        id
    );
    Ok(row.fetch_optional(db).await?.map(|row| {
        let (position, scenario, repeat, attempt) = (row.position, row.scenario, row.repeat, row.attempt);
        let (persona, complexity) = (row.persona, row.complexity);
        (row.run_id, PlannedConversation { id: row.id, position, scenario, repeat, persona, complexity, attempt })
    }))
}

/// Of these, those of a project that have ended.
pub async fn ended_in_project(db: &mut PgConnection, project: Uuid, ids: &[Uuid]) -> Result<Vec<Uuid>> {
    let ended = sqlx::query_scalar!(
        "SELECT c.id FROM tasks c JOIN runs ON runs.id = c.run_id
         WHERE c.id = ANY($2) AND project_id = $1 AND outcome IS NOT NULL",
        project,
        ids
    );
    Ok(ended.fetch_all(db).await?)
}

/// What a corpus keeps, in order.
pub async fn of_corpus(db: &mut PgConnection, corpus: Uuid) -> Result<Vec<Uuid>> {
    let kept = sqlx::query_scalar!(
        "SELECT conversation_id FROM corpus_rows WHERE corpus_id = $1 AND split IS NOT NULL ORDER BY ordinal",
        corpus
    );
    Ok(kept.fetch_all(db).await?)
}

/// Some conversations as these judgings see them, in no particular order, each with its scores' names left out.
pub async fn some(db: &mut PgConnection, ids: &[Uuid], judgings: &[Uuid]) -> Result<Vec<(Uuid, ConversationSummary)>> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT c.id, c.run_id, c.position, c.scenario AS "scenario!", c.persona AS "persona!",
                  c.complexity AS "complexity!", c.ending, c.user_turns, c.tool_calls,
                  c.tools, c.finished_at,
                  CASE WHEN j.original OR c.ending IS NULL THEN c.outcome ELSE v.outcome END AS outcome,
                  CASE WHEN j.original OR c.ending IS NULL THEN c.blame ELSE v.blame END AS blame,
                  CASE WHEN j.original OR c.ending IS NULL THEN c.reason ELSE v.reason END AS reason,
                  CASE WHEN j.original THEN c.verified ELSE v.verified END AS verified,
                  v.overall AS "overall?", v.goal_achieved AS "goal_achieved?", v.weighted_mean AS "weighted_mean?",
                  v.agreement AS "agreement?",
                  (SELECT count(*) FROM events WHERE task_id = c.id) AS "events!"
           FROM tasks c JOIN judgings j ON j.run_id = c.run_id AND j.id = ANY($2)
                LEFT JOIN verdicts v ON v.conversation_id = c.id AND v.judging_id = j.id
           WHERE c.id = ANY($1)"#,
        ids,
        judgings
    )
    .fetch_all(db)
    .await?;
    rows.into_iter().map(|row| Ok((row.id, row.summary()?))).collect()
}

/// A conversation and the run it belongs to, as the run's own judging sees it.
pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<(Uuid, ConversationSummary)>> {
    let own = sqlx::query!(
        "SELECT j.id, j.run_id FROM judgings j JOIN tasks c ON c.run_id = j.run_id WHERE c.id = $1 AND original",
        id
    );
    let Some(own) = own.fetch_optional(&mut *db).await? else { return Ok(None) };
    let found = some(db, &[id], &[own.id]).await?.pop();
    Ok(found.map(|(_, summary)| (own.run_id, summary)))
}

struct Row {
    id: Uuid,
    run_id: Uuid,
    position: i32,
    scenario: String,
    persona: String,
    complexity: String,
    ending: Option<String>,
    user_turns: Option<i32>,
    tool_calls: Option<i32>,
    tools: Option<Vec<String>>,
    finished_at: Option<DateTime<Utc>>,
    outcome: Option<String>,
    blame: Option<String>,
    reason: Option<String>,
    verified: Option<bool>,
    overall: Option<i16>,
    goal_achieved: Option<bool>,
    weighted_mean: Option<f32>,
    agreement: Option<f32>,
    events: i64,
}

impl Row {
    fn summary(self) -> Result<ConversationSummary> {
        let outcome = outcome("conversations", self.id, self.outcome.as_deref(), self.blame.as_deref(), self.reason)?;
        Ok(ConversationSummary {
            id: self.id.to_string(),
            run_id: self.run_id.to_string(),
            position: self.position,
            scenario: self.scenario,
            persona: self.persona,
            complexity: self.complexity,
            outcome,
            overall: self.overall,
            scores: BTreeMap::new(),
            weighted_mean: self.weighted_mean,
            agreement: self.agreement,
            goal_achieved: self.goal_achieved,
            verified: self.verified,
            ending: self.ending,
            turns: self.user_turns,
            tool_calls: self.tool_calls,
            tools: self.tools.unwrap_or_default(),
            finished_at: self.finished_at,
            events: self.events,
        })
    }
}

/// An outcome as it is stored: name, blame, reason.
pub fn columns(outcome: &Outcome) -> (&'static str, Option<&'static str>, Option<&str>) {
    match outcome {
        Outcome::Accepted => ("accepted", None, None),
        Outcome::Failed { blame, reason } => ("failed", Some(blame.into_str()), Some(reason.as_str())),
    }
}

/// An outcome as it was stored.
pub fn outcome(
    table: &'static str,
    row: Uuid,
    name: Option<&str>,
    blame: Option<&str>,
    reason: Option<String>,
) -> Result<Option<Outcome>> {
    let name = match name {
        None => return Ok(None),
        Some("accepted") => return Ok(Some(Outcome::Accepted)),
        Some(_) => blame.unwrap_or_default(),
    };
    let blame = name.parse().map_err(|_| BadRow {
        table,
        column: "blame",
        row: row.to_string(),
        reason: format!("`{name}` is nobody"),
    })?;
    Ok(Some(Outcome::Failed { blame, reason: reason.unwrap_or_default() }))
}
