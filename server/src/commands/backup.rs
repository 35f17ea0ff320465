//! `groundstate backup` and `restore`: the database and the files of exports, as they were at one moment.
//!
//! PostgreSQL's own `pg_dump` and `pg_restore` do the work. What is added is that the files fit the database, and that a
//! restored database is checked.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use chrono::{DateTime, Utc};
use datasets::export::{job, private};
use domain::bad_input::BadInput;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, PgConnection};
use store::backup::{self, ExportFile};
use store::{clock, ledger};
use tokio::process::Command;
use tokio::task::spawn_blocking;

use super::connection::{Connection, ConnectionArgs, Started};
use crate::say::say;

/// What a backup is made of.
const DUMP: &str = "database.dump";
const MANIFEST: &str = "backup.json";
const FORMAT: u32 = 1;

#[derive(clap::Args)]
pub struct Backup {
    /// Folder for the backup; it must not exist yet
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    #[command(flatten)]
    files: FilesArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Restore {
    /// Folder of the backup
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    #[command(flatten)]
    files: FilesArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
struct FilesArgs {
    /// Folder of exports [default: files/ in the data directory]
    #[arg(long, env = "GROUNDSTATE_FILES", value_name = "DIR")]
    files: Option<PathBuf>,
}

impl FilesArgs {
    fn folder(&self, connection: &ConnectionArgs) -> PathBuf {
        self.files.clone().unwrap_or_else(|| connection.data_dir().join("files"))
    }
}

#[derive(Serialize, Deserialize)]
struct Manifest {
    format: u32,
    version: String,
    created_at: DateTime<Utc>,
    /// Rows of tables.
    rows: BTreeMap<String, i64>,
    exports: Vec<ExportFile>,
    /// Exports whose files were missing or damaged when the backup was made.
    missing: Vec<ExportFile>,
}

pub async fn back_up(args: Backup) -> anyhow::Result<ExitCode> {
    let to = &args.to;
    if to.exists() {
        return Err(BadInput::one("--to", format!("{} exists already; name a new folder", to.display())).into());
    }
    let connection = Connection::open(&args.connection).await?;
    let made = make(to, &args.files.folder(&args.connection), &connection).await;
    connection.close().await;
    // Half a backup is none.
    let manifest = made.inspect_err(|_| drop(fs::remove_dir_all(to)))?;
    say!("backup    {}", to.display());
    told(&manifest);
    Ok(ExitCode::SUCCESS)
}

async fn make(to: &Path, files: &Path, connection: &Connection) -> anyhow::Result<Manifest> {
    private::folder(&to.join("exports")).with_context(|| format!("cannot create {}", to.display()))?;
    let mut db = connection.pool.acquire().await?;
    let (mut tx, snapshot) = backup::snapshot(&mut db).await?;
    let rows = backup::counts(&mut tx).await?;
    let exports = backup::export_files(&mut tx).await?;
    let arguments = ["--format=custom", "--no-owner", "--no-privileges", &format!("--snapshot={snapshot}")];
    let file = format!("--file={}", to.join(DUMP).display());
    postgres("pg_dump", &[&arguments[..], &[&file]].concat(), &connection.url).await?;
    tx.rollback().await?;
    // Files of exports do not change, so those that the snapshot knows can be copied later.
    let mut manifest = Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: clock::now(),
        rows,
        exports: Vec::new(),
        missing: Vec::new(),
    };
    for one in exports {
        let (source, copy) = (job::file(files, one.id), to.join("exports").join(one.id.to_string()));
        let expected = one.clone();
        let copied = spawn_blocking(move || copy_checked(&source, &copy, &expected)).await?;
        if copied.is_ok() { manifest.exports.push(one) } else { manifest.missing.push(one) }
    }
    // Last: a folder without it is no backup.
    fs::write(to.join(MANIFEST), serde_json::to_string_pretty(&manifest)?)?;
    Ok(manifest)
}

pub async fn restore(args: Restore) -> anyhow::Result<ExitCode> {
    let manifest = read_manifest(&args.from)?;
    let started = Started::start(&args.connection).await?;
    let restored = restore_into(&args, &manifest, &started).await;
    let broken = match restored {
        Ok(broken) => broken,
        Err(error) => {
            started.stop().await;
            return Err(error);
        }
    };
    started.stop().await;
    say!("restored  {}", args.from.display());
    told(&manifest);
    for line in &broken {
        say!("broken    {line}");
    }
    ensure!(broken.is_empty(), "the restored database breaks {} rules of its ledger", broken.len());
    say!("checked   rows, files and the ledger of every run that has ended: nothing is lost or doubled");
    Ok(ExitCode::SUCCESS)
}

fn read_manifest(from: &Path) -> anyhow::Result<Manifest> {
    let path = from.join(MANIFEST);
    let bad = |why: String| BadInput::one("--from", why);
    let text = fs::read_to_string(&path).map_err(|e| bad(format!("{} is no backup: {e}", from.display())))?;
    let manifest: Manifest =
        serde_json::from_str(&text).map_err(|e| bad(format!("{} cannot be read: {e}", path.display())))?;
    if manifest.format != FORMAT {
        let message =
            format!("was made by Groundstate {} in a format that this version does not know", manifest.version);
        return Err(bad(message).into());
    }
    Ok(manifest)
}

/// What the ledger finds broken.
async fn restore_into(args: &Restore, manifest: &Manifest, started: &Started) -> anyhow::Result<Vec<String>> {
    let mut db = PgConnection::connect(&started.url).await.context("cannot use the database")?;
    if !backup::is_empty(&mut db).await? {
        let message = "the database has tables already; restore into an empty one, such as another --data-dir";
        return Err(BadInput::one("--database-url", message).into());
    }
    db.close().await?;
    let dump = args.from.join(DUMP).display().to_string();
    let options = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", &dump];
    postgres("pg_restore", &options, &started.url).await?;
    // Brings it up to the schema of this version.
    let pool = store::open(&started.url).await?;
    let mut db = pool.acquire().await?;
    backup::forget_players(&mut db).await?;
    let rows = backup::counts(&mut db).await?;
    ensure!(rows == manifest.rows, "rows are missing: the backup has {:?}, restored are {rows:?}", manifest.rows);
    let files = args.files.folder(&args.connection);
    for one in manifest.exports.clone() {
        let (copy, target) = (args.from.join("exports").join(one.id.to_string()), job::file(&files, one.id));
        private::folder(target.parent().unwrap_or(&files))?;
        spawn_blocking(move || copy_checked(&copy, &target, &one)).await??;
    }
    let mut broken = Vec::new();
    for run in backup::finished_runs(&mut db).await? {
        let rules = ledger::broken(&mut db, run).await?;
        broken.extend(rules.into_iter().map(|(rule, at)| format!("run {run}: {rule}; at positions {at:?}")));
    }
    drop(db);
    pool.close().await;
    Ok(broken)
}

fn told(manifest: &Manifest) {
    let of = |name: &str| manifest.rows.get(name).copied().unwrap_or_default();
    say!("made      {} by Groundstate {}", manifest.created_at.format("%Y-%m-%d %H:%M:%S UTC"), manifest.version);
    say!(
        "holds     {} projects, {} runs, {} conversations, {} exports",
        of("projects"),
        of("runs"),
        of("tasks"),
        of("exports")
    );
    for one in &manifest.missing {
        say!("missing   the file of export {}; build the export again", one.id);
    }
}

/// # Errors
/// The file is not the one that was made.
fn copy_checked(from: &Path, to: &Path, expected: &ExportFile) -> anyhow::Result<()> {
    let mut source = BufReader::new(File::open(from).with_context(|| format!("cannot read {}", from.display()))?);
    let mut target = private::file(to)?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        std::io::Write::write_all(&mut target, &buffer[..read])?;
    }
    target.sync_all()?;
    if hex::encode(hasher.finalize()) != expected.hash {
        fs::remove_file(to)?;
        bail!("{} is damaged", from.display());
    }
    Ok(())
}

