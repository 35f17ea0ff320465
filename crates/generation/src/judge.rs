//! Judging a run again, without playing it: its conversations are verified and judged as if they had just ended.

use std::sync::Arc;

use anyhow::{Context, bail};
use domain::event::{Event, Usage};
use domain::outcome::{Blame, Outcome};
use engine::Conversation;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use llm::ModelSpec;
use projects::library::Library;
use runtime::drive;
use sqlx::PgConnection;
use store::clock;
use store::conversations::{self, Planned};
use store::events;
use store::journal::ModelUsage;
use store::judgings::{self, Judging, State};
use store::runs::{self, Run};
use store::verdicts::{self, Judged};

use crate::conversations::{ConversationRun, Conversations, judged, outcome};
use crate::plan;

pub struct Judge {
    /// The run, with the panel that judges it as its models.
    pub run: ConversationRun,
    /// Documents whose judges are asked, if they are not the run's.
    pub judges: Option<Library>,
    pub judging: Judging,
}

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
        // Whoever asks for it by a command does it, too.
        state: State::Finished,
        created_by: String::new(),
        criteria_apart: false,
        pools: serde_json::json!([]),
    })
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
    /// The database fails, or what it holds is no conversation of this run: the others were judged all the same.
    pub async fn judge_all(
        &self,
        left: &[Planned],
        concurrency: usize,
        mut ended: impl FnMut(&Rejudged),
    ) -> anyhow::Result<()> {
        let (mut waiting, mut judging) = (left.iter(), FuturesUnordered::new());
        let mut failure = Ok(());
        loop {
            let room = concurrency.saturating_sub(judging.len());
            judging.extend(waiting.by_ref().take(room).map(|planned| self.judge(planned).boxed()));
            match judging.next().await {
                Some(Ok(rejudged)) => ended(&rejudged),
                Some(Err(error)) => failure = failure.and(Err(error)),
                None => return failure,
            }
        }
    }

    /// Asks again, as often as the run does, if the judge fails.
    async fn judge(&self, planned: &Planned) -> anyhow::Result<Rejudged> {
        let mut all = Usage::default();
        for attempt in 1.. {
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
        // If an endpoint did not answer, nothing is stored: the conversation is left for when the endpoint is back.
        if let Some(judged) = judged(&conversation, &outcome) {
            let judged = Judged { verification: conversation.state().verification.clone(), ..judged };
            verdicts::insert(&mut *pool.acquire().await?, self.judging.id, planned.id, &judged, clock::now()).await?;
        }
        Ok(Rejudged { outcome, usage: usage.iter().map(tokens).sum() })
    }
}

fn tokens(usage: &ModelUsage) -> Usage {
    Usage {
        prompt_tokens: usage.prompt_tokens.unsigned_abs(),
        cached_tokens: usage.cached_tokens.unsigned_abs(),
        completion_tokens: usage.completion_tokens.unsigned_abs(),
    }
}
