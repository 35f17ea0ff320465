//! Why a change to documents was not made.

use chrono::{DateTime, Utc};
use domain::Problem;
use domain::api::documents::DocumentFinding;
use domain::project::DocumentId;
use domain::storage::NoRoom;

use store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ChangeRefusal {
    #[error("there is no {0}")]
    Missing(DocumentId),
    /// Somebody else was faster.
    #[error("{}", conflict(.id, .version, .author, .at))]
    Conflict { id: DocumentId, version: i32, author: String, at: Option<DateTime<Utc>> },
    /// What is found keeps it from being promoted.
    #[error("{} findings keep it from being used", .0.len())]
    Unsound(Vec<DocumentFinding>),
    /// It cannot be kept at all.
    #[error("it cannot be kept")]
    Bad(Vec<Problem>),
    #[error("others change the documents of this project all the time; try again")]
    Busy,
    /// The project may not store so much.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It could not be checked.
    #[error(transparent)]
    Unchecked(#[from] sandbox::Failure),
}

impl From<sqlx::Error> for ChangeRefusal {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

#[expect(clippy::ref_option, reason = "the error hands over references to its fields")]
fn conflict(id: &DocumentId, version: &i32, author: &str, at: &Option<DateTime<Utc>>) -> String {
    let Some(at) = at else { return format!("{id} has no version yet, so yours cannot be made from one") };
    let author = if author.is_empty() { "a command" } else { author };
    let at = at.format("%Y-%m-%d %H:%M:%S");
    format!("{id} was changed by {author} at {at} UTC: it has version {version}, and yours was made from another one")
}
