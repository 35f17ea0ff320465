//! Conversations, as a corpus is selected from them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use chrono::{DateTime, Utc};
use domain::filter::{JudgingChoice, ReviewFlags, Status};
use domain::outcome::Blame;
use domain::reward::{SolveRate, reward};
use domain::verdict::{Verdict, Verification};
use futures::TryStreamExt;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use crate::conversations::outcome;
use crate::{BadRow, Result};

/// A run whose conversations are read, and the judging whose verdicts count.
pub struct SourceRun {
    pub run: Uuid,
    pub library: String,
    /// `None` if it was never judged as it is asked for.
    pub judging: Option<Uuid>,
    pub original: bool,
    /// Who plays it and judges here, as filters name them.
    pub models: Vec<String>,
}

/// The runs of conversations of a project, or these of them, the oldest first.
pub async fn runs(
    db: &mut PgConnection,
    project: Uuid,
    only: Option<&[Uuid]>,
    whose: &JudgingChoice,
) -> Result<Vec<SourceRun>> {
    let one = match whose {
        JudgingChoice::Judging(id) => id.parse::<Uuid>().ok(),
        JudgingChoice::Own | JudgingChoice::Latest => None,
    };
    let rows = sqlx::query_as!(
        SourceRun,
        r#"SELECT r.id AS run, r.library, j.id AS "judging?", coalesce(j.original, false) AS "original!",
                  models_of(r.spec, coalesce(j.models, '[]')) AS "models!"
           FROM runs r LEFT JOIN LATERAL (
               SELECT id, original, models FROM judgings
               WHERE run_id = r.id AND CASE $3 WHEN 'own' THEN original WHEN 'latest' THEN true ELSE id = $4 END
               ORDER BY created_at DESC, id DESC LIMIT 1) j ON true
           WHERE r.project_id = $1 AND r.kind IN ('conversations', 'episodes') AND ($2::uuid[] IS NULL OR r.id = ANY($2))
           ORDER BY r.created_at, r.id"#,
        project,
        only,
        String::from(whose.clone()),
        one
    );
    Ok(rows.fetch_all(db).await?)
}

/// How many conversations of a project have ended; of each position the last attempt.
pub async fn ended(db: &mut PgConnection, project: Uuid) -> Result<i64> {
    let count = sqlx::query_scalar!(
        r#"SELECT coalesce(sum(tasks), 0)::bigint AS "count!" FROM tallies JOIN runs ON runs.id = run_id
           WHERE project_id = $1 AND runs.kind IN ('conversations', 'episodes') AND NOT superseded"#,
        project
    );
    Ok(count.fetch_one(db).await?)
}

/// A conversation that has ended, as one judging sees it.
pub struct EndedConversation {
    pub id: Uuid,
    pub position: i32,
    pub scenario: String,
    pub persona: String,
    pub complexity: String,
    pub status: Status,
    pub blame: Option<Blame>,
    /// Only if it is asked for.
    pub reason: Option<String>,
    pub finished_at: Option<DateTime<Utc>>,
    pub ending: Option<String>,
    pub turns: Option<u32>,
    pub overall: Option<u8>,
    pub goal_achieved: Option<bool>,
    /// With scores and panel; only if it is asked for.
    pub verdict: Option<Verdict>,
    /// What the verifier found when it was judged again.
    pub verified: Option<bool>,
    pub reviewed: ReviewFlags,
}

/// Long columns, which are read only if a filter needs them.
#[derive(Debug, Clone, Copy)]
pub struct LongColumns {
    pub scores: bool,
    pub reasons: bool,
}

/// Hands over what has ended in a run, in order, until it is told to stop.
pub async fn conversations(
    db: &mut PgConnection,
    looked: &SourceRun,
    long: LongColumns,
    mut hear: impl FnMut(EndedConversation) -> ControlFlow<()>,
) -> Result<()> {
    let mut rows = sqlx::query_as!(
        Row,
        r#"SELECT c.id, c.position, c.scenario AS "scenario!", c.persona AS "persona!", c.complexity AS "complexity!", c.outcome, c.blame, c.ending, c.user_turns,
                  c.finished_at, CASE WHEN $4 THEN c.reason END AS reason, v.outcome AS "judged?",
                  v.blame AS "judged_blame?", CASE WHEN $4 THEN v.reason END AS "judged_reason?", v.overall AS "overall?",
                  v.goal_achieved AS "goal_achieved?",
                  CASE WHEN $3 THEN v.verdict END AS "verdict?: Json<Verdict>",
                  v.verification AS "verification?: Json<Verification>", coalesce(o.rated, false) AS "rated!",
                  coalesce(o.annotated, false) AS "annotated!", coalesce(o.corrected, false) AS "corrected!"
           FROM tasks c LEFT JOIN verdicts v ON v.conversation_id = c.id AND v.judging_id = $2
               LEFT JOIN reviewed_conversations o ON o.conversation_id = c.id
           WHERE c.run_id = $1 AND c.outcome IS NOT NULL AND NOT c.superseded ORDER BY c.position"#,
        looked.run,
        looked.judging,
        long.scores,
        long.reasons
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        if hear(row.found(looked.original)?).is_break() {
            break;
        }
    }
    Ok(())
}

