//! What rows are made of: conversations with their events and what a judging says of them, many at a time.

use std::collections::HashMap;

use domain::correction::Correction;
use domain::outcome::Outcome;
use domain::verdict::{Verdict, Verification};
use sqlx::PgConnection;
use uuid::Uuid;

use super::conversations::outcome;
use super::{BadRow, Result, corrections, verdicts};

/// A conversation that may become a row, and whose verdict counts for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCandidate {
    pub id: Uuid,
    /// Place in what it was selected from.
    pub index: i32,
    pub judging: Uuid,
    /// Whether that is the run's own judging, made while it was played: its verdicts stand in the events.
    pub original: bool,
}

pub struct Material {
    pub id: Uuid,
    pub run: Uuid,
    pub index: i32,
    pub position: i32,
    pub scenario: String,
    pub repeat: i32,
    pub attempt: i32,
    /// How it ended when it was played.
    pub outcome: Outcome,
    /// Whether the judging that counts is the run's own.
    pub original: bool,
    pub said: Option<JudgingResult>,
    /// As they were written, a line each. `None` if it was not accepted and only what was is asked for.
    pub events: Option<String>,
    /// All versions of what people wrote over the agent's turns.
    pub corrections: Vec<Correction>,
}

/// What a judging says.
pub struct JudgingResult {
    pub judge: String,
    pub judge_version: String,
    pub outcome: Outcome,
    /// Whether there is a verdict: the judge may have failed.
    pub judged: bool,
    /// Both only of later judgings: those of the run's own stand in the events.
    pub verdict: Option<Verdict>,
    pub verification: Option<Verification>,
}

/// The conversations of a run that have ended, after a position: of each position the last attempt.
pub async fn of_run(
    db: &mut PgConnection,
    run: Uuid,
    judging: (Uuid, bool),
    after: i32,
    limit: i64,
) -> Result<Vec<RowCandidate>> {
    let rows = sqlx::query!(
        "SELECT id, position FROM tasks
         WHERE run_id = $1 AND position > $2 AND outcome IS NOT NULL AND NOT superseded ORDER BY position LIMIT $3",
        run,
        after,
        limit
    )
    .fetch_all(db)
    .await?;
    let (judging, original) = judging;
    Ok(rows.into_iter().map(|row| RowCandidate { id: row.id, index: row.position, judging, original }).collect())
}

/// How many conversations of a run have ended.
pub async fn count_of_run(db: &mut PgConnection, run: Uuid) -> Result<i64> {
    let count = sqlx::query_scalar!(
        r#"SELECT count(*) AS "n!" FROM tasks WHERE run_id = $1 AND outcome IS NOT NULL AND NOT superseded"#,
        run
    );
    Ok(count.fetch_one(db).await?)
}

/// What a corpus keeps in one split, after a place: place, run and conversation.
pub async fn of_corpus(
    db: &mut PgConnection,
    corpus: Uuid,
    split: &str,
    after: i32,
    limit: i64,
) -> Result<Vec<(i32, Uuid, Uuid)>> {
    let rows = sqlx::query!(
        "SELECT ordinal, run_id, conversation_id FROM corpus_rows
         WHERE corpus_id = $1 AND split = $2 AND ordinal > $3 ORDER BY ordinal LIMIT $4",
        corpus,
        split,
        after,
        limit
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows.map(|row| (row.ordinal, row.run_id, row.conversation_id)).collect())
}

pub async fn count_of_corpus(db: &mut PgConnection, corpus: Uuid, split: &str) -> Result<i64> {
    let count = sqlx::query_scalar!(
        r#"SELECT count(*) AS "n!" FROM corpus_rows WHERE corpus_id = $1 AND split = $2"#,
        corpus,
        split
    );
    Ok(count.fetch_one(db).await?)
}

/// The runs of a corpus, each with the judging that its filter goes by: the run's own, the latest one when the corpus was
/// made, or the one that it names.
pub async fn runs_of_corpus(db: &mut PgConnection, corpus: Uuid) -> Result<Vec<(Uuid, Uuid)>> {
    let rows = sqlx::query!(
        r#"SELECT of_corpus.run_id AS "run!", coalesce(chosen.id, own.id) AS "judging!"
           FROM (SELECT DISTINCT run_id FROM corpus_rows WHERE corpus_id = $1 AND split IS NOT NULL) AS of_corpus
                JOIN corpora ON corpora.id = $1
                JOIN judgings own ON own.run_id = of_corpus.run_id AND own.original
                LEFT JOIN LATERAL (
                    SELECT id FROM judgings WHERE run_id = of_corpus.run_id AND created_at <= corpora.created_at
                      AND (spec -> 'filter' ->> 'judging' = 'latest' OR spec -> 'filter' ->> 'judging' = id::text)
                    ORDER BY created_at DESC, id DESC LIMIT 1) AS chosen ON true
           ORDER BY 1"#,
        corpus
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.run, row.judging)).collect())
}

