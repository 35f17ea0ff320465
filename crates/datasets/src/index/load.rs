//! Reading a run, whole and again where it may have changed.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use domain::filter::{ReviewFlags, Status};
use domain::outcome::Blame;
use futures::TryStreamExt;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use uuid::Uuid;

use super::columns::{Columns, RowValues, VerdictValues};
use super::scenario_columns::{ScenarioCache, Scenarios};
use store::conversation_columns::{self, PlayedColumns, ReviewColumns, RunHead, VerdictColumns};

/// The columns of a run, as they were read.
pub struct RunColumns {
    pub columns: Arc<Columns>,
    pub head: RunHead,
    /// Positions whose conversations were being played.
    open: Vec<(i32, i32)>,
    /// The criteria of each version of a judge, as names of the columns.
    criteria: HashMap<String, Vec<u32>>,
    /// What tells whether a judging that is not the run's own goes on.
    verdict_counts: (i64, i64),
}

/// Reads everything, as it stood at one moment.
pub async fn load(pool: &PgPool, scenarios: &ScenarioCache, asked: &RunHead) -> anyhow::Result<RunColumns> {
    if asked.next_position == 0 {
        return Ok(RunColumns::nothing(asked));
    }
    let mut tx = snapshot(pool).await?;
    let head = head(&mut tx, asked).await?;
    let about = scenarios.of(&mut tx, &head.library).await?;
    let mut columns = Columns::new(head.run, &head.playbook, &head.models, about);
    columns.grow(usize::try_from(head.next_position)?);
    let open = conversation_columns::open_positions(&mut tx, head.run).await?;
    let verdict_counts =
        if head.own { (0, 0) } else { conversation_columns::verdict_counts(&mut tx, head.judging).await? };
    let mut loaded = RunColumns { columns: Arc::new(columns), head, open, criteria: HashMap::new(), verdict_counts };
    let mut places = HashMap::new();
    let mut played = conversation_columns::played(&mut tx, loaded.head.run);
    while let Some(played) = played.try_next().await? {
        places.insert(played.id, loaded.put(&played)?);
    }
    drop(played);
    loaded.set_verdicts(&mut tx, &places).await?;
    loaded.set_reviews(&mut tx).await?;
    Ok(loaded)
}

/// A transaction that sees one moment.
async fn snapshot(pool: &PgPool) -> store::Result<Transaction<'_, Postgres>> {
    let mut tx = pool.begin().await?;
    conversation_columns::read_one_snapshot(&mut tx).await?;
    Ok(tx)
}

async fn head(db: &mut PgConnection, asked: &RunHead) -> anyhow::Result<RunHead> {
    conversation_columns::of_judging(db, asked.run, asked.judging).await?.context("the run is gone")
}

impl RunColumns {
    /// Of a run of which nothing has begun.
    fn nothing(head: &RunHead) -> Self {
        let columns = Columns::new(head.run, &head.playbook, &head.models, Arc::new(Scenarios::new()));
        Self {
            columns: Arc::new(columns),
            head: head.clone(),
            open: Vec::new(),
            criteria: HashMap::new(),
            verdict_counts: (0, 0),
        }
    }

    /// Whether anything can have happened since, by what is known of the run now.
    pub fn may_have_changed(&self, now: &RunHead) -> bool {
        !self.open.is_empty() || self.head != *now || !now.own
    }

    /// Reads again what may have changed. False if that is everything.
    pub async fn refresh(&mut self, pool: &PgPool) -> anyhow::Result<bool> {
        let mut tx = snapshot(pool).await?;
        let now = head(&mut tx, &self.head).await?;
        if now.retried != self.head.retried || self.head.next_position == 0 {
            return Ok(false);
        }
        if !now.own && conversation_columns::verdict_counts(&mut tx, now.judging).await? != self.verdict_counts {
            return Ok(false);
        }
        let open = conversation_columns::open_positions(&mut tx, now.run).await?;
        let mut positions: Vec<i32> = self.open.iter().flat_map(|(first, last)| *first..=*last).collect();
        positions.extend(self.head.next_position..now.next_position);
        let played = conversation_columns::played_at(&mut tx, now.run, &positions).await?;
        let ids: Vec<Uuid> = played.iter().map(|played| played.id).collect();
        let judged = conversation_columns::verdicts_of(&mut tx, now.judging, &ids).await?;
        for judged in &judged {
            self.ensure_criteria(&mut tx, judged).await?;
        }
        self.rows().grow(usize::try_from(now.next_position)?);
        let mut places = HashMap::new();
        for played in &played {
            places.insert(played.id, self.put(played)?);
        }
        for judged in &judged {
            if let Some(row) = places.get(&judged.conversation_id) {
                self.set_verdict(*row, judged);
            }
        }
        // What was put down anew has lost what people did about it.
        if now.reviews > 0 {
            self.set_reviews(&mut tx).await?;
        }
        (self.head, self.open) = (now, open);
        Ok(true)
    }