struct Row {
    id: Uuid,
    position: i32,
    scenario: String,
    persona: String,
    complexity: String,
    outcome: Option<String>,
    blame: Option<String>,
    ending: Option<String>,
    user_turns: Option<i32>,
    finished_at: Option<DateTime<Utc>>,
    reason: Option<String>,
    judged: Option<String>,
    judged_blame: Option<String>,
    judged_reason: Option<String>,
    overall: Option<i16>,
    goal_achieved: Option<bool>,
    verdict: Option<Json<Verdict>>,
    verification: Option<Json<Verification>>,
    rated: bool,
    annotated: bool,
    corrected: bool,
}

impl Row {
    fn found(self, original: bool) -> Result<EndedConversation> {
        let (status, blame, reason) = match (&self.judged, original) {
            // The judging has not come to it yet, or never will.
            (None, false) if self.ending.is_some() => (Status::Unfinished, None, None),
            (None, _) | (_, true) => {
                let (status, blame) = ended_as(self.id, self.outcome.as_deref(), self.blame.as_deref())?;
                (status, blame, self.reason)
            }
            (Some(judged), false) => {
                let (status, blame) = ended_as(self.id, Some(judged), self.judged_blame.as_deref())?;
                (status, blame, self.judged_reason)
            }
        };
        let score = |score: i16| {
            u8::try_from(score).map_err(|_| BadRow {
                table: "verdicts",
                column: "overall",
                row: self.id.to_string(),
                reason: format!("{score} is no score"),
            })
        };
        Ok(EndedConversation {
            id: self.id,
            position: self.position,
            scenario: self.scenario,
            persona: self.persona,
            complexity: self.complexity,
            status,
            blame,
            reason,
            finished_at: self.finished_at,
            ending: self.ending,
            turns: self.user_turns.and_then(|turns| u32::try_from(turns).ok()),
            overall: self.overall.map(score).transpose()?,
            goal_achieved: self.goal_achieved,
            verdict: self.verdict.map(|verdict| verdict.0),
            verified: self.verification.map(|verification| verification.passed()),
            reviewed: ReviewFlags { rated: self.rated, annotated: self.annotated, corrected: self.corrected },
        })
    }
}

fn ended_as(id: Uuid, name: Option<&str>, blame: Option<&str>) -> Result<(Status, Option<Blame>)> {
    use domain::outcome::Outcome;
    Ok(match outcome("conversations", id, name, blame, None)? {
        None => (Status::Unfinished, None),
        Some(Outcome::Accepted) => (Status::Accepted, None),
        Some(Outcome::Failed { blame, .. }) => (Status::Failed, Some(blame)),
    })
}

/// By scenario, the share of the rewards of its conversations that are 1, as one judging sees them.
pub async fn solve_rates(db: &mut PgConnection, looked: &SourceRun) -> Result<HashMap<String, f64>> {
    let rows = sqlx::query!(
        r#"WITH seen AS (
               SELECT c.scenario, $3 OR (v.outcome IS NULL AND c.ending IS NULL) AS own, c.outcome, c.blame, c.verified,
                      v.outcome AS judged, v.blame AS judged_blame, v.verified AS judged_verified
               FROM tasks c LEFT JOIN verdicts v ON v.conversation_id = c.id AND v.judging_id = $2
               WHERE c.run_id = $1 AND c.outcome IS NOT NULL AND NOT c.superseded)
           SELECT scenario AS "scenario!", CASE WHEN own THEN outcome ELSE judged END AS outcome,
                  CASE WHEN own THEN blame ELSE judged_blame END AS blame,
                  coalesce(CASE WHEN own THEN verified ELSE judged_verified END, false) AS "verified!", count(*) AS "n!"
           FROM seen GROUP BY 1, 2, 3, 4"#,
        looked.run,
        looked.judging,
        looked.original
    );
    let mut rates: HashMap<String, SolveRate> = HashMap::new();
    for row in rows.fetch_all(db).await? {
        let (status, blame) = ended_as(looked.run, row.outcome.as_deref(), row.blame.as_deref())?;
        if status != Status::Unfinished {
            let conversations = usize::try_from(row.n).unwrap_or_default();
            rates.entry(row.scenario).or_default().add(reward(blame, row.verified), conversations);
        }
    }
    Ok(rates.into_iter().filter_map(|(scenario, rate)| Some((scenario, rate.share()?))).collect())
}

/// The events of several conversations, as they are kept: those of one are together and in order.
pub async fn events(db: &mut PgConnection, of: &[Uuid]) -> Result<Vec<(Uuid, String)>> {
    let rows = sqlx::query!(
        r#"SELECT task_id, event::text AS "event!" FROM events WHERE task_id = ANY($1) ORDER BY task_id, seq"#,
        of
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.task_id, row.event)).collect())
}
