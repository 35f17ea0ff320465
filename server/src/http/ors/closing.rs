//! Ending an episode whose client does not wait for the end.

use uuid::Uuid;

use crate::http::app::App;
use crate::http::episodes::play::{self, Closing};
use crate::http::error::{HttpError, Result};

/// How often a verification is tried that a call of the agent comes before.
const ATTEMPTS: usize = 3;

/// Ends an episode. If it is to be verified while the user or a tool is at work, this waits until it is the agent's turn, for as long
/// as clients that can be kept waiting.
pub async fn end_at_last(app: &App, id: Uuid, how: &Closing) -> Result<()> {
    if matches!(how, Closing::GivenUp) {
        return play::end(app, id, how).await;
    }
    let mut attempts = ATTEMPTS;
    loop {
        play::agents_turn_or_end_at_last(app, id).await?;
        match play::end(app, id, how).await {
            Err(HttpError::Conflict(_)) if attempts > 1 => attempts -= 1,
            ended => return ended,
        }
    }
}
