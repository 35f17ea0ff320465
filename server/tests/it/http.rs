//! The HTTP side, driven over a socket. Modules mirror the URLs.

mod access;
mod analytics;
mod answers;
pub mod archive;
mod assets;
mod audit;
mod branches;
mod connections;
mod conversations;
mod corpora;
pub mod datasets;
mod documents;
pub mod episodes;
mod exports;
pub mod followed;
mod headers;
pub mod indexes;
mod invitations;
mod jobs;
mod judgings;
mod limits;
mod metrics;
mod models;
mod openenv;
mod orders;
mod ors;
mod other;
mod projects;
mod reviews;
pub mod rows;
mod runs;
mod schemas;
mod session;
mod shares;
mod storage;
mod streams;
mod validations;
mod workers;
mod worlds;

use std::sync::Arc;

use ::projects::library::Cache;
use domain::access::{Role, Scope};
use domain::api::ProblemDetails;
use domain::job::JobKind;
use llm::http_client;
use llm::{AllowedKeys, Registry};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use runtime::ModelClients;
use serde::de::DeserializeOwned;
use serde_json::Value;
use server::http::ConnectionLimits;
use server::http::app::{App, Setup};
use server::player_process::PlayerLink;
use server::secret;
use sqlx::PgPool;
use store::clock;
use store::projects as stored;
use store::tokens::{self, Token};
use store::users::{self, User};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::support;
use crate::support::play::hasty;

/// More connections than a test makes.
const MANY: ConnectionLimits = ConnectionLimits { in_all: 1_000, per_place: None };

/// What the app does by itself. Exports and corpora wait until a test has them built.
const BY_ITSELF: [JobKind; 3] = [JobKind::Judging, JobKind::Validation, JobKind::Probe];

/// The app on a loopback port, and somebody who asks it: an administrator with a token, if nothing else is said.
pub struct TestApp {
    pub url: String,
    pub pool: PgPool,
    client: Client,
    token: String,
    /// Asks the player that the server keeps, once a test starts one.
    pub link: PlayerLink,
    /// Where the server keeps files.
    files: TempDir,
    /// Jobs are worked on, and leases renewed, as long as somebody asks here.
    working: Arc<DropGuard>,
}

impl TestApp {
    pub async fn start(pool: &PgPool) -> Self {
        Self::with_models(pool, Registry::default()).await
    }

    /// With models that runs may name.
    pub async fn with_models(pool: &PgPool, registry: Registry) -> Self {
        Self::set_up(pool, registry, false, MANY).await
    }

    pub async fn behind_proxy(pool: &PgPool) -> Self {
        Self::set_up(pool, Registry::default(), true, MANY).await
    }

    /// With room for few.
    pub async fn with_connections(pool: &PgPool, limits: ConnectionLimits) -> Self {
        Self::set_up(pool, Registry::default(), false, limits).await
    }

    async fn set_up(pool: &PgPool, registry: Registry, https: bool, limits: ConnectionLimits) -> Self {
        support::stuck::watch(pool);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let files = tempfile::tempdir().unwrap();
        let clients = ModelClients::new(hasty());
        let sandbox = support::jobs::sandbox();
        let (stop, link) = (CancellationToken::new(), PlayerLink::default());
        let setup = Setup {
            pool: pool.clone(),
            registry,
            // Tests write keys into folders of their own.
            keys: AllowedKeys { folder: std::env::temp_dir(), ..AllowedKeys::default() },
            clients,
            tools: tools::Tools::default(),
            files: files.path().to_owned(),
            objects: support::jobs::objects(files.path()),
            https,
            agent_urls: vec!["http://127.0.0.1:".parse().unwrap()],
            stop: stop.clone(),
            libraries: Cache::default(),
            sandbox: sandbox.clone(),
            player: Some(link.clone()),
        };
        let handlers = server::jobs::handlers(&setup.clients, &sandbox).of(&BY_ITSELF);
        let (own, working) = (pool.clone(), stop.clone());
        tokio::spawn(async move {
            runtime::jobs::serve(&own, &runtime::jobs::Options::default(), &handlers, &working).await
        });
        let router = server::http::router(App::new(setup));
        tokio::spawn(server::http::serve(listener, router, limits, CancellationToken::new()));
        let first = users::none(&mut pool.acquire().await.unwrap()).await.unwrap();
        let root = if first { "root" } else { "root-again" };
        let token = token(pool, somebody(pool, root, true).await, &[Scope::Admin]).await;
        let working = Arc::new(stop.drop_guard());
        Self { url, pool: pool.clone(), client: http_client().build().unwrap(), token, link, files, working }
    }

