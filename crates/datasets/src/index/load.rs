//! Reading a run, whole and again where it may have changed.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use domain::filter::{Reviewed, Status};
use domain::outcome::Blame;
use futures::TryStreamExt;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use uuid::Uuid;

use super::about::{Abouts, Scenarios};
use super::columns::{Columns, Row, Said};
use store::facts::{self, Head, Judged, Played, Touched};

/// A run as it was read.
pub struct Loaded {
    pub columns: Arc<Columns>,
    pub head: Head,
    /// Positions whose conversations were being played.
    open: Vec<(i32, i32)>,
    /// The criteria of each version of a judge, as names of the columns.
    criteria: HashMap<String, Vec<u32>>,
    /// What tells whether a judging that is not the run's own goes on.
    said: (i64, i64),
}

/// Reads everything, as it stood at one moment.
pub async fn load(pool: &PgPool, abouts: &Abouts, asked: &Head) -> anyhow::Result<Loaded> {
    if asked.next_position == 0 {
        return Ok(Loaded::nothing(asked));
    }
    let mut tx = snapshot(pool).await?;
    let head = head(&mut tx, asked).await?;
    let about = abouts.of(&mut tx, &head.library).await?;
    let mut columns = Columns::new(head.run, &head.playbook, &head.models, about);
    columns.grow(usize::try_from(head.next_position)?);
    let open = facts::open(&mut tx, head.run).await?;
    let said = if head.own { (0, 0) } else { facts::said(&mut tx, head.judging).await? };
    let mut loaded = Loaded { columns: Arc::new(columns), head, open, criteria: HashMap::new(), said };
    let mut places = HashMap::new();
    let mut played = facts::played(&mut tx, loaded.head.run);
    while let Some(played) = played.try_next().await? {
        places.insert(played.id, loaded.put(&played)?);
    }
    drop(played);
    loaded.say_all(&mut tx, &places).await?;
    loaded.review(&mut tx).await?;
    Ok(loaded)
}

/// A transaction that sees one moment.
async fn snapshot(pool: &PgPool) -> store::Result<Transaction<'_, Postgres>> {
    let mut tx = pool.begin().await?;
    facts::one_moment(&mut tx).await?;
    Ok(tx)
}

async fn head(db: &mut PgConnection, asked: &Head) -> anyhow::Result<Head> {
    facts::of_judging(db, asked.run, asked.judging).await?.context("the run is gone")
}

impl Loaded {
    /// Of a run of which nothing has begun.
    fn nothing(head: &Head) -> Self {
        let columns = Columns::new(head.run, &head.playbook, &head.models, Arc::new(Scenarios::new()));
        Self {
            columns: Arc::new(columns),
            head: head.clone(),
            open: Vec::new(),
            criteria: HashMap::new(),
            said: (0, 0),
        }
    }

    /// Whether anything can have happened since, by what is known of the run now.
    pub fn may_have_changed(&self, now: &Head) -> bool {
        !self.open.is_empty() || self.head != *now || !now.own
    }

    /// Reads again what may have changed. False if that is everything.
    pub async fn refresh(&mut self, pool: &PgPool) -> anyhow::Result<bool> {
        let mut tx = snapshot(pool).await?;
        let now = head(&mut tx, &self.head).await?;
        if now.retried != self.head.retried || self.head.next_position == 0 {
            return Ok(false);
        }
        if !now.own && facts::said(&mut tx, now.judging).await? != self.said {
            return Ok(false);
        }
        let open = facts::open(&mut tx, now.run).await?;
        let mut positions: Vec<i32> = self.open.iter().flat_map(|(first, last)| *first..=*last).collect();
        positions.extend(self.head.next_position..now.next_position);
        let played = facts::played_at(&mut tx, now.run, &positions).await?;
        let ids: Vec<Uuid> = played.iter().map(|played| played.id).collect();
        let judged = facts::judged_of(&mut tx, now.judging, &ids).await?;
        for judged in &judged {
            self.learn(&mut tx, judged).await?;
        }
        self.rows().grow(usize::try_from(now.next_position)?);
        let mut places = HashMap::new();
        for played in &played {
            places.insert(played.id, self.put(played)?);
        }
        for judged in &judged {
            if let Some(row) = places.get(&judged.conversation_id) {
                self.say(*row, judged);
            }
        }
        // What was put down anew has lost what people did about it.
        if now.reviews > 0 {
            self.review(&mut tx).await?;
        }
        (self.head, self.open) = (now, open);
        Ok(true)
    }

