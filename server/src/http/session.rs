//! Signing in and out.

use axum::extract::{ConnectInfo, FromRequestParts, State};
use axum::http::header::SET_COOKIE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::{Extension, Json};
use axum_extra::extract::CookieJar;
use chrono::{DateTime, Duration, TimeDelta, Utc};
use domain::api::{AcceptInvitation, LinkRecipient, OneTimeLink, ProjectRole, SessionDetail, SignIn};
use sqlx::PgConnection;
use std::net::{IpAddr, SocketAddr};
use tokio::sync::Semaphore;

use super::access::{SESSION_COOKIE, SignedIn};
use super::app::App;
use super::audit::Audit;
use super::caller::Caller;
use super::error::{HttpError, Problems, Result};
use super::extract::Body;
use crate::people;
use crate::secret;
use store::clock;
use store::sign_in::Failures;
use store::users::User;
use store::{invitations, projects, sessions, sign_in, users};

const SESSION: Duration = Duration::days(14);
/// Failures that cost nothing; each one more doubles the wait.
const FREE_FAILURES: i32 = 5;
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(15);
/// Failures of one name from all addresses together, within a day, before answers about it are delayed: more than somebody
/// makes by mistake.
const UNDELAYED_FAILURES: i32 = 20;
const DELAY_EACH: std::time::Duration = std::time::Duration::from_millis(100);
/// Short enough that somebody who knows the password waits for it.
const LONGEST_DELAY: std::time::Duration = std::time::Duration::from_secs(3);

/// The cookie of a session, and what it is.
type SessionResponse = ([(HeaderName, String); 1], Json<SessionDetail>);

/// Sign in
///
/// The answer sets a cookie. After 5 failures the next attempt must wait: a second, then two, and so on up to 15
/// minutes, by name and address together, and by address. Failures from other addresses lock nobody out; if there are
/// many for one name, each answer about it takes up to 3 seconds.
#[utoipa::path(post, path = "/session", tag = "session", request_body = SignIn,
    responses((status = 200, body = SessionDetail), Problems))]
pub async fn create(
    State(app): State<App>,
    audit: Audit,
    address: Address,
    Body(given): Body<SignIn>,
) -> Result<SessionResponse> {
    let name = given.name.trim().to_lowercase();
    if name.len() > people::LONGEST_NAME {
        return Err(HttpError::invalid("/name", format!("no name is longer than {} bytes", people::LONGEST_NAME)));
    }
    let attempt = Attempt::count(&app, Attempt::to_sign_in(&name, address.0), clock::now()).await?;
    tokio::time::sleep(attempt.delay()).await;
    let mut db = app.pool().acquire().await?;
    let user = users::named(&mut db, &name).await?.filter(|user| user.disabled_at.is_none());
    let hash = user.as_ref().and_then(|user| user.password_hash.clone());
    // Hashing takes its time, and may wait for its turn.
    drop(db);
    let password = given.password;
    let right = password.len() <= secret::LONGEST_PASSWORD
        && hashed(move || secret::is_password(&password, hash.as_deref())).await?;
    let wrong = || HttpError::Forbidden("the name or the password is wrong".into());
    let user = user.filter(|_| right).ok_or_else(wrong)?;
    let mut tx = app.pool().begin().await?;
    attempt.succeeded(&mut tx).await?;
    audit.actor(&user.name);
    audit.subject(&user.name);
    let opened = open(&mut tx, user, app.https()).await?;
    audit.commit(tx).await?;
    Ok(opened)
}

/// Who is signed in
#[utoipa::path(get, path = "/session", tag = "session", responses((status = 200, body = SessionDetail), Problems),
    security(("session" = []), ("token" = [])))]
pub async fn show(State(app): State<App>, jar: CookieJar, SignedIn(caller): SignedIn) -> Result<Json<SessionDetail>> {
    let csrf = jar.get(SESSION_COOKIE).filter(|_| caller.token.is_none()).map(|c| secret::csrf_token(c.value()));
    Ok(Json(detail(&mut *app.pool().acquire().await?, &caller, csrf).await?))
}

/// Sign out
#[utoipa::path(delete, path = "/session", tag = "session", responses((status = 204), Problems), security(("session" = [])))]
pub async fn delete(
    State(app): State<App>,
    jar: CookieJar,
    _: SignedIn,
    audit: Audit,
) -> Result<(StatusCode, [(HeaderName, String); 1])> {
    let mut tx = app.pool().begin().await?;
    if let Some(cookie) = jar.get(SESSION_COOKIE) {
        sessions::delete(&mut tx, &secret::hash(cookie.value())).await?;
    }
    audit.commit(tx).await?;
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie("", 0, app.https()))]))
}

