//! Judging a run again, without playing it: its conversations are verified and judged as if they had just ended.

use std::sync::Arc;

use anyhow::{Context, bail};
use domain::event::{EventKind, Usage};
use domain::outcome::{Blame, Outcome};
use engine::{ChatReply, Conversation, Next, Who};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use llm::{Answer, ChatModel, Failure, ModelError, ModelSpec};
use sqlx::{PgConnection, PgPool};

use super::cast::Cast;
use super::plan::{self, RunConfig};
use super::play::judged;
use projects::library::Library;
use store::clock;
use store::conversations::{self, Planned};
use store::events;
use store::judgings::{self, Judging, State};
use store::runs::{self, Run};
use store::verdicts::{self, Judged};

pub struct Judge {
    pub pool: PgPool,
    /// The run's documents.
    pub library: Library,
    /// Documents whose judges are asked, if they are not the run's.
    pub judges: Option<Library>,
    pub run: Run,
    pub config: RunConfig,
    pub models: Vec<Cast>,
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
        let mut db = self.pool.acquire().await?;
        let done = verdicts::of(&mut db, self.judging.id).await?;
        let mut left = conversations::ended(&mut db, self.run.id).await?;
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
            if !failed || attempt > self.config.retries {
                return Ok(Rejudged { outcome, usage: all });
            }
        }
        bail!("a judge can only be asked so often")
    }

    async fn attempt(&self, planned: &Planned, attempt: u32) -> anyhow::Result<Rejudged> {
        let mut case = plan::case(&self.library, &self.config, self.run.seed, planned)?;
        if let Some(others) = &self.judges {
            let judge = others.judge_of(&case.playbook).map_err(anyhow::Error::msg)?;
            case.judge = Arc::clone(judge);
        }
        case.judges = self.models.len();
        case.attempt = attempt;
        let past = events::of(&mut *self.pool.acquire().await?, planned.id).await?;
        let conversation = Conversation::unjudged(Arc::new(case), &past)?;
        let mut conversation = conversation.context("the conversation never came to its end")?;
        let mut usage = Usage::default();
        let outcome = loop {
            let event = match conversation.next() {
                Next::Done(outcome) => break outcome,
                Next::Act => conversation.act(),
                Next::Ask(who) => {
                    let model = &self.models.get(who.judge).context("the panel has no such judge")?.model;
                    match self.ask(model.as_ref(), &who, &conversation).await {
                        None => conversation.act(),
                        Some(Ok(answer)) => conversation.hear(answer.reply),
                        Some(Err(ModelError { failure: ref failure @ Failure::Stopped { ref reply, .. }, .. })) => {
                            conversation.refuse(ChatReply::clone(reply), &failure.to_string())
                        }
                        // Nothing is stored: the conversation is left for when the endpoint is back.
                        Some(Err(error)) => return Ok(Rejudged { outcome: lost(&error), usage }),
                    }
                }
            };
            if let Some(EventKind::Judged { usage: own, .. } | EventKind::Refused { usage: own, .. }) =
                event.map(|event| event.kind)
            {
                usage += own;
            }
        };
        if let Some(judged) = judged(&conversation, &outcome) {
            let judged = Judged { verification: conversation.state().verification.clone(), ..judged };
            let mut db = self.pool.acquire().await?;
            verdicts::insert(&mut db, self.judging.id, planned.id, &judged, clock::now()).await?;
        }
        Ok(Rejudged { outcome, usage })
    }
}

impl Judge {
    /// `None` if there is nothing to ask: the judge's template does not render for this conversation.
    async fn ask(
        &self,
        model: &dyn ChatModel,
        who: &Who,
        conversation: &Conversation,
    ) -> Option<Result<Answer, ModelError>> {
        if let Some(answer) = model.at_once(who, conversation) {
            return Some(answer);
        }
        let ask = self.config.complete(conversation.ask()?);
        Some(model.complete(&ask, conversation).await)
    }
}

fn lost(error: &ModelError) -> Outcome {
    Outcome::Failed { blame: Blame::Infrastructure, reason: error.to_string() }
}
