//! `groundstate serve`: the API and the web app; and it plays, unless it is told not to.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use chrono::TimeDelta;
use llm::{AllowedKeys, AllowedUrl};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, ConnectionArgs, quoted};
use super::models_file;
use super::play::{PlayerArgs, until_interrupted};
use super::storage_args::StorageArgs;
use super::tools_file::ToolsArgs;
use crate::http;
use crate::http::app::{App, Setup};
use crate::output::say;
use crate::people;
use crate::player_process::{self, PlayerLink, PlayerOrder};
use crate::secret;
use crate::telemetry;
use ::projects::library::{Cache, Files};
use ::sandbox::Sandbox;
use store::clock;
use store::objects::Objects;
use store::{documents, invitations, projects, users};

#[derive(clap::Args)]
pub struct Serve {
    /// Address to listen on; port 0 takes a free port
    #[arg(long, default_value = "127.0.0.1:7878", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Folder with models.yaml: the models that runs may name
    #[arg(long, default_value = ".", value_name = "DIR")]
    project: PathBuf,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    tools: ToolsArgs,
    /// Environment variables that models may name as their key if they are added over the API; `*` stands for any
    /// letters, commas separate names
    #[arg(long, env = "GROUNDSTATE_MODEL_KEYS", value_name = "NAMES", value_delimiter = ',',
        default_values = AllowedKeys::VARIABLES)]
    model_keys: Vec<String>,
    /// Folder below which such models may name the files of their keys
    #[arg(long, env = "GROUNDSTATE_MODEL_KEY_FILES", value_name = "DIR", default_value = AllowedKeys::FOLDER)]
    model_key_files: PathBuf,
    /// Endpoints that the API may name as agents of episodes: addresses that begin so, separated by commas, such as
    /// `http://trainer:8000/`
    #[arg(long, env = "GROUNDSTATE_AGENT_URLS", value_name = "URLS", value_delimiter = ',')]
    agent_urls: Vec<AllowedUrl>,
    /// For a server behind a proxy that ends TLS: send cookies only over HTTPS, and trust X-Forwarded-For
    #[arg(long)]
    https: bool,
    /// Do not play; leave it to `groundstate play`
    #[arg(long)]
    no_play: bool,
    #[command(flatten)]
    player: PlayerArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(args: Serve) -> anyhow::Result<ExitCode> {
    let limits = http::ConnectionLimits::of(http::raise_descriptors(), args.https);
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}; choose another address with --listen", args.listen))?;
    telemetry::count()?;
    let connection = Connection::open(&args.connection).await?;
    let address = listener.local_addr()?;
    say!("Groundstate listens on http://{address}");
    if let Some(secret) = first_link(&connection).await? {
        say!("Open http://{address}{} to become its administrator (once, within a day)", people::welcome(&secret));
    }
    if let Some(hint) = documents_hint(&args, &connection).await? {
        say!("{hint}");
    }
    let stop = CancellationToken::new();
    let done = until_interrupted(&stop, both(&args, (listener, limits), &connection, &stop)).await;
    connection.close().await;
    done?;
    Ok(ExitCode::SUCCESS)
}

async fn both(
    args: &Serve,
    (listener, limits): (TcpListener, http::ConnectionLimits),
    connection: &Connection,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let clients = args.player.clients();
    let files = args.storage.files(&args.connection);
    let objects = args.storage.objects(&args.connection)?;
    let link = PlayerLink::default();
    let app = App::new(Setup {
        pool: connection.pool.clone(),
        registry: models_file::read(&args.project)?,
        keys: AllowedKeys { variables: args.model_keys.clone(), folder: args.model_key_files.clone() },
        clients: clients.clone(),
        tools: args.tools.read()?,
        libraries: Cache::default(),
        sandbox: Sandbox::of_this_program(),
        player: Some(link.clone()),
        files: files.clone(),
        objects: objects.clone(),
        https: args.https,
        agent_urls: args.agent_urls.clone(),
        stop: stop.clone(),
    });
    let _following = runtime::follow(&connection.pool, &clients);
    let served = async {
        http::serve(listener, http::router(app), limits, stop.clone()).await;
        anyhow::Ok(())
    };
    let order = PlayerOrder {
        arguments: args.player_arguments(&files, &objects, connection.folder()),
        database_url: connection.url.clone(),
        drain: args.player.drain(),
    };
    tokio::try_join!(served, player_process::supervise(&order, &connection.pool, &link, stop))?;
    Ok(())
}

impl Serve {
    /// Of the process that plays and works on jobs.
    fn player_arguments(&self, files: &Path, objects: &Objects, database: Option<&Path>) -> Vec<OsString> {
        let mut arguments = self.player.arguments();
        arguments.extend(["--files".into(), files.into(), "--objects".into(), objects.place().into()]);
        if let Some(file) = &self.tools.tools {
            arguments.extend(["--tools".into(), file.into()]);
        }
        if let Some(folder) = database {
            arguments.extend(["--database-folder".into(), folder.into()]);
        }
        if self.no_play {
            arguments.push("--only-jobs".into());
        }
        arguments
    }
}

/// Says how the documents of the folder get into the app, which shows those of the database alone.
async fn documents_hint(args: &Serve, connection: &Connection) -> anyhow::Result<Option<String>> {
    let folder = args.project.as_path();
    if !Files::is_project(folder) {
        return Ok(None);
    }
    let heads = documents::heads(&mut *connection.pool.acquire().await?, projects::DEFAULT).await?;
    if heads.values().any(|head| !head.deleted) {
        return Ok(None);
    }
    let option = match folder.to_string_lossy() {
        here if here == "." => String::new(),
        folder => format!(" --project {}", quoted(&folder)),
    };
    Ok(Some(format!(
        "The project default has no documents yet. Add those of {} with: groundstate sync --push{option}{}",
        folder.display(),
        args.connection.flag()
    )))
}

/// While nobody is there who could let others in: the secret of a link that makes its opener the administrator.
async fn first_link(connection: &Connection) -> anyhow::Result<Option<String>> {
    let mut tx = connection.pool.begin().await?;
    if !users::none(&mut tx).await? {
        return Ok(None);
    }
    let secret = secret::make("")?;
    let now = clock::now();
    invitations::insert(&mut tx, &secret::hash(&secret), None, now, now + TimeDelta::days(1)).await?;
    tx.commit().await?;
    Ok(Some(secret))
}
