//! The database a command works with: `DATABASE_URL`, or the private PostgreSQL of the data directory.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use sqlx::PgPool;

use crate::postgres::{PrivatePostgres, default_data_dir};

#[derive(clap::Args)]
struct ConnectionFlags {
    /// URL of a PostgreSQL to use instead of the private one
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    database_url: Option<String>,
    /// Folder of the private PostgreSQL [default: /var/lib/groundstate for root, else ~/.local/share/groundstate]
    // A variable that is set to nothing is as good as none, and no error.
    #[arg(long, env = "GROUNDSTATE_DATA", value_name = "DIR", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    data_dir: Option<PathBuf>,
}

pub struct ConnectionArgs {
    flags: ConnectionFlags,
    /// `--database-url` is given, and not only its variable.
    is_url_given: bool,
}

impl clap::Args for ConnectionArgs {
    fn augment_args(command: Command) -> Command {
        ConnectionFlags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        ConnectionFlags::augment_args_for_update(command)
    }
}

impl clap::FromArgMatches for ConnectionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_url_given = matches.value_source("database_url") == Some(ValueSource::CommandLine);
        Ok(Self { flags: ConnectionFlags::from_arg_matches(matches)?, is_url_given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Arguments of every list that shows the newest first.
#[derive(clap::Args)]
pub struct NewestArgs {
    /// How many to list
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub limit: i64,
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

pub struct Connection {
    pub pool: PgPool,
    /// Where other processes of this machine find the database.
    pub url: String,
    private: Option<PrivatePostgres>,
}

impl ConnectionArgs {
    /// Where this machine keeps what belongs to Groundstate, whichever PostgreSQL it uses.
    pub fn data_dir(&self) -> PathBuf {
        self.chosen_dir().map_or_else(default_data_dir, Path::to_owned)
    }

    fn chosen_dir(&self) -> Option<&Path> {
        self.flags.data_dir.as_deref().filter(|dir| !dir.as_os_str().is_empty())
    }

    /// The flag with which another command uses the same database, for people to type. It never shows a password.
    pub fn flag(&self) -> String {
        match (self.url(), self.chosen_dir()) {
            // They have the variable.
            (Some(_), _) if !self.is_url_given => String::new(),
            (Some(url), _) => format!(" --database-url {}", quoted(&without_password(url))),
            (None, Some(dir)) => format!(" --data-dir {}", quoted(&dir.to_string_lossy())),
            (None, None) => String::new(),
        }
    }

    /// `--data-dir` is more specific than a `DATABASE_URL` that happens to be in the environment, but not than
    /// `--database-url`.
    fn url(&self) -> Option<&String> {
        self.flags.database_url.as_ref().filter(|_| self.is_url_given || self.chosen_dir().is_none())
    }
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), Cow::into_owned)
}

/// The URL, with `PASSWORD` in the place of a password.
fn without_password(given: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse(given) else { return "URL".to_owned() };
    if url.password().is_none() && !url.query_pairs().any(|(name, _)| is_secret(&name)) {
        return given.to_owned();
    }
    if url.password().is_some() {
        // It has a host, so it can have a password.
        let _ = url.set_password(Some("PASSWORD"));
    }
    let pairs: Vec<(String, String)> = url
        .query_pairs()
        .map(|(name, value)| {
            let value = if is_secret(&name) { "PASSWORD".into() } else { value };
            (name.into_owned(), value.into_owned())
        })
        .collect();
    if !pairs.is_empty() {
        url.query_pairs_mut().clear().extend_pairs(pairs);
    }
    url.into()
}

fn is_secret(parameter: &str) -> bool {
    parameter.contains("password")
}

/// A running PostgreSQL, whatever its database holds.
pub struct RunningPostgres {
    pub url: String,
    private: Option<PrivatePostgres>,
}

impl RunningPostgres {
    pub async fn start(args: &ConnectionArgs) -> anyhow::Result<Self> {
        if let Some(url) = args.url() {
            return Ok(Self { url: url.clone(), private: None });
        }
        let private = PrivatePostgres::start(&args.data_dir()).await?;
        Ok(Self { url: private.url().to_owned(), private: Some(private) })
    }

    pub async fn stop(self) {
        if let Some(private) = self.private {
            private.stop().await;
        }
    }
}

impl Connection {
    pub async fn open(args: &ConnectionArgs) -> anyhow::Result<Self> {
        let RunningPostgres { url, private } = RunningPostgres::start(args).await?;
        let which = match &private {
            Some(_) => "the private PostgreSQL",
            None if args.is_url_given => "the database of --database-url",
            None => "the database of DATABASE_URL",
        };
        let pool = store::open(&url).await.with_context(|| format!("cannot use {which}"))?;
        Ok(Self { pool, url, private })
    }

    /// Where the private PostgreSQL keeps its data, if it is used.
    pub fn folder(&self) -> Option<&Path> {
        self.private.as_ref()?.folder()
    }

    /// Closes connections, then stops the PostgreSQL that was started for them.
    pub async fn close(self) {
        self.pool.close().await;
        if let Some(private) = self.private {
            private.stop().await;
        }
    }
}
