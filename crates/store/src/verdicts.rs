//! What judges said, as a conversation was played and whenever it was judged again.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::api::VerdictSummary;
use domain::outcome::Outcome;
use domain::verdict::{Verdict, Verification};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::conversations::{columns, outcome};
use super::{BadRow, Result};

/// The verdict of one judging on one conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredVerdict {
    pub judge: String,
    pub judge_version: String,
    /// `None` if the judge failed; the outcome then blames it.
    pub verdict: Option<Verdict>,
    /// What the verifier found when it was judged again; in a run's own judging it stands in the events.
    pub verification: Option<Verification>,
    pub outcome: Outcome,
}

/// Keeps what a judging says, in place of a judge's failure.
pub async fn insert(
    db: &mut PgConnection,
    judging: Uuid,
    conversation: Uuid,
    judged: &StoredVerdict,
    now: DateTime<Utc>,
) -> Result<()> {
    let verdict = judged.verdict.as_ref();
    let body = verdict.map(serde_json::to_value).transpose().map_err(|e| bad(conversation, &e))?;
    let checked =
        judged.verification.as_ref().map(serde_json::to_value).transpose().map_err(|e| bad(conversation, &e))?;
    let (name, blame, reason) = columns(&judged.outcome);
    let scores = verdict.map(scores);
    sqlx::query!(
        "INSERT INTO verdicts (conversation_id, judging_id, judge, judge_version, overall, goal_achieved, verdict,
                               verification, outcome, blame, reason, created_at, scores, weighted_mean, agreement, verified)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
         ON CONFLICT (conversation_id, judging_id) DO UPDATE SET
             judge = EXCLUDED.judge, judge_version = EXCLUDED.judge_version, overall = EXCLUDED.overall,
             goal_achieved = EXCLUDED.goal_achieved, verdict = EXCLUDED.verdict, verification = EXCLUDED.verification,
             outcome = EXCLUDED.outcome, blame = EXCLUDED.blame, reason = EXCLUDED.reason,
             created_at = EXCLUDED.created_at, scores = EXCLUDED.scores, weighted_mean = EXCLUDED.weighted_mean,
             agreement = EXCLUDED.agreement, verified = EXCLUDED.verified
         WHERE verdicts.verdict IS NULL",
        conversation,
        judging,
        judged.judge,
        judged.judge_version,
        verdict.map(|v| i16::from(v.overall)),
        verdict.map(|v| v.goal_achieved),
        body,
        checked,
        name,
        blame,
        reason,
        now,
        scores.as_deref(),
        verdict.map(weighted_mean),
        verdict.and_then(agreement),
        judged.verification.as_ref().map(Verification::passed)
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Scores in the order of the judge's criteria.
pub(super) fn scores(verdict: &Verdict) -> Vec<i16> {
    verdict.scores.iter().map(|score| score.score.into()).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "a mean of two decimals")]
pub(super) fn weighted_mean(verdict: &Verdict) -> f32 {
    verdict.weighted_mean as f32
}

#[expect(clippy::cast_possible_truncation, reason = "what a panel agrees to is no matter of seven digits")]
pub(super) fn agreement(verdict: &Verdict) -> Option<f32> {
    verdict.agreement().map(|agreement| agreement as f32)
}

/// All that a judging says, by conversation; of each position the last attempt.
pub async fn of(db: &mut PgConnection, judging: Uuid) -> Result<BTreeMap<Uuid, StoredVerdict>> {
    let rows = sqlx::query!(
        r#"SELECT c.id, judge, judge_version, verdict, verification, v.outcome, v.blame, v.reason
           FROM verdicts v JOIN tasks c ON c.id = conversation_id
           WHERE judging_id = $1 AND NOT superseded"#,
        judging
    )
    .fetch_all(db)
    .await?;
    let mut all = BTreeMap::new();
    for row in rows {
        let wrong = |e: serde_json::Error| bad(row.id, &e);
        let verdict = row.verdict.map(serde_json::from_value).transpose().map_err(wrong)?;
        let verification = row.verification.map(serde_json::from_value).transpose().map_err(wrong)?;
        let outcome = outcome("verdicts", row.id, Some(&row.outcome), row.blame.as_deref(), row.reason)?;
        let Some(outcome) = outcome else { continue };
        let (judge, judge_version) = (row.judge, row.judge_version);
        all.insert(row.id, StoredVerdict { judge, judge_version, verdict, verification, outcome });
    }
    Ok(all)
}

/// What a judging says of the conversations after a position, in order.
pub async fn page(db: &mut PgConnection, judging: Uuid, after: i32, limit: i64) -> Result<Vec<VerdictSummary>> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT judging_id, c.id, position, judge, judge_version, models, verdict, v.outcome, v.blame, v.reason,
                v.created_at
         FROM judgings j JOIN tasks c ON c.run_id = j.run_id AND NOT superseded
              JOIN verdicts v ON v.conversation_id = c.id AND v.judging_id = j.id
         WHERE j.id = $1 AND position > $2 ORDER BY position LIMIT $3",
        judging,
        after,
        limit
    );
    rows.fetch_all(db).await?.into_iter().map(Row::summary).collect()
}

