//! The server, by its API.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context, bail};
use domain::api::ProblemDetails;
use domain::api::episodes::{Environment, Episode, EpisodeState, NamedEnvironment, NewEpisodes};
use domain::bad_input::BadInput;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// An episode is waited for so many times 50 seconds.
const MOST_WAITS: usize = 12;
/// Longer than the server takes for any request.
const LONGEST_REQUEST: Duration = Duration::from_mins(2);
/// Episodes that are given up at once.
const CLOSED_AT_ONCE: usize = 16;

pub struct Server {
    client: Client,
    url: Url,
    token: String,
    /// Name of the project.
    project: String,
    /// Episodes that nobody has played to their end yet.
    open: Mutex<HashSet<String>>,
}

impl Server {
    /// # Errors
    /// The address is none, or the environment variable holds no token.
    pub fn new(url: &Url, token_env: &str, project: &str) -> anyhow::Result<Self> {
        let token = std::env::var(token_env).unwrap_or_default().trim().to_owned();
        if token.is_empty() {
            let message =
                format!("the environment variable {token_env} holds no token; make one with `groundstate tokens`");
            bail!(BadInput::one("--token-env", message));
        }
        if url.cannot_be_a_base() {
            bail!(BadInput::one("--server", "is not the address of a server"));
        }
        let (url, project) = (url.clone(), project.to_owned());
        Ok(Self { client: Client::new(), url, token, project, open: Mutex::default() })
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The address of an episode.
    pub fn episode(&self, id: &str) -> anyhow::Result<Url> {
        self.at(&["episodes", id])
    }

    /// The environment of a name; of another name, that of a playbook.
    pub async fn environment(&self, name: &str) -> anyhow::Result<Environment> {
        let url = self.at(&["projects", &self.project, "environments"])?;
        let all: Vec<NamedEnvironment> = self.answered(self.client.get(url)).await?;
        let named = all.into_iter().find(|environment| environment.name == name);
        let of_playbook = || Environment { playbooks: vec![name.to_owned()], ..Environment::default() };
        Ok(named.map_or_else(of_playbook, |named| named.environment))
    }

    /// Opens episodes. They are given up by [`give_up_open`](Self::give_up_open) unless they are verified.
    pub async fn open(&self, new: &NewEpisodes) -> anyhow::Result<Vec<Episode>> {
        let opened: Vec<Episode> = self.post(&["projects", &self.project, "episodes"], new).await?;
        self.open.lock().extend(opened.iter().map(|episode| episode.id.clone()));
        Ok(opened)
    }

    /// The result of an episode. A command that was stopped may have left it while users and tools still answer.
    pub async fn verify(&self, id: &str) -> anyhow::Result<Episode> {
        self.open.lock().remove(id);
        for _ in 0..MOST_WAITS {
            let mut url = self.episode(id)?;
            url.set_query(Some("wait=50"));
            let episode: Episode = self.answered(self.client.get(url)).await?;
            if episode.state != EpisodeState::Playing {
                break;
            }
        }
        self.post(&["episodes", id, "verify"], &json!({})).await
    }

    /// Gives up the episodes that nobody plays any more.
    pub async fn give_up_open(&self) {
        let open: Vec<String> = self.open.lock().drain().collect();
        let close = |id: String| async move {
            let Ok(url) = self.episode(&id) else { return };
            // If it fails, the server gives the episode up after a while.
            self.client.delete(url).bearer_auth(&self.token).timeout(LONGEST_REQUEST).send().await.ok();
        };
        stream::iter(open).for_each_concurrent(CLOSED_AT_ONCE, close).await;
    }

    fn at(&self, path: &[&str]) -> anyhow::Result<Url> {
        let mut url = self.url.clone();
        url.path_segments_mut()
            .map_err(|()| BadInput::one("--server", "is not the address of a server"))?
            .pop_if_empty()
            .extend(["api", "v1"])
            .extend(path);
        Ok(url)
    }

    async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> anyhow::Result<T> {
        self.answered(self.client.post(self.at(path)?).json(body)).await
    }

    /// # Errors
    /// [`BadInput`] if the arguments of the command are to blame: then every other request fails, too.
    async fn answered<T: DeserializeOwned>(&self, request: RequestBuilder) -> anyhow::Result<T> {
        let request = request.bearer_auth(&self.token).timeout(LONGEST_REQUEST);
        let response = request.send().await.context("the server cannot be reached")?;
        let status = response.status();
        if status.is_success() {
            return response.json().await.context("the server's answer cannot be read");
        }
        let problem: Option<ProblemDetails> = response.json().await.ok();
        match problem {
            None => bail!("the server answered {status}; it does not seem to be Groundstate"),
            Some(problem) if is_about_arguments(status) => {
                bail!(BadInput::one(blamed(status, &problem), problem.detail))
            }
            Some(problem) => bail!(problem.detail),
        }
    }
}

fn is_about_arguments(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST
            | StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::NOT_FOUND
            | StatusCode::UNPROCESSABLE_ENTITY
    )
}

/// The argument that the server's answer is about.
fn blamed(status: StatusCode, problem: &ProblemDetails) -> &'static str {
    let pointer = problem.errors.first().map_or("", |error| error.pointer.as_str());
    match (status, pointer) {
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => "--token-env",
        (StatusCode::NOT_FOUND, _) => "--to",
        (_, "/scenario" | "/environment/scenarios") => "--scenario",
        (_, "/split" | "/environment/split") => "--split",
        (_, "/group") => "--group",
        (_, "/samples") => "--samples",
        (_, pointer) if pointer == "/name" || pointer.starts_with("/environment") => "--environment",
        _ => "--server",
    }
}
