//! One conversation, from wherever it stands to its end. Each step is committed before the next begins.

use std::sync::Arc;

use anyhow::Context;
use domain::event::{Event, EventKind};
use domain::outcome::Outcome;
use domain::role::Role;
use engine::{Ask, Conversation, Next};
use llm::{Failure, ModelError};
use sqlx::PgPool;
use tracing::{debug, warn};

use super::plan::{self, RunConfig};
use super::run::Models;
use crate::clock;
use crate::library::Library;
use crate::store::conversations::Planned;
use crate::store::runs::Run;
use crate::store::{conversations, events, verdicts};

pub struct Player {
    pub pool: PgPool,
    pub library: Arc<Library>,
    pub run: Run,
    pub config: RunConfig,
    pub models: Models,
}

impl Player {
    /// Plays one conversation to its end.
    ///
    /// # Errors
    /// The database fails, or what it holds is no conversation of this run. Failing models are no errors: they are the
    /// conversation's outcome.
    pub async fn play(&self, planned: &Planned) -> anyhow::Result<Outcome> {
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
                    self.commit(planned, &std::mem::take(&mut step)).await?;
                    continue;
                }
                Next::Done(outcome) => {
                    self.commit(planned, &step).await?;
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
    async fn commit(&self, planned: &Planned, step: &[Event]) -> anyhow::Result<()> {
        debug!(conversation = %planned.id, events = step.len(), "committing");
        let now = clock::now();
        let mut tx = self.pool.begin().await?;
        events::append(&mut tx, planned.id, step, now).await?;
        for event in step {
            match &event.kind {
                EventKind::Judged { verdict, .. } => {
                    let version = self.library.files.version(&format!("judges/{}", verdict.judge));
                    let model = self.config.models.get(&Role::Judge).map(ToString::to_string).unwrap_or_default();
                    let new = verdicts::NewVerdict {
                        conversation: planned.id,
                        judge_version: &version,
                        model: &model,
                        verdict,
                    };
                    verdicts::insert(&mut tx, &new, now).await?;
                }
                EventKind::Finished { outcome } => conversations::finish(&mut tx, planned.id, outcome, now).await?,
                _ => {}
            }
        }
        tx.commit().await?;
        Ok(())
    }
}
