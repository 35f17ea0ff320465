//! The other side: a database, or a server with its API.

use anyhow::{Context, bail};
use domain::Problem;
use domain::api::ProblemDetails;
use domain::api::documents::Changes;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::json;

use super::super::connection::{Connection, ConnectionArgs};
use super::{check_server, refused};
use ::projects::archive::{pack, unpack};
use ::projects::documents::{self, ExistingDocuments, Replacement, SavedChanges};
use ::projects::library::project::Documents;
use ::sandbox::Sandbox;
use domain::bad_input::BadInput;
use store::audit::{self, Entry};
use store::clock;
use store::projects::{self, Project};

pub enum Remote {
    Database { connection: Connection, project: Project },
    Server { client: Client, archive: Url, token: String },
}

/// How documents are pushed.
pub struct Push<'a> {
    pub message: &'a str,
    pub existing: ExistingDocuments,
    pub drafts: bool,
    pub dry_run: bool,
}

impl Remote {
    pub async fn database(args: &ConnectionArgs, project: &str) -> anyhow::Result<Self> {
        let connection = Connection::open(args).await?;
        let mut db = connection.pool.acquire().await?;
        let found = projects::named(&mut db, project).await?;
        let known: Vec<String> = projects::list(&mut db, None).await?.into_iter().map(|known| known.name).collect();
        drop(db);
        match found {
            Some(project) => Ok(Self::Database { connection, project }),
            None => {
                connection.close().await;
                bail!(BadInput::one("--to", format!("there is no project `{project}`; known: {}", known.join(", "))))
            }
        }
    }

    pub fn server(url: &Url, project: &str, token_env: &str) -> anyhow::Result<Self> {
        check_server(url)?;
        let token = std::env::var(token_env).ok().filter(|token| !token.trim().is_empty());
        let missing = || BadInput::one("--token-env", format!("the environment variable {token_env} holds no token"));
        let token = token.ok_or_else(missing)?.trim().to_owned();
        let mut archive = url.clone();
        let no_base = || BadInput::one("--server", "is not the address of a server");
        archive
            .path_segments_mut()
            .map_err(|()| no_base())?
            .pop_if_empty()
            .extend(["api", "v1", "projects", project, "archive"]);
        Ok(Self::Server { client: Client::new(), archive, token })
    }

    pub fn name(&self) -> String {
        match self {
            Self::Database { project, .. } => format!("the project {} of the database", project.name),
            Self::Server { archive, .. } => archive.as_str().trim_end_matches("/archive").to_owned(),
        }
    }

    pub async fn documents(&self) -> anyhow::Result<Documents> {
        match self {
            Self::Database { connection, project } => {
                let files = documents::files(&connection.pool, project.id).await?;
                Ok(Documents::of(files).map_err(BadInput)?)
            }
            Self::Server { client, archive, token } => {
                let response = answered(client.get(archive.clone()).bearer_auth(token)).await?;
                let bytes = response.bytes().await.context("the connection broke while the archive was downloaded")?;
                // A project without documents is an archive without entries.
                match unpack(&bytes) {
                    Err(_) if bytes.len() < 32 => Ok(Documents::default()),
                    unpacked => Ok(unpacked.map_err(BadInput)?),
                }
            }
        }
    }

    pub async fn push(&self, given: Documents, push: &Push<'_>) -> anyhow::Result<Changes> {
        match self {
            Self::Database { connection, project } => {
                let Push { message, existing, drafts, dry_run } = *push;
                let wanted = Replacement { project: project.id, author: "", message, existing, drafts, dry_run };
                let pool = &connection.pool;
                let saved = documents::replace(pool, &Sandbox::InProcess, given, &wanted).await.map_err(refused)?;
                let SavedChanges { changes, tx } = saved;
                if let Some(mut tx) = tx {
                    let entry = Entry {
                        at: clock::now(),
                        actor: String::new(),
                        token: None,
                        project_id: Some(project.id),
                        action: "sync --push".to_owned(),
                        subject: project.name.clone(),
                        detail: json!({"documents": changes.documents.len()}),
                    };
                    audit::insert(&mut tx, &entry).await?;
                    tx.commit().await?;
                }
                Ok(changes)
            }
            Self::Server { client, archive, token } => {
                let flag = |on: bool| if on { "true" } else { "false" };
                let mut url = archive.clone();
                url.query_pairs_mut()
                    .append_pair("delete", flag(push.existing == ExistingDocuments::Mirror))
                    .append_pair("missing", flag(push.existing == ExistingDocuments::Keep))
                    .append_pair("drafts", flag(push.drafts))
                    .append_pair("dry_run", flag(push.dry_run))
                    .append_pair("message", push.message);
                let request = client.request(Method::PUT, url).bearer_auth(token);
                let request = request.header("content-type", "application/zip").body(pack(&given.files())?);
                Ok(answered(request).await?.json().await.context("the server's answer cannot be read")?)
            }
        }
    }

    pub async fn close(self) {
        if let Self::Database { connection, .. } = self {
            connection.close().await;
        }
    }
}

/// What a server answers that can do what it is asked; else what it says is wrong.
async fn answered(request: RequestBuilder) -> anyhow::Result<Response> {
    let response = request.send().await.context("the server cannot be reached")?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let problem: Option<ProblemDetails> = response.json().await.ok();
    let Some(problem) = problem else { bail!("the server answered {status}; it does not seem to be Groundstate") };
    if status == StatusCode::UNPROCESSABLE_ENTITY && !problem.errors.is_empty() {
        let errors = problem.errors.into_iter();
        let said = errors.map(|error| {
            Problem::new(error.file.unwrap_or_default(), error.line.unwrap_or(0), field(&error.pointer), error.detail)
        });
        bail!(BadInput(said.collect()));
    }
    bail!(BadInput::one("--server", format!("{}: {}", problem.title.to_lowercase(), problem.detail)))
}

/// `/tools/2/simulate` as it is shown: `tools.2.simulate`.
fn field(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}
