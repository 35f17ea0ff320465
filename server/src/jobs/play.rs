//! One conversation, from wherever it stands to its end. Each step is committed before the next begins.

use std::sync::Arc;

use anyhow::Context;
use domain::event::{Event, EventKind};
use domain::outcome::{Blame, Ending, Outcome};
use engine::{Ask, Conversation, Next};
use llm::{Failure, ModelError};
use sqlx::PgPool;
use tracing::{debug, warn};
use uuid::Uuid;

use super::plan::{self, RunConfig};
use super::run::Models;
use crate::clock;
use crate::library::Library;
use crate::store::conversations::{End, Planned};
use crate::store::runs::Run;
use crate::store::verdicts::{self, Judged};
use crate::store::{conversations, events};

pub struct Player {
    pub pool: PgPool,
    pub library: Arc<Library>,
    pub run: Run,
    pub config: RunConfig,
    pub models: Models,
}

impl Player {
    /// Plays one conversation to its end, and again if somebody else than the agent spoiled it.
    ///
    /// # Errors
    /// The database fails, or what it holds is no conversation of this run. Failing models are no errors: they are the
    /// conversation's outcome.
    pub async fn play(&self, planned: &Planned) -> anyhow::Result<Outcome> {
        let mut attempt = planned.clone();
        loop {
            let outcome = self.attempt(&attempt).await?;
            match self.again(&attempt, &outcome) {
                Some(next) => attempt = next,
                None => return Ok(outcome),
            }
        }
    }

    /// The attempt that follows one with this outcome. Its id follows from the spoiled one, so that whoever asks is told
    /// the same.
    fn again(&self, spoiled: &Planned, outcome: &Outcome) -> Option<Planned> {
        let Outcome::Failed { blame, .. } = outcome else { return None };
        let left = i64::from(spoiled.attempt) <= i64::from(self.config.retries);
        let id = Uuid::new_v5(&spoiled.id, b"again");
        (*blame != Blame::Agent && left).then(|| Planned { id, attempt: spoiled.attempt + 1, ..spoiled.clone() })
    }

    async fn attempt(&self, planned: &Planned) -> anyhow::Result<Outcome> {
        let case = Arc::new(plan::case(&self.library, &self.config, self.run.seed, planned)?);
        let past = events::of(&mut *self.pool.acquire().await?, planned.id).await?;
        let mut conversation = Conversation::resume(case, &past)?;
        let mut step = Vec::new();
        loop {
            // What the program does by itself is committed together with the reply it follows from.
            step.extend(match conversation.next() {
                Next::Act => conversation.act(),
                Next::Ask(ask) if step.is_empty() => self.ask(*ask, &mut conversation).await?,
                Next::Ask(_) => {
                    self.commit(planned, &conversation, &std::mem::take(&mut step)).await?;
                    continue;
                }
                Next::Done(outcome) => {
                    self.commit(planned, &conversation, &step).await?;
                    return Ok(outcome);
                }
            });
        }
    }

    async fn ask(&self, mut ask: Ask, conversation: &mut Conversation) -> anyhow::Result<Option<Event>> {
        let model = self.models.answering(&ask).with_context(|| format!("no model plays {}", ask.role))?;
        ask.temperature = self.config.temperature(ask.role);
        ask.max_tokens = self.config.max_tokens(ask.role);
        Ok(match model.complete(&ask, conversation).await {
            Ok(reply) => conversation.hear(reply),
            // The endpoint did its part; the model did not come to an end.
            Err(ModelError { failure: failure @ Failure::Stopped { .. }, .. }) => {
                conversation.refuse(&failure.to_string())
            }
            Err(error) => {
                warn!(role = %ask.role, %error, "a model call was lost");
                conversation.lose(&error.to_string())
            }
        })
    }

    /// Events, and what they settle, in one transaction.
    async fn commit(&self, planned: &Planned, conversation: &Conversation, step: &[Event]) -> anyhow::Result<()> {
        debug!(conversation = %planned.id, events = step.len(), "committing");
        let now = clock::now();
        let mut tx = self.pool.begin().await?;
        events::append(&mut tx, planned.id, step, now).await?;
        if let Some(EventKind::Finished { outcome }) = step.last().map(|event| &event.kind) {
            let state = conversation.state();
            let end = End {
                ending: state.ending.as_ref().map(Ending::as_str),
                user_turns: i32::try_from(state.user_turns).unwrap_or(i32::MAX),
            };
            conversations::finish(&mut tx, planned.id, outcome, &end, now).await?;
            if let Some(judged) = judged(conversation, outcome) {
                verdicts::insert(&mut tx, self.run.judging, planned.id, &judged, now).await?;
            }
            if let Some(again) = self.again(planned, outcome) {
                conversations::supersede(&mut tx, planned.id, &again).await?;
                // What was played to its end is not played again because it could not be judged.
                let unjudged = matches!(outcome, Outcome::Failed { blame: Blame::Judge | Blame::Infrastructure, .. });
                if unjudged && state.verification.is_some() {
                    events::copy_before_judge(&mut tx, planned.id, again.id).await?;
                }
            }
        }
        tx.commit().await?;
        Ok(())
    }
}

/// What its judges said of a conversation that has ended; `None` if it was never theirs to judge.
pub(super) fn judged(conversation: &Conversation, outcome: &Outcome) -> Option<Judged> {
    let (case, state) = (conversation.case(), conversation.state());
    // A panel of which some have spoken has said nothing yet.
    let verdict = (state.verdicts.len() >= case.judges).then(|| state.verdict()).flatten();
    let failed = matches!(outcome, Outcome::Failed { blame: Blame::Judge, .. });
    (verdict.is_some() || failed).then(|| Judged {
        judge: case.judge.spec.name.clone(),
        judge_version: case.judge.version(),
        verdict: verdict.filter(|_| !failed),
        verification: None,
        outcome: outcome.clone(),
    })
}
