//! The API, asked as by a program with a token.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use anyhow::ensure;
use domain::access::{Role, Scope};
use llm::http_client;
use reqwest::{Client, Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use server::secret;
use sqlx::PgPool;
use store::tokens::{self, Token};
use store::users::{self, User};
use store::{clock, projects};
use uuid::Uuid;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_mins(2);

/// A user with a token.
#[derive(Clone)]
pub struct Caller {
    client: Client,
    pub url: String,
    pub token: String,
}

impl Caller {
    /// An administrator whose token allows everything.
    pub async fn administrator(db: &PgPool, url: String) -> anyhow::Result<Self> {
        let (_, token) = user_with_token(db, "bench", true, &[Scope::Admin]).await?;
        Ok(Self { client: http_client().build()?, url, token })
    }

    /// A member of a project, who asks from an address of their own.
    pub async fn member(
        db: &PgPool,
        url: &str,
        project: Uuid,
        (role, scopes): (Role, &[Scope]),
        from: IpAddr,
    ) -> anyhow::Result<Self> {
        let (user, token) = user_with_token(db, &format!("{role}-{project}"), false, scopes).await?;
        projects::set_role(&mut *db.acquire().await?, project, user, role.into_str()).await?;
        Ok(Self { client: http_client().local_address(from).build()?, url: url.to_owned(), token })
    }

    /// The answer to a request, whatever it is.
    pub async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<(StatusCode, String)> {
        let request = self.client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = request.timeout(PATIENCE).send().await?;
        Ok((response.status(), response.text().await?))
    }

    /// The answer to a GET, which must be right, and how long it took.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<(T, Duration)> {
        let begun = Instant::now();
        let response = self.client.get(format!("{}{path}", self.url)).bearer_auth(&self.token).send().await?;
        ensure!(response.status().is_success(), "{path}: {} {}", response.status(), response.text().await?);
        let body = response.bytes().await?;
        let took = begun.elapsed();
        Ok((serde_json::from_slice(&body)?, took))
    }

    /// Puts something, which must go right.
    pub async fn put(&self, path: &str, body: &Value) -> anyhow::Result<()> {
        let (status, text) = self.ask(Method::PUT, path, Some(body)).await?;
        ensure!(status.is_success(), "{path}: {status} {text}");
        Ok(())
    }

    /// The answer to a POST, which must be right.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> anyhow::Result<T> {
        let (status, text) = self.ask(Method::POST, path, Some(body)).await?;
        ensure!(status.is_success(), "{path}: {status} {text}");
        Ok(serde_json::from_str(&text)?)
    }
}

async fn user_with_token(
    db: &PgPool,
    name: &str,
    administrator: bool,
    scopes: &[Scope],
) -> anyhow::Result<(Uuid, String)> {
    let (id, now) = (clock::id(), clock::now());
    let user =
        User { id, name: name.to_owned(), password_hash: None, administrator, disabled_at: None, created_at: now };
    let mut db = db.acquire().await?;
    ensure!(users::insert(&mut db, &user).await?, "there is a user {name} already");
    let secret = secret::make("gs_")?;
    let token = Token {
        id: clock::id(),
        user_id: id,
        project_id: None,
        name: "bench".to_owned(),
        scopes: scopes.iter().map(ToString::to_string).collect(),
        created_at: now,
        expires_at: None,
        last_used_at: None,
    };
    tokens::insert(&mut db, &token, &secret::hash(&secret)).await?;
    Ok((id, secret))
}