/// Look at a one-time link
///
/// Says whom the link is for, and does not use it up. This is a POST because the secret must not be in a URL, which
/// servers log.
#[utoipa::path(post, path = "/invitations/look", tag = "session", request_body = OneTimeLink,
    responses((status = 200, body = LinkRecipient), Problems))]
pub async fn look(State(app): State<App>, audit: Audit, Body(given): Body<OneTimeLink>) -> Result<Json<LinkRecipient>> {
    audit.nothing_changed();
    let mut db = app.pool().acquire().await?;
    let invited = invitations::find(&mut db, &secret::hash(&given.secret), clock::now()).await?.ok_or_else(gone)?;
    let name = match invited {
        Some(id) => {
            Some(users::get(&mut db, id).await?.filter(|user| user.disabled_at.is_none()).ok_or_else(gone)?.name)
        }
        None => None,
    };
    Ok(Json(LinkRecipient { name }))
}

fn gone() -> HttpError {
    HttpError::Forbidden("the link is used up or too old; ask for another one".into())
}

/// Open a one-time link
///
/// Makes the first administrator, or lets an invited user choose a password. The link can be used once. Failed attempts
/// must wait, as when signing in.
#[utoipa::path(post, path = "/invitations/accept", tag = "session", request_body = AcceptInvitation,
    responses((status = 200, body = SessionDetail), Problems))]
pub async fn accept(
    State(app): State<App>,
    audit: Audit,
    address: Address,
    Body(given): Body<AcceptInvitation>,
) -> Result<SessionResponse> {
    check_password(&given.password)?;
    // A password costs much to hash: nobody without a link has one hashed.
    let link = secret::hash(&given.secret);
    if invitations::find(&mut *app.pool().acquire().await?, &link, clock::now()).await?.is_none() {
        Attempt::count(&app, vec![Subject::Address(address.0)], clock::now()).await?;
        return Err(gone());
    }
    let password = given.password;
    let hash = hashed(move || secret::hash_password(&password)).await??;
    let mut tx = app.pool().begin().await?;
    let invited = invitations::take(&mut tx, &link, clock::now()).await?.ok_or_else(gone)?;
    let user = match invited {
        Some(id) => {
            users::set_password(&mut tx, id, &hash).await?;
            users::get(&mut tx, id).await?.filter(|user| user.disabled_at.is_none()).ok_or_else(gone)?
        }
        None => first_administrator(&mut tx, given.name.as_deref(), hash).await?,
    };
    audit.actor(&user.name);
    audit.subject(&user.name);
    let opened = open(&mut tx, user, app.https()).await?;
    audit.commit(tx).await?;
    Ok(opened)
}

async fn first_administrator(db: &mut PgConnection, name: Option<&str>, hash: String) -> Result<User> {
    let name = check_name("/name", name.unwrap_or("admin"))?;
    if !users::none(db).await? {
        return Err(HttpError::Conflict("there is an administrator already".into()));
    }
    let user = User {
        id: clock::id(),
        name,
        password_hash: Some(hash),
        administrator: true,
        disabled_at: None,
        created_at: clock::now(),
    };
    users::insert(db, &user).await?;
    Ok(user)
}

/// # Errors
/// It can be guessed, or is too long to be hashed.
fn check_password(password: &str) -> Result<()> {
    if password.chars().count() < secret::SHORTEST_PASSWORD {
        return Err(HttpError::invalid("/password", format!("use at least {} characters", secret::SHORTEST_PASSWORD)));
    }
    if password.len() > secret::LONGEST_PASSWORD {
        return Err(HttpError::invalid("/password", format!("use at most {} bytes", secret::LONGEST_PASSWORD)));
    }
    Ok(())
}

/// The name in the form in which it is kept.
///
/// # Errors
/// It cannot be a name.
pub fn check_name(pointer: &str, name: &str) -> Result<String> {
    people::user_name(name).map_err(|detail| HttpError::invalid(pointer, detail))
}

/// What failures are counted by. Attempts lock them in this order.
enum Subject {
    /// From everywhere. Who does not know the password could lock out who does, so this only slows down.
    Name(String),
    NameFrom(String, IpAddr),
    Address(IpAddr),
}

impl Subject {
    fn key(&self) -> String {
        match self {
            Self::Name(name) => format!("name {name}"),
            Self::NameFrom(name, address) => format!("name {name} address {address}"),
            Self::Address(address) => format!("address {address}"),
        }
    }

    /// # Errors
    /// Too many attempts have failed, and the next one must wait.
    fn throttle(&self, failed: &Failures, now: DateTime<Utc>) -> Result<()> {
        let beyond = failed.failures - FREE_FAILURES;
        if beyond < 0 || matches!(self, Self::Name(_)) {
            return Ok(());
        }
        let wait = TimeDelta::seconds(1 << beyond.min(10)).min(LONGEST_WAIT);
        let left = (failed.last_at + wait - now).num_milliseconds();
        if left > 0 { Err(HttpError::TooManyAttempts(left.div_euclid(1000) + 1)) } else { Ok(()) }
    }
}

