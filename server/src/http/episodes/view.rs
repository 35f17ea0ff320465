//! An episode as its agent sees it, from where it stands in the database.

use domain::api::episodes::Episode;
use generation::episodes::view;
pub use generation::episodes::view::Since;
use store::episodes as stored;
use uuid::Uuid;

use super::play;
use crate::http::app::App;
use crate::http::error::Result;

/// Reads an episode, and shows it.
pub async fn of(app: &App, id: Uuid, since: Since) -> Result<Episode> {
    of_stored(app, play::get(app, id).await?, since).await
}

/// Shows an episode that was read before.
pub async fn of_stored(app: &App, stored: stored::Episode, since: Since) -> Result<Episode> {
    Ok(app.episode_views().show(stored, since).await?)
}

/// Whether an event is, or will be, a turn of the agent that was taken.
pub async fn is_turn(app: &App, id: Uuid, turn: u32) -> Result<bool> {
    Ok(view::is_turn(&mut *app.pool().acquire().await?, id, turn).await?)
}
