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
use store::conversations::{self, Planned};
use store::journal::{self, ModelUsage, Writer};
use store::judgings::{self, Judging};
use store::runs::{self, Run};
use store::verdicts::{self, Judged};
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
    /// The job that it is done for; a command needs none.
    pub lease: Option<JobLease>,
}

/// A cap of the run's budget was reached: no judge is asked any more.
#[derive(Debug, thiserror::Error)]
#[error("{0}; raise that cap of the run, then resume the judging")]
pub struct CapReached(&'static str);

/// What became of one conversation.
pub struct Rejudged {
    pub outcome: Outcome,
    pub usage: Usage,
}

/// A new judging of a run by the judges of these documents.
pub fn plan(run: &Run, judges: &Library, models: &[ModelSpec]) -> anyhow::Result<Judging> {
    Ok(Judging {
        id: clock::id(),
        run_id: run.id,
        library: judges.files.hash(),
        models: serde_json::to_value(models)?,
        original: false,
        created_at: clock::now(),
        created_by: String::new(),
        criteria_apart: false,
        pools: serde_json::json!([]),
    })
}

/// Lets a run's configuration know the models that its judges may be named by; what it knew by these names is forgotten.
pub fn add_pools(config: &mut RunConfig, own: impl IntoIterator<Item = PoolSpec>) {
    for own in own {
        config.pools.retain(|pool| pool.name != own.name);
        config.pools.push(own);
    }
}

pub async fn store(tx: &mut PgConnection, judging: &Judging, judges: &Library) -> anyhow::Result<()> {
    let files = serde_json::to_value(&judges.files)?;
    runs::insert_library(&mut *tx, &judging.library, &files, judging.created_at).await?;
    judgings::insert(&mut *tx, judging).await?;
    Ok(())
}

impl Judge {
    /// The conversations that came to their end and that this judging has no verdict on yet.
    pub async fn left(&self) -> anyhow::Result<Vec<Planned>> {
        let mut db = self.run.control.pool.acquire().await?;
        let done = verdicts::of(&mut db, self.judging.id).await?;
        let mut left = conversations::ended(&mut db, self.run.control.run.id).await?;
        left.retain(|planned| done.get(&planned.id).is_none_or(|judged| judged.verdict.is_none()));
        Ok(left)
    }

    /// Judges these conversations, so many at a time, and tells of each. Dropping the future loses no verdict that was
    /// given.
    ///
    /// # Errors
    /// [`CapReached`]: what was being judged then was waited for. The database fails, or what it holds is no conversation
    /// of this run: the others were judged all the same.
    pub async fn judge_all(
        &self,
        left: &[Planned],
        concurrency: usize,
        mut ended: impl FnMut(&Rejudged),
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
    async fn judge(&self, planned: &Planned) -> anyhow::Result<Rejudged> {
        let mut all = Usage::default();
        for attempt in 1.. {
            self.check_budget().await?;
            let Rejudged { outcome, usage } = self.attempt(planned, attempt).await?;
            all += usage;
            let failed = matches!(outcome, Outcome::Failed { blame: Blame::Judge, .. });
            if !failed || attempt > self.run.kind.config.retries {
                return Ok(Rejudged { outcome, usage: all });
            }
        }
        bail!("a judge can only be asked so often")
    }

    async fn attempt(&self, planned: &Planned, attempt: u32) -> anyhow::Result<Rejudged> {
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
        let judged = judged(&conversation, &outcome).map(|judged| Judged { verification: verification(), ..judged });
        self.keep(planned, judged.as_ref(), &usage).await?;
        Ok(Rejudged { outcome, usage: usage.iter().map(|usage| usage.tokens).sum() })
    }

    /// Keeps what was said of a conversation, and what that cost.
    async fn keep(&self, planned: &Planned, judged: Option<&Judged>, usage: &[ModelUsage]) -> anyhow::Result<()> {
        let mut tx = match &self.lease {
            Some(lease) => lease.transaction().await?,
            None => self.run.control.pool.begin().await?,
        };
        if let Some(judged) = judged {
            verdicts::insert(&mut tx, self.judging.id, planned.id, judged, clock::now()).await?;
        }
        let usage: Vec<(Uuid, &ModelUsage)> = usage.iter().map(|usage| (self.judging.run_id, usage)).collect();
        journal::count_usage(&mut tx, Writer::JUDGING, &usage).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Whether the run may spend more. Time and conversations are those of playing.
    async fn check_budget(&self) -> anyhow::Result<()> {
        let mut db = self.run.control.pool.acquire().await?;
        let asked = runs::asked(&mut db, NOBODY, &[self.judging.run_id]).await?;
        let reached = asked.iter().find_map(|asked| cap_reached(&asked.budget, &asked.others));
        reached.map_or(Ok(()), |cap| Err(CapReached(cap).into()))
    }
}