/// Parameters of our own URLs that PostgreSQL's programs refuse.
const ONLY_SQLX: [&str; 1] = ["statement-cache-capacity"];

fn owned((name, value): (Cow<'_, str>, Cow<'_, str>)) -> (String, String) {
    (name.into_owned(), value.into_owned())
}

/// Runs one of PostgreSQL's programs. Its password is in a variable: everybody on the machine sees arguments.
async fn postgres(program: &str, arguments: &[&str], url: &str) -> anyhow::Result<()> {
    let mut command = Command::new(database::program(program));
    command.args(arguments).kill_on_drop(true);
    let mut url = reqwest::Url::parse(url).context("cannot read the URL of the database")?;
    if let Some(password) = url.password() {
        let password = password.replace('+', "%2B");
        let decoded = form_urlencoded::parse(password.as_bytes()).next().map(|(text, _)| text.into_owned());
        command.env("PGPASSWORD", decoded.unwrap_or_default());
        // It has a host, so it can have a password, and none.
        let _ = url.set_password(None);
    }
    let known: Vec<(String, String)> =
        url.query_pairs().filter(|(name, _)| !ONLY_SQLX.contains(&name.as_ref())).map(owned).collect();
    url.set_query(None);
    if !known.is_empty() {
        url.query_pairs_mut().extend_pairs(known);
    }
    command.arg(format!("--dbname={url}"));
    let done = command.output().await.with_context(|| {
        format!("cannot run {program}; install PostgreSQL's client (Debian: apt-get install postgresql-client)")
    })?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{program} failed: {}", said.trim());
    Ok(())
}
