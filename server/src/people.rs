//! What the API and the commands do alike with people, their tokens and projects.

use chrono::TimeDelta;
use domain::api::Invitation;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::secret;
use store::clock;
use store::episode_tokens;
use store::invitations;
use store::join_tokens::{self, JoinToken};
use store::tokens::{self, Token};
use store::users::User;

/// How long a link can be opened.
const INVITATION: TimeDelta = TimeDelta::days(7);
/// How tokens begin, so that scanners of leaked secrets know them.
const TOKEN: &str = "gs_";
/// And those by which workers join, which can do nothing else.
pub const JOIN_TOKEN: &str = "gsj_";
/// And those that may only act in one episode.
pub const EPISODE_TOKEN: &str = "gse_";
/// How long a join token lasts if nobody says otherwise.
pub const JOIN_TOKEN_LIFE: TimeDelta = TimeDelta::days(90);

/// Longest name of a user or a project, in bytes.
pub const LONGEST_NAME: usize = 64;

/// The name of a user in the form in which it is kept.
///
/// # Errors
/// It cannot be a name; the text says what can.
pub fn user_name(name: &str) -> Result<String, &'static str> {
    let name = name.trim().to_lowercase();
    if is_name(&name, "._@+-") { Ok(name) } else { Err("use 1 to 64 letters a-z, digits and . _ @ + -") }
}

/// The name of a project, which stands in URLs.
///
/// # Errors
/// It cannot be a name; the text says what can.
pub fn project_name(name: &str) -> Result<String, &'static str> {
    if is_name(name, "_-") { Ok(name.to_owned()) } else { Err("use 1 to 64 letters a-z, digits, _ and -") }
}

fn is_name(name: &str, joints: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= LONGEST_NAME && name.starts_with(plain) && name.chars().all(|c| plain(c) || joints.contains(c))
}

/// What people call a thing: some letters in one line.
///
/// # Errors
/// It is empty, longer than that, or has a line break; the text says what can be taken.
pub fn title(text: &str, longest: usize) -> Result<String, String> {
    let text = text.trim();
    if (1..=longest).contains(&text.chars().count()) && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(format!("use 1 to {longest} letters in one line"))
    }
}

/// Somebody who has not chosen a password yet.
pub fn invited(name: String, administrator: bool) -> User {
    User { id: clock::id(), name, password_hash: None, administrator, disabled_at: None, created_at: clock::now() }
}

/// Makes a link by which somebody chooses a password; one that was made before is void.
///
/// # Errors
/// The database or the operating system's randomness is away.
pub async fn invite(db: &mut PgConnection, user: &User) -> anyhow::Result<Invitation> {
    let secret = secret::make("")?;
    let now = clock::now();
    let expires_at = now + INVITATION;
    invitations::insert(db, &secret::hash(&secret), Some(user.id), now, expires_at).await?;
    Ok(Invitation { user: user.name.clone(), path: welcome(&secret), secret, expires_at })
}

/// Where a link is opened. The secret is a fragment, which browsers send to nobody, so that no log has it.
pub fn welcome(secret: &str) -> String {
    format!("/welcome#{secret}")
}

/// Keeps a token by which workers join; its secret is in the answer and nowhere else.
///
/// # Errors
/// The database or the operating system's randomness is away.
pub async fn keep_join_token(db: &mut PgConnection, token: &JoinToken) -> anyhow::Result<String> {
    let secret = secret::make(JOIN_TOKEN)?;
    join_tokens::insert(db, token, &secret::hash(&secret)).await?;
    Ok(secret)
}

/// Keeps a token; its secret is in the answer and nowhere else.
///
/// # Errors
/// The database or the operating system's randomness is away.
pub async fn keep_token(db: &mut PgConnection, token: &Token) -> anyhow::Result<String> {
    let secret = secret::make(TOKEN)?;
    tokens::insert(db, token, &secret::hash(&secret)).await?;
    Ok(secret)
}

/// Keeps a token for each of these episodes, in place of the user's earlier one; the secrets are in the answer and nowhere else.
/// `None`: one of them has a token of another user, and the transaction must not be committed.
///
/// # Errors
/// The database or the operating system's randomness is away.
pub async fn keep_episode_tokens(
    tx: &mut PgConnection,
    user: Uuid,
    episodes: &[Uuid],
) -> anyhow::Result<Option<Vec<String>>> {
    let secrets = episodes.iter().map(|_| secret::make(EPISODE_TOKEN)).collect::<anyhow::Result<Vec<_>>>()?;
    let hashes: Vec<Vec<u8>> = secrets.iter().map(|secret| secret::hash(secret)).collect();
    Ok(episode_tokens::set(tx, user, episodes, &hashes).await?.then_some(secrets))
}