/// The material of these conversations, in this order. `all`: also the events of what was not accepted.
pub async fn of(db: &mut PgConnection, wanted: &[RowCandidate], all: bool) -> Result<Vec<Material>> {
    let rows = sqlx::query_as!(
        Record,
        r#"SELECT c.id, c.run_id, index AS "index!", c.position, c.scenario AS "scenario!", c.repeat AS "repeat!", c.attempt,
                  c.outcome, c.blame, c.reason, original AS "original!",
                  v.judge AS "judge?", v.judge_version AS "judge_version?", v.outcome AS "said?", v.blame AS "said_blame?",
                  v.reason AS "said_reason?", v.verdict IS NOT NULL AS "judged!",
                  CASE WHEN NOT original THEN v.verdict::text END AS verdict,
                  CASE WHEN NOT original THEN v.verification::text END AS verification,
                  CASE WHEN $5 OR coalesce(v.outcome, CASE WHEN original THEN c.outcome ELSE 'accepted' END) = 'accepted'
                       THEN (SELECT string_agg(event::text, E'\n') FROM
                             (SELECT event FROM events WHERE task_id = c.id ORDER BY seq) AS in_order)
                  END AS events
           FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::bool[]) WITH ORDINALITY
                    AS wanted (id, index, judging, original, n)
                JOIN tasks c ON c.id = wanted.id
                LEFT JOIN verdicts v ON v.conversation_id = wanted.id AND v.judging_id = wanted.judging
           WHERE c.outcome IS NOT NULL ORDER BY n"#,
        &wanted.iter().map(|one| one.id).collect::<Vec<_>>(),
        &wanted.iter().map(|one| one.index).collect::<Vec<_>>(),
        &wanted.iter().map(|one| one.judging).collect::<Vec<_>>(),
        &wanted.iter().map(|one| one.original).collect::<Vec<_>>(),
        all
    )
    .fetch_all(&mut *db)
    .await?;
    let ids: Vec<Uuid> = rows.iter().filter(|row| row.events.is_some()).map(|row| row.id).collect();
    let mut corrections = corrections::of(db, &ids).await?;
    rows.into_iter().map(|row| row.material(&mut corrections)).collect()
}

struct Record {
    id: Uuid,
    run_id: Uuid,
    index: i32,
    position: i32,
    scenario: String,
    repeat: i32,
    attempt: i32,
    outcome: Option<String>,
    blame: Option<String>,
    reason: Option<String>,
    original: bool,
    judge: Option<String>,
    judge_version: Option<String>,
    said: Option<String>,
    said_blame: Option<String>,
    said_reason: Option<String>,
    judged: bool,
    verdict: Option<String>,
    verification: Option<String>,
    events: Option<String>,
}

impl Record {
    fn material(self, corrections: &mut HashMap<Uuid, Vec<Correction>>) -> Result<Material> {
        let id = self.id;
        let ended = outcome("conversations", id, self.outcome.as_deref(), self.blame.as_deref(), self.reason)?;
        let ended = ended.ok_or_else(|| BadRow {
            table: "conversations",
            column: "outcome",
            row: id.to_string(),
            reason: "it has not ended".to_owned(),
        })?;
        let wrong = |e: serde_json::Error| verdicts::bad(id, &e);
        let said = outcome("verdicts", id, self.said.as_deref(), self.said_blame.as_deref(), self.said_reason)?;
        let verdict = self.verdict.map(|text| serde_json::from_str(&text)).transpose().map_err(wrong)?;
        let verification = self.verification.map(|text| serde_json::from_str(&text)).transpose().map_err(wrong)?;
        let said = said.map(|outcome| JudgingResult {
            judge: self.judge.unwrap_or_default(),
            judge_version: self.judge_version.unwrap_or_default(),
            outcome,
            judged: self.judged,
            verdict,
            verification,
        });
        let (run, index, position, original) = (self.run_id, self.index, self.position, self.original);
        let (scenario, repeat, attempt, events) = (self.scenario, self.repeat, self.attempt, self.events);
        let corrections = corrections.remove(&id).unwrap_or_default();
        let outcome = ended;
        Ok(Material {
            id,
            run,
            index,
            position,
            scenario,
            repeat,
            attempt,
            outcome,
            original,
            said,
            events,
            corrections,
        })
    }
}
