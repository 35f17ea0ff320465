//! Asks that were made before their turn, because nothing that comes in between can change them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Ask, Conversation, Who};
use futures::FutureExt;
use llm::{Answer, ModelError};
use tokio::task::JoinHandle;
use tracing::{Instrument, error_span};

use super::active::ActiveRun;

/// Those of one conversation. They end with it.
#[derive(Default)]
pub struct Ahead(Mutex<Vec<Asked>>);

struct Asked {
    who: Who,
    model: Arc<str>,
    ask: Ask,
    answer: JoinHandle<Result<Answer, ModelError>>,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.answer.abort();
    }
}

/// An answer that nobody needed.
pub struct InVain {
    pub who: Who,
    pub model: Arc<str>,
    pub answer: Answer,
}

impl Ahead {
    /// Asks these, unless they are asked already or cost no time.
    pub fn ask(&self, run: &ActiveRun, conversation: &Conversation, next: Vec<(Who, Ask)>) {
        if next.is_empty() || run.may_ask().is_err() {
            return;
        }
        let mut asked = self.lock();
        for (who, ask) in next {
            let ask = run.config.complete(ask);
            let Some(cast) = run.models.answering(&who) else { continue };
            if asked.iter().any(|known| known.ask == ask) || cast.model.at_once(&who, conversation).is_some() {
                continue;
            }
            let (model, asking, conversation) = (cast.model.clone(), ask.clone(), conversation.clone());
            let span = error_span!("ask", role = %who.role, model = %cast.name, ahead = true);
            let answer = async move { model.complete(&asking, &conversation).await };
            let answer = tokio::spawn(answer.instrument(span));
            asked.push(Asked { who, model: Arc::clone(&cast.name), ask, answer });
        }
    }

    /// Whether an ask was made before its turn.
    pub fn has(&self, ask: &Ask) -> bool {
        self.lock().iter().any(|asked| asked.ask == *ask)
    }

    /// The answer to an ask that was made before its turn. `None` if it was not.
    pub async fn answer(&self, ask: &Ask) -> Option<Result<Answer, ModelError>> {
        let mut asked = {
            let mut asked = self.lock();
            let place = asked.iter().position(|asked| asked.ask == *ask)?;
            asked.swap_remove(place)
        };
        // A task that panicked has not answered; it is asked again.
        (&mut asked.answer).await.ok()
    }

    /// What was answered and not needed. It was paid for all the same.
    pub fn in_vain(&self) -> Vec<InVain> {
        let answered = |mut asked: Asked| {
            let answer = (&mut asked.answer).now_or_never()?.ok()?.ok()?;
            Some(InVain { who: asked.who.clone(), model: Arc::clone(&asked.model), answer })
        };
        std::mem::take(&mut *self.lock()).into_iter().filter_map(answered).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
