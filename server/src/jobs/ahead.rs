//! Asks that were made before their turn, because nothing that comes in between can change them.

use engine::{Ask, Conversation};
use llm::{Answer, ModelError};
use tokio::task::JoinHandle;

use super::active::ActiveRun;

/// Those of one conversation. They end with it.
#[derive(Default)]
pub struct Ahead {
    asked: Vec<(Ask, Asked)>,
}

struct Asked(JoinHandle<Result<Answer, ModelError>>);

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Ahead {
    /// Asks what follows the present ask, unless it is asked already or costs no time.
    pub fn ask(&mut self, run: &ActiveRun, conversation: &Conversation) {
        let next = conversation.ahead();
        // What was asked in vain is forgotten.
        if next.is_empty() {
            return;
        }
        for (who, ask) in next {
            let ask = run.config.complete(ask);
            let Some(cast) = run.models.answering(&who) else { continue };
            if self.asked.iter().any(|(asked, _)| *asked == ask) || cast.model.at_once(&who, conversation).is_some() {
                continue;
            }
            let (model, asking, conversation) = (cast.model.clone(), ask.clone(), conversation.clone());
            let answer = tokio::spawn(async move { model.complete(&asking, &conversation).await });
            self.asked.push((ask, Asked(answer)));
        }
    }

    /// The answer to an ask that was made before its turn. `None` if it was not.
    pub async fn answer(&mut self, ask: &Ask) -> Option<Result<Answer, ModelError>> {
        let place = self.asked.iter().position(|(asked, _)| asked == ask)?;
        let (_, mut answer) = self.asked.swap_remove(place);
        // A task that panicked has not answered; it is asked again.
        (&mut answer.0).await.ok()
    }
}