    /// The secret of whoever asks here.
    pub fn token(&self) -> &str {
        &self.token
    }

    pub fn files(&self) -> &std::path::Path {
        self.files.path()
    }

    /// A request by whoever asks here.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        if self.token.is_empty() { request } else { request.bearer_auth(&self.token) }
    }

    /// The same app, asked by a new member of the default project.
    pub async fn member(&self, role: Role) -> Self {
        let user = somebody(&self.pool, &format!("member-{role}-{}", clock::id()), false).await;
        let mut db = self.pool.acquire().await.unwrap();
        stored::set_role(&mut db, stored::DEFAULT, user, role.into_str()).await.unwrap();
        self.with_token(token(&self.pool, user, &[Scope::Admin]).await)
    }

    /// The same app, asked with another token, or with none.
    pub fn with_token(&self, token: String) -> Self {
        let files = tempfile::tempdir().unwrap();
        let (url, link, working) = (self.url.clone(), self.link.clone(), Arc::clone(&self.working));
        Self { url, pool: self.pool.clone(), client: http_client().build().unwrap(), token, link, files, working }
    }

    pub async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    /// What is answered to a request with a JSON body.
    pub async fn send(&self, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
        let response = self.request(method, path).json(body).send().await.unwrap();
        let (status, text) = (response.status(), response.text().await.unwrap());
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// What is made by a POST, which must be fine.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> T {
        let (status, answer) = self.send(Method::POST, path, body).await;
        assert!(status.is_success(), "{path}: {status} {answer}");
        serde_json::from_value(answer).unwrap()
    }

    /// The errors of a POST that is refused because of what was sent: pointer and detail of each.
    pub async fn refused(&self, path: &str, body: &Value) -> Vec<(String, String)> {
        let (status, answer) = self.send(Method::POST, path, body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{path}: {answer}");
        let problem: ProblemDetails = serde_json::from_value(answer).unwrap();
        problem.errors.into_iter().map(|error| (error.pointer, error.detail)).collect()
    }

    /// What stands there, which must be fine.
    pub async fn json<T: DeserializeOwned>(&self, path: &str) -> T {
        let response = self.get(path).await;
        let (status, text) = (response.status(), response.text().await.unwrap());
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    pub async fn text(&self, path: &str) -> String {
        self.get(path).await.text().await.unwrap()
    }

    pub async fn status(&self, path: &str) -> StatusCode {
        self.get(path).await.status()
    }

    /// The detail of the problem document that is the answer.
    pub async fn problem(&self, path: &str, status: StatusCode) -> String {
        let response = self.get(path).await;
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers()["content-type"], "application/problem+json", "{path}");
        let problem: ProblemDetails = response.json().await.unwrap();
        assert_eq!((problem.status, problem.kind.as_str()), (status.as_u16(), "about:blank"));
        assert_eq!(Some(problem.title.as_str()), status.canonical_reason());
        problem.detail
    }
}

/// A new user without a password.
pub async fn somebody(pool: &PgPool, name: &str, administrator: bool) -> Uuid {
    let (id, now) = (clock::id(), clock::now());
    let user =
        User { id, name: name.to_owned(), password_hash: None, administrator, disabled_at: None, created_at: now };
    assert!(users::insert(&mut pool.acquire().await.unwrap(), &user).await.unwrap(), "{name} is new");
    id
}

/// A token of a user.
pub async fn token(pool: &PgPool, user: Uuid, scopes: &[Scope]) -> String {
    let secret = secret::make("gs_").unwrap();
    let token = Token {
        id: clock::id(),
        user_id: user,
        project_id: None,
        name: "test".to_owned(),
        scopes: scopes.iter().map(ToString::to_string).collect(),
        created_at: clock::now(),
        expires_at: None,
        last_used_at: None,
    };
    tokens::insert(&mut pool.acquire().await.unwrap(), &token, &secret::hash(&secret)).await.unwrap();
    secret
}