    /// What the judging says of conversations whose rows are known.
    async fn say_all(&mut self, db: &mut PgConnection, places: &HashMap<Uuid, usize>) -> anyhow::Result<()> {
        if let Some((version, conversation)) = facts::any_judged(db, self.head.judging).await? {
            self.know_criteria(db, version, conversation).await?;
        }
        // Those of judges whose criteria are not known yet; there are few, or as many as other playbooks have.
        let mut waiting = Vec::new();
        let mut judged = facts::judged(db, self.head.judging);
        while let Some(judged) = judged.try_next().await? {
            match places.get(&judged.conversation_id) {
                Some(row) if self.knows(&judged) => self.say(*row, &judged),
                Some(row) => waiting.push((*row, judged)),
                None => {}
            }
        }
        drop(judged);
        for (row, judged) in waiting {
            self.learn(db, &judged).await?;
            self.say(row, &judged);
        }
        Ok(())
    }

    /// What people did about its conversations.
    async fn review(&mut self, db: &mut PgConnection) -> anyhow::Result<()> {
        for Touched { position, conversation_id, rated, annotated, corrected } in
            facts::touched(db, self.head.run).await?
        {
            let row = usize::try_from(position)?;
            // Of a position only the attempt that counts has a row.
            if self.columns.id.get(row) == Some(&conversation_id) {
                self.rows().review(row, Reviewed { rated, annotated, corrected });
            }
        }
        Ok(())
    }

    /// For a change; a copy of the columns if somebody looks at them.
    fn rows(&mut self) -> &mut Columns {
        Arc::make_mut(&mut self.columns)
    }

    fn knows(&self, judged: &Judged) -> bool {
        judged.scores.is_none() || self.criteria.contains_key(&judged.judge_version)
    }

    /// Makes sure that the criteria of a verdict's judge are known.
    async fn learn(&mut self, db: &mut PgConnection, judged: &Judged) -> anyhow::Result<()> {
        if self.knows(judged) {
            return Ok(());
        }
        self.know_criteria(db, judged.judge_version.clone(), judged.conversation_id).await
    }

    async fn know_criteria(&mut self, db: &mut PgConnection, version: String, of: Uuid) -> anyhow::Result<()> {
        let names = facts::criteria(db, self.head.judging, of).await?;
        let numbers = names.iter().map(|name| self.rows().names.intern(name)).collect();
        self.criteria.insert(version, numbers);
        Ok(())
    }

    /// The row that it is put into.
    fn put(&mut self, played: &Played) -> anyhow::Result<usize> {
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
            &Row {
                id: played.id,
                scenario: &played.scenario,
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

    fn say(&mut self, row: usize, judged: &Judged) {
        let score = |score: i16| u8::try_from(score).unwrap_or(10).min(10);
        let criteria = self.criteria.get(&judged.judge_version).map(Vec::as_slice).unwrap_or_default();
        let given = judged.scores.as_deref().unwrap_or_default();
        let scores: Vec<(u32, u8)> = criteria.iter().copied().zip(given.iter().map(|given| score(*given))).collect();
        self.rows().say(
            row,
            &Said {
                overall: judged.overall.map(score),
                goal_achieved: judged.goal_achieved,
                scores: &scores,
                weighted_mean: judged.weighted_mean,
                agreement: judged.agreement,
            },
        );
        if !self.head.own {
            let (status, blame) = outcome_of(Some(&judged.outcome), judged.blame.as_deref());
            self.rows().decide(row, status, blame, judged.reason.as_deref(), judged.verified);
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
