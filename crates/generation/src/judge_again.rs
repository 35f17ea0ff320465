//! Judging a run again, without playing it: its conversations are verified and judged as if they had just ended. What
//! that costs is the run's: it is counted in its usage, and stops at the caps of its budget.

use std::sync::Arc;

use anyhow::{Context, bail};
use domain::budget::Budget;
use domain::event::{Event, Usage};
use domain::outcome::{Blame, Outcome};
use engine::Conversation;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use llm::{ModelSpec, PoolSpec};
use projects::library::Library;
use runtime::jobs::{JobLease, LeaseLost};
use runtime::{cap_reached, drive};
use sqlx::PgConnection;
use store::conversations::{self, PlannedConversation};
use store::journal::{self, ModelUsage, Writer};
use store::judgings::{self, Judging};
use store::runs::{self, Run};
use store::verdicts::{self, StoredVerdict};
use store::{Outage as _, clock, events};
use uuid::Uuid;

use crate::conversations::{ConversationRun, Conversations, judged, outcome};
use crate::plan::{self, RunConfig};
use crate::run::NOBODY;

pub struct Judge {
    /// The run, with the panel that judges it as its models.
    pub run: ConversationRun,
    /// Documents whose judges are asked, if they are not the run's.
    pub judges: Option<Library>,
    pub judging: Judging,
    /// The job that it is done for.
    pub lease: JobLease,
}

/// A cap of the run's budget was reached: no judge is asked any more.
#[derive(Debug, thiserror::Error)]
#[error("{0}; raise that cap of the run, then resume the judging")]
pub struct CapReached(&'static str);

/// The new outcome of one conversation.
pub struct JudgeAgainResult {
    pub outcome: Outcome,
    pub usage: Usage,
}

/// What somebody asks to be judged again, and by whom.
pub struct JudgingSpec<'a> {
    pub models: &'a [ModelSpec],
    /// What is known of the models that are only named.
    pub pools: Vec<PoolSpec>,
    /// Documents whose judges are asked; `None`: the run's.
    pub judges: Option<&'a Library>,
    /// Whether judges are asked for each criterion by itself.
    pub criteria_apart: bool,
    /// Who asks for it, by name; empty: a command.
    pub created_by: &'a str,
}

impl JudgingSpec<'_> {
    /// Stores the judging of a run, for which nothing is done yet: see [`judgings::ask`](crate::judgings::ask).
    pub async fn insert(self, tx: &mut PgConnection, run: &Run) -> anyhow::Result<Judging> {
        let judging = Judging {
            id: clock::id(),
            run_id: run.id,
            library: self.judges.map_or_else(|| run.library.clone(), |judges| judges.files.hash()),
            models: serde_json::to_value(self.models)?,
            original: false,
            created_at: clock::now(),
            created_by: self.created_by.to_owned(),
            criteria_apart: self.criteria_apart,
            pools: serde_json::to_value(&self.pools)?,
        };
        if let Some(judges) = self.judges {
            let files = serde_json::to_value(&judges.files)?;
            runs::insert_library(&mut *tx, &judging.library, &files, judging.created_at).await?;
        }
        judgings::insert(tx, &judging).await?;
        Ok(judging)
    }
}

/// Lets a run's configuration know the models that its judges may be named by; what it knew by these names is forgotten.
pub fn add_pools(config: &mut RunConfig, own: impl IntoIterator<Item = PoolSpec>) {
    for own in own {
        config.pools.retain(|pool| pool.name != own.name);
        config.pools.push(own);
    }
}

/// The conversations of a run that came to their end; of a judging, those that it has no verdict on yet.
pub async fn remaining(
    db: &mut PgConnection,
    run: Uuid,
    judging: Option<Uuid>,
) -> anyhow::Result<Vec<PlannedConversation>> {
    let mut left = conversations::ended(&mut *db, run).await?;
    if let Some(judging) = judging {
        let done = verdicts::of(db, judging).await?;
        left.retain(|planned| done.get(&planned.id).is_none_or(|judged| judged.verdict.is_none()));
    }
    Ok(left)
}

/// The cap of a run's budget that is reached, in words. Time and conversations are those of playing.
pub async fn reached_cap(db: &mut PgConnection, run: Uuid) -> anyhow::Result<Option<&'static str>> {
    let asked = runs::instructions(db, NOBODY, &[run]).await?;
    Ok(asked.iter().find_map(|asked| cap_reached(&asked.budget, &asked.others)))
}