/// All that was ever said of one conversation, newest first.
pub async fn of_conversation(db: &mut PgConnection, conversation: Uuid) -> Result<Vec<VerdictSummary>> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT judging_id, c.id, position, judge, judge_version, models, verdict, v.outcome, v.blame, v.reason,
                v.created_at
         FROM verdicts v JOIN tasks c ON c.id = conversation_id JOIN judgings j ON j.id = judging_id
         WHERE c.id = $1 ORDER BY v.created_at DESC",
        conversation
    );
    rows.fetch_all(db).await?.into_iter().map(Row::summary).collect()
}

struct Row {
    judging_id: Uuid,
    id: Uuid,
    position: i32,
    judge: String,
    judge_version: String,
    models: Value,
    verdict: Option<Value>,
    outcome: String,
    blame: Option<String>,
    reason: Option<String>,
    created_at: DateTime<Utc>,
}

impl Row {
    fn summary(self) -> Result<VerdictSummary> {
        let outcome = outcome("verdicts", self.id, Some(&self.outcome), self.blame.as_deref(), self.reason)?;
        Ok(VerdictSummary {
            judging_id: self.judging_id.to_string(),
            conversation_id: self.id.to_string(),
            position: self.position,
            judge: self.judge,
            judge_version: self.judge_version,
            models: self
                .models
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|m| m.as_str().map(str::to_owned))
                .collect(),
            verdict: self.verdict.map(serde_json::from_value).transpose().map_err(|e| bad(self.id, &e))?,
            outcome: outcome.ok_or_else(|| bad(self.id, &"no outcome"))?,
            created_at: self.created_at,
        })
    }
}

/// Mean score of each criterion in a judging, in no particular order: of what was accepted or the agent's failure.
pub async fn means(db: &mut PgConnection, judging: Uuid) -> Result<Vec<(String, f64)>> {
    let rows = sqlx::query!(
        r#"SELECT score ->> 'criterion' AS "criterion!", avg((score ->> 'score')::float8) AS "mean!"
           FROM verdicts v JOIN tasks c ON c.id = conversation_id,
                jsonb_array_elements(verdict -> 'scores') AS score
           WHERE judging_id = $1 AND NOT superseded AND (v.blame IS NULL OR v.blame = 'agent') GROUP BY 1"#,
        judging
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| (row.criterion, row.mean)).collect())
}

/// What judges said of a conversation, by judging; the run's own is first.
pub async fn on(db: &mut PgConnection, conversation: Uuid) -> Result<Vec<(bool, Verdict)>> {
    let rows = sqlx::query!(
        r#"SELECT original, verdict AS "verdict!" FROM verdicts v JOIN judgings j ON j.id = v.judging_id
           WHERE conversation_id = $1 AND verdict IS NOT NULL ORDER BY original DESC, j.created_at"#,
        conversation
    );
    let read = |verdict| serde_json::from_value(verdict).map_err(|e| bad(conversation, &e));
    rows.fetch_all(db).await?.into_iter().map(|row| Ok((row.original, read(row.verdict)?))).collect()
}

/// The overall score of a conversation.
pub struct OverallScore {
    pub position: i32,
    pub id: Uuid,
    pub judge: String,
    pub judge_version: String,
    pub overall: i16,
}

/// Overall scores that a judging gave to the conversations after a position, in order.
pub async fn scored(db: &mut PgConnection, judging: Uuid, after: i32, limit: i64) -> Result<Vec<OverallScore>> {
    let rows = sqlx::query_as!(
        OverallScore,
        r#"SELECT position, c.id, judge, judge_version, overall AS "overall!"
           FROM judgings j JOIN tasks c ON c.run_id = j.run_id AND NOT superseded
                JOIN verdicts v ON v.conversation_id = c.id AND v.judging_id = j.id
           WHERE j.id = $1 AND position > $2 AND overall IS NOT NULL ORDER BY position LIMIT $3"#,
        judging,
        after,
        limit
    );
    Ok(rows.fetch_all(db).await?)
}

/// Overall scores of a judging, by conversation.
pub async fn overall(db: &mut PgConnection, judging: Uuid) -> Result<BTreeMap<Uuid, i16>> {
    let rows = sqlx::query!(
        r#"SELECT c.id, overall AS "overall!" FROM verdicts v JOIN tasks c ON c.id = v.conversation_id
           WHERE judging_id = $1 AND overall IS NOT NULL AND NOT superseded"#,
        judging
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.id, row.overall)).collect())
}

/// Overall scores that the judgings of their own runs gave to what a corpus keeps, by conversation.
pub async fn overall_in_corpus(db: &mut PgConnection, corpus: Uuid) -> Result<BTreeMap<Uuid, i16>> {
    let rows = sqlx::query!(
        r#"SELECT r.conversation_id, overall AS "overall!"
           FROM corpus_rows r JOIN judgings j ON j.run_id = r.run_id AND original
                JOIN verdicts v ON v.conversation_id = r.conversation_id AND v.judging_id = j.id
           WHERE corpus_id = $1 AND split IS NOT NULL AND overall IS NOT NULL"#,
        corpus
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.conversation_id, row.overall)).collect())
}

pub(super) fn bad(conversation: Uuid, reason: &impl ToString) -> BadRow {
    BadRow { table: "verdicts", column: "verdict", row: conversation.to_string(), reason: reason.to_string() }
}
