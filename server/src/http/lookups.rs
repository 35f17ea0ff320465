//! What nearly every request of an agent looks up. Agents come back for each turn, so many ask at once.

use futures::FutureExt;
use sqlx::PgPool;
use store::episodes::{self, Episode, EpisodeQuery};
use store::projects::{self, ProjectWithRole};
use store::tokens::{self, Token};
use store::users::User;
use store::{BatchedLookup, clock, episode_tokens};
use uuid::Uuid;

pub struct Lookups {
    /// By the hash of the secret.
    pub tokens: BatchedLookup<Vec<u8>, (Token, User)>,
    /// By the hash of the secret: the episode, and who opened it.
    pub episode_tokens: BatchedLookup<Vec<u8>, (Uuid, User)>,
    /// By conversation and user.
    pub projects_of_conversations: BatchedLookup<(Uuid, Uuid), ProjectWithRole>,
    pub episodes: BatchedLookup<EpisodeQuery, Episode>,
}

impl Lookups {
    pub fn start(pool: &PgPool) -> Self {
        Self {
            tokens: BatchedLookup::start(pool, |db, hashes| tokens::used(db, hashes, clock::now()).boxed()),
            episode_tokens: BatchedLookup::start(pool, |db, hashes| episode_tokens::used(db, hashes).boxed()),
            projects_of_conversations: BatchedLookup::start(pool, |db, wanted| {
                projects::of_conversations(db, wanted).boxed()
            }),
            episodes: BatchedLookup::start(pool, |db, wanted| episodes::get_all(db, wanted).boxed()),
        }
    }
}