impl Judge {
    /// The conversations that this judging has no verdict on yet.
    pub async fn remaining(&self) -> anyhow::Result<Vec<PlannedConversation>> {
        let mut db = self.run.control.pool.acquire().await?;
        remaining(&mut db, self.judging.run_id, Some(self.judging.id)).await
    }

    /// Judges these conversations, so many at a time, and tells of each. Dropping the future loses no verdict that was
    /// given.
    ///
    /// # Errors
    /// [`CapReached`]: what was being judged then was waited for. The database fails, or what it holds is no conversation
    /// of this run: the others were judged all the same.
    pub async fn judge_all(
        &self,
        left: &[PlannedConversation],
        concurrency: usize,
        mut ended: impl FnMut(&JudgeAgainResult),
    ) -> anyhow::Result<()> {
        // Its caps are looked at before each conversation, by what all processes have spent together.
        self.run.control.spending.agree(Budget::default(), None);
        let (mut waiting, mut judging) = (left.iter(), FuturesUnordered::new());
        let mut failure = Ok(());
        loop {
            let room = concurrency.saturating_sub(judging.len());
            judging.extend(waiting.by_ref().take(room).map(|planned| self.judge(planned).boxed()));
            match judging.next().await {
                Some(Ok(rejudged)) => ended(&rejudged),
                Some(Err(error)) => {
                    if error.is::<CapReached>() || error.is::<LeaseLost>() || error.is_outage() {
                        waiting = [].iter();
                    }
                    failure = failure.and(Err(error));
                }
                None => return failure,
            }
        }
    }

    /// Asks again, as often as the run does, if the judge fails.
    async fn judge(&self, planned: &PlannedConversation) -> anyhow::Result<JudgeAgainResult> {
        let mut all = Usage::default();
        for attempt in 1.. {
            self.check_budget().await?;
            let JudgeAgainResult { outcome, usage } = self.attempt(planned, attempt).await?;
            all += usage;
            let failed = matches!(outcome, Outcome::Failed { blame: Blame::Judge, .. });
            if !failed || attempt > self.run.kind.config.retries {
                return Ok(JudgeAgainResult { outcome, usage: all });
            }
        }
        bail!("a judge can only be asked so often")
    }

    async fn attempt(&self, planned: &PlannedConversation, attempt: u32) -> anyhow::Result<JudgeAgainResult> {
        let Conversations { library, config, models, .. } = &self.run.kind;
        let mut case = plan::case(library, config, self.run.control.run.seed, planned)?;
        if let Some(others) = &self.judges {
            let judge = others.judge_of(&case.playbook).map_err(anyhow::Error::msg)?;
            case.judge = Arc::clone(judge);
        }
        case.judges = models.judges();
        case.attempt = attempt;
        let pool = &self.run.control.pool;
        let past = events::of::<Event>(&mut *pool.acquire().await?, planned.id).await?;
        let conversation = Conversation::unjudged(Arc::new(case), &past)?;
        let conversation = conversation.context("the conversation never came to its end")?;
        let task = planned.clone().into();
        let (conversation, usage) = drive::play_unkept(&self.run, None, &task, conversation).await?;
        let outcome = outcome(&conversation);
        // If an endpoint did not answer, there is no verdict: the conversation is left for when the endpoint is back.
        let verification = || conversation.state().transcript.verification.clone();
        let judged =
            judged(&conversation, &outcome).map(|judged| StoredVerdict { verification: verification(), ..judged });
        self.store_verdict(planned, judged.as_ref(), &usage).await?;
        Ok(JudgeAgainResult { outcome, usage: usage.iter().map(|usage| usage.tokens).sum() })
    }

    /// Keeps what was said of a conversation, and what that cost.
    async fn store_verdict(
        &self,
        planned: &PlannedConversation,
        judged: Option<&StoredVerdict>,
        usage: &[ModelUsage],
    ) -> anyhow::Result<()> {
        let mut tx = self.lease.transaction().await?;
        if let Some(judged) = judged {
            verdicts::insert(&mut tx, self.judging.id, planned.id, judged, clock::now()).await?;
        }
        let usage: Vec<(Uuid, &ModelUsage)> = usage.iter().map(|usage| (self.judging.run_id, usage)).collect();
        journal::count_usage(&mut tx, Writer::JUDGING, &usage).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn check_budget(&self) -> anyhow::Result<()> {
        let mut db = self.run.control.pool.acquire().await?;
        let reached = reached_cap(&mut db, self.judging.run_id).await?;
        reached.map_or(Ok(()), |cap| Err(CapReached(cap).into()))
    }
}