    /// What the judging says of conversations whose rows are known.
    async fn set_verdicts(&mut self, db: &mut PgConnection, places: &HashMap<Uuid, usize>) -> anyhow::Result<()> {
        if let Some((version, conversation)) = conversation_columns::any_verdict(db, self.head.judging).await? {
            self.load_criteria(db, version, conversation).await?;
        }
        // Those of judges whose criteria are not known yet; there are few, or as many as other playbooks have.
        let mut waiting = Vec::new();
        let mut judged = conversation_columns::verdicts(db, self.head.judging);
        while let Some(judged) = judged.try_next().await? {
            match places.get(&judged.conversation_id) {
                Some(row) if self.has_criteria(&judged) => self.set_verdict(*row, &judged),
                Some(row) => waiting.push((*row, judged)),
                None => {}
            }
        }
        drop(judged);
        for (row, judged) in waiting {
            self.ensure_criteria(db, &judged).await?;
            self.set_verdict(row, &judged);
        }
        Ok(())
    }

    /// What people did about its conversations.
    async fn set_reviews(&mut self, db: &mut PgConnection) -> anyhow::Result<()> {
        for ReviewColumns { position, conversation_id, rated, annotated, corrected } in
            conversation_columns::reviews(db, self.head.run).await?
        {
            let row = usize::try_from(position)?;
            // Of a position only the attempt that counts has a row.
            if self.columns.id.get(row) == Some(&conversation_id) {
                self.rows().set_review(row, ReviewFlags { rated, annotated, corrected });
            }
        }
        Ok(())
    }

    /// For a change; a copy of the columns if somebody looks at them.
    fn rows(&mut self) -> &mut Columns {
        Arc::make_mut(&mut self.columns)
    }

    fn has_criteria(&self, judged: &VerdictColumns) -> bool {
        judged.scores.is_none() || self.criteria.contains_key(&judged.judge_version)
    }

    /// Makes sure that the criteria of a verdict's judge are known.
    async fn ensure_criteria(&mut self, db: &mut PgConnection, judged: &VerdictColumns) -> anyhow::Result<()> {
        if self.has_criteria(judged) {
            return Ok(());
        }
        self.load_criteria(db, judged.judge_version.clone(), judged.conversation_id).await
    }

    async fn load_criteria(&mut self, db: &mut PgConnection, version: String, of: Uuid) -> anyhow::Result<()> {
        let names = conversation_columns::criteria(db, self.head.judging, of).await?;
        let numbers = names.iter().map(|name| self.rows().names.intern(name)).collect();
        self.criteria.insert(version, numbers);
        Ok(())
    }

    /// The row that it is put into.
    fn put(&mut self, played: &PlayedColumns) -> anyhow::Result<usize> {
        let complexity = played.complexity.parse().ok();
        let unread = !self.head.own && played.ending.is_some();
        let (status, blame) = match &played.outcome {
            // Another judging has yet to say something of what came to its end.
            _ if unread => (Status::Unfinished, None),
            outcome => outcome_of(outcome.as_deref(), played.blame.as_deref()),
        };
        let row = usize::try_from(played.position)?;
        let count = |count: Option<i32>| count.and_then(|count| u32::try_from(count).ok());
        self.rows().put(
            row,
            &RowValues {
                id: played.id,
                scenario: &played.scenario,
                repeat: u32::try_from(played.repeat)?,
                persona: &played.persona,
                complexity: complexity.with_context(|| format!("conversation {}: no such complexity", played.id))?,
                status: Some(status),
                blame,
                reason: played.reason.as_deref().filter(|_| !unread),
                finished: played.finished_at,
                ending: played.ending.as_deref(),
                turns: count(played.user_turns),
                tool_calls: count(played.tool_calls),
                tools: played.tools.as_deref().unwrap_or_default(),
                verified: played.verified.filter(|_| !unread),
            },
        );
        Ok(row)
    }

    fn set_verdict(&mut self, row: usize, judged: &VerdictColumns) {
        let score = |score: i16| u8::try_from(score).unwrap_or(10).min(10);
        let criteria = self.criteria.get(&judged.judge_version).map(Vec::as_slice).unwrap_or_default();
        let given = judged.scores.as_deref().unwrap_or_default();
        let scores: Vec<(u32, u8)> = criteria.iter().copied().zip(given.iter().map(|given| score(*given))).collect();
        self.rows().set_verdict(
            row,
            &VerdictValues {
                overall: judged.overall.map(score),
                goal_achieved: judged.goal_achieved,
                scores: &scores,
                weighted_mean: judged.weighted_mean,
                agreement: judged.agreement,
            },
        );
        if !self.head.own {
            let (status, blame) = outcome_of(Some(&judged.outcome), judged.blame.as_deref());
            self.rows().set_outcome(row, status, blame, judged.reason.as_deref(), judged.verified);
        }
    }
}

fn outcome_of(outcome: Option<&str>, blame: Option<&str>) -> (Status, Option<Blame>) {
    match outcome {
        None => (Status::Unfinished, None),
        Some("accepted") => (Status::Accepted, None),
        Some(_) => (Status::Failed, blame.and_then(|name| name.parse().ok())),
    }
}