/// An attempt, counted as failed before the password is looked at: of many guesses at once, each is one more.
struct Attempt {
    at: DateTime<Utc>,
    /// With what there was before.
    subjects: Vec<(Subject, Option<Failures>)>,
}

impl Attempt {
    fn to_sign_in(name: &str, address: IpAddr) -> Vec<Subject> {
        let name = || name.to_owned();
        vec![Subject::Name(name()), Subject::NameFrom(name(), address), Subject::Address(address)]
    }

    /// # Errors
    /// Whoever asks has failed too often, and must wait. Then the attempt counts for nothing.
    async fn count(app: &App, subjects: Vec<Subject>, at: DateTime<Utc>) -> Result<Self> {
        let mut tx = app.pool().begin().await?;
        let mut counted = Vec::new();
        for subject in subjects {
            let before = sign_in::count(&mut tx, &subject.key(), at).await?;
            before.as_ref().map_or(Ok(()), |before| subject.throttle(before, at))?;
            counted.push((subject, before));
        }
        tx.commit().await?;
        Ok(Self { at, subjects: counted })
    }

    /// How long everybody waits for an answer about the name, right or wrong: guesses from many addresses are slow, too.
    fn delay(&self) -> std::time::Duration {
        let of_name = self.subjects.iter().find(|(subject, _)| matches!(subject, Subject::Name(_)));
        let failures = of_name.and_then(|(_, before)| before.as_ref()).map_or(0, |before| before.failures);
        let beyond = u32::try_from(failures - UNDELAYED_FAILURES).unwrap_or_default();
        (DELAY_EACH * beyond.min(1_000)).min(LONGEST_DELAY)
    }

    /// It was none that failed.
    async fn succeeded(self, db: &mut PgConnection) -> Result<()> {
        for (subject, before) in self.subjects {
            match subject {
                Subject::NameFrom(..) => sign_in::forget(db, &subject.key()).await?,
                subject => {
                    sign_in::take_back(db, &subject.key(), self.at, before.map(|before| before.last_at)).await?;
                }
            }
        }
        Ok(())
    }
}

async fn open(db: &mut PgConnection, user: User, https: bool) -> Result<SessionResponse> {
    let session = secret::make("")?;
    let now = clock::now();
    sessions::insert(db, &secret::hash(&session), user.id, now, now + SESSION).await?;
    let detail = detail(db, &Caller::in_session(user), Some(secret::csrf_token(&session))).await?;
    Ok(([(SET_COOKIE, cookie(&session, SESSION.num_seconds(), https))], Json(detail)))
}

/// A cookie that scripts cannot read and that other sites' forms do not carry.
fn cookie(session: &str, seconds: i64, https: bool) -> String {
    let secure = if https { "; Secure" } else { "" };
    format!("{SESSION_COOKIE}={session}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
}

async fn detail(db: &mut PgConnection, caller: &Caller, csrf_token: Option<String>) -> Result<SessionDetail> {
    let mine = projects::list(db, (!caller.administrator).then_some(caller.id)).await?;
    let mut roles = Vec::new();
    for project in mine {
        if let Some(role) = caller.role(db, project.id).await? {
            roles.push(ProjectRole { project: project.name, title: project.title, role });
        }
    }
    Ok(SessionDetail { name: caller.name.clone(), administrator: caller.administrator, projects: roles, csrf_token })
}

/// Each hash takes 19 MB for as long as it is made: however many ask, only so many are made at once.
const HASHES_AT_ONCE: usize = 4;
static HASHING: Semaphore = Semaphore::const_new(HASHES_AT_ONCE);

/// Off the threads that serve.
async fn hashed<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let _turn = HASHING.acquire().await.map_err(|e| HttpError::Internal(e.into()))?;
    tokio::task::spawn_blocking(work).await.map_err(|e| HttpError::Internal(e.into()))
}

/// Where a request comes from.
pub struct Address(IpAddr);

impl FromRequestParts<App> for Address {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        if let Some(address) = app.https().then(|| told_by_proxy(&parts.headers)).flatten() {
            return Ok(Self(address));
        }
        let info = Extension::<ConnectInfo<SocketAddr>>::from_request_parts(parts, app).await;
        Ok(Self(info.map_or(IpAddr::from([0, 0, 0, 0]), |Extension(ConnectInfo(address))| address.ip())))
    }
}

/// The address that our proxy saw. It appends; what stands before that may have been made up by whoever asks.
fn told_by_proxy(headers: &HeaderMap) -> Option<IpAddr> {
    let told = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    told.rsplit(',').next()?.trim().parse().ok()
}
