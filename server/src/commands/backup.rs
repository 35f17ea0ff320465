//! `groundstate backup` and `restore`: the database, the files of exports, and the objects of datasets and indexes, as they
//! were at one moment.
//!
//! PostgreSQL's own `pg_dump` and `pg_restore` do the work. What is added is that the files fit the database, and that a
//! restored database is checked.

mod postgres_program;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use chrono::{DateTime, Utc};
use datasets::export::private;
use domain::bad_input::BadInput;
use domain::storage::readable_bytes;
use serde::{Deserialize, Serialize};
use sqlx::{Connection as _, PgConnection};
use store::backup::{self, ExportFile};
use store::objects::Objects;
use store::{clock, discarded_objects, ledger};

use super::connection::{Connection, ConnectionArgs, RunningPostgres};
use super::storage_args::StorageArgs;
use crate::output::say;
use datasets::backup::objects::SavedObject;
use datasets::backup::{exports, objects};

/// What a backup is made of.
const DUMP: &str = "database.dump";
const EXPORTS: &str = "exports";
const OBJECTS: &str = "objects";
const MANIFEST: &str = "backup.json";
/// Backups of format 1 hold no objects.
const FORMAT: u32 = 2;

#[derive(clap::Args)]
pub struct Backup {
    /// Folder for the backup; it must not exist yet
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Leave out the objects of datasets and indexes: only for a place that is saved by other means
    #[arg(long)]
    without_objects: bool,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Restore {
    /// Folder of the backup
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    #[command(flatten)]
    storage: StorageArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
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
    /// Objects of datasets, indexes and uploads. `None`: they were left out.
    objects: Option<Vec<SavedObject>>,
}

pub async fn back_up(args: Backup) -> anyhow::Result<ExitCode> {
    let to = &args.to;
    if to.exists() {
        return Err(BadInput::one("--to", format!("{} exists already; name a new folder", to.display())).into());
    }
    let objects = if args.without_objects { None } else { Some(args.storage.objects(&args.connection)?) };
    let connection = Connection::open(&args.connection).await?;
    let made = make(&args, objects.as_ref(), &connection).await;
    connection.close().await;
    // Half a backup is none.
    let manifest = made.inspect_err(|_| drop(fs::remove_dir_all(to)))?;
    say!("backup    {}", to.display());
    print_summary(&manifest);
    Ok(ExitCode::SUCCESS)
}

async fn make(args: &Backup, objects: Option<&Objects>, connection: &Connection) -> anyhow::Result<Manifest> {
    let (to, files) = (&args.to, args.storage.files(&args.connection));
    private::folder(&to.join(EXPORTS)).with_context(|| format!("cannot create {}", to.display()))?;
    // Objects that the snapshot names stay until they are copied.
    let mut hold = connection.pool.begin().await?;
    discarded_objects::hold(&mut hold).await?;
    let mut db = connection.pool.acquire().await?;
    let (mut tx, snapshot) = backup::snapshot(&mut db).await?;
    let rows = backup::counts(&mut tx).await?;
    let named_exports = backup::export_files(&mut tx).await?;
    let named_objects = backup::objects(&mut tx).await?;
    let arguments = ["--format=custom", "--no-owner", "--no-privileges", &format!("--snapshot={snapshot}")];
    let file = format!("--file={}", to.join(DUMP).display());
    postgres_program::run("pg_dump", &[&arguments[..], &[&file]].concat(), &connection.url).await?;
    tx.rollback().await?;
    // Files of exports and objects do not change, so those that the snapshot knows can be copied later.
    let (exports, missing) = exports::save(named_exports, &files, &to.join(EXPORTS)).await?;
    let objects = match objects {
        Some(place) => Some(objects::save(&named_objects, place, &Objects::of_folder(to.join(OBJECTS))?).await?),
        None => None,
    };
    hold.rollback().await?;
    let (version, created_at) = (env!("CARGO_PKG_VERSION").to_owned(), clock::now());
    let manifest = Manifest { format: FORMAT, version, created_at, rows, exports, missing, objects };
    // Last: a folder without it is no backup.
    fs::write(to.join(MANIFEST), serde_json::to_string_pretty(&manifest)?)?;
    Ok(manifest)
}

pub async fn restore(args: Restore) -> anyhow::Result<ExitCode> {
    let manifest = read_manifest(&args.from)?;
    let objects = args.storage.objects(&args.connection)?;
    let started = RunningPostgres::start(&args.connection).await?;
    let restored = restore_into(&args, &manifest, &objects, &started).await;
    started.stop().await;
    let Restored { missing, broken } = restored?;
    say!("restored  {}", args.from.display());
    print_summary(&manifest);
    for (owner, count) in &missing {
        say!("missing   {count} objects of the {owner}: copy them to {}", objects.place());
    }
    for line in &broken {
        say!("broken    {line}");
    }
    ensure!(broken.is_empty(), "the restored database breaks {} rules of its ledger", broken.len());
    let files = if missing.is_empty() { "files and objects" } else { "files, all objects but the missing ones" };
    say!("checked   rows, {files}, and the ledger of every run that has ended: nothing is lost or doubled");
    Ok(ExitCode::SUCCESS)
}

fn read_manifest(from: &Path) -> anyhow::Result<Manifest> {
    let path = from.join(MANIFEST);
    let bad = |why: String| BadInput::one("--from", why);
    let text = fs::read_to_string(&path).map_err(|e| bad(format!("{} is no backup: {e}", from.display())))?;
    let manifest: Manifest =
        serde_json::from_str(&text).map_err(|e| bad(format!("{} cannot be read: {e}", path.display())))?;
    if !(1..=FORMAT).contains(&manifest.format) {
        let message =
            format!("was made by Groundstate {} in a format that this version does not know", manifest.version);
        return Err(bad(message).into());
    }
    Ok(manifest)
}

/// What is wrong with a restored database.
struct Restored {
    /// Objects that neither the backup nor the place for objects has, counted by what they belong to.
    missing: BTreeMap<String, usize>,
    /// What the ledger finds.
    broken: Vec<String>,
}

async fn restore_into(
    args: &Restore,
    manifest: &Manifest,
    place: &Objects,
    started: &RunningPostgres,
) -> anyhow::Result<Restored> {
    let mut db = PgConnection::connect(&started.url).await.context("cannot use the database")?;
    if !backup::is_empty(&mut db).await? {
        let message = "the database has tables already; restore into an empty one, such as another --data-dir";
        return Err(BadInput::one("--database-url", message).into());
    }
    db.close().await?;
    let dump = args.from.join(DUMP).display().to_string();
    let options = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", &dump];
    postgres_program::run("pg_restore", &options, &started.url).await?;
    // Brings it up to the schema of this version.
    let pool = store::open(&started.url).await?;
    let mut db = pool.acquire().await?;
    backup::forget_players(&mut db).await?;
    let rows = backup::counts(&mut db).await?;
    let whole = manifest.rows.iter().all(|(table, count)| rows.get(table) == Some(count));
    ensure!(whole, "rows are missing: the backup has {:?}, restored are {rows:?}", manifest.rows);
    let files = args.storage.files(&args.connection);
    exports::put_back(&manifest.exports, &args.from.join(EXPORTS), &files).await?;
    let named = backup::objects(&mut db).await?;
    if let Some(saved) = &manifest.objects {
        objects::put_back(saved, &named, &Objects::of_folder(args.from.join(OBJECTS))?, place).await?;
    }
    let missing = objects::missing(&named, place).await?;
    let whole = manifest.objects.is_none() || missing.is_empty();
    ensure!(whole, "the backup lacks objects that its database names: {missing:?}");
    let broken = broken_rules(&mut db).await?;
    drop(db);
    pool.close().await;
    Ok(Restored { missing, broken })
}

/// What the ledger finds broken.
async fn broken_rules(db: &mut PgConnection) -> anyhow::Result<Vec<String>> {
    let mut broken = Vec::new();
    for run in backup::finished_runs(&mut *db).await? {
        let rules = ledger::broken_in(&mut *db, run).await?;
        broken.extend(rules.into_iter().map(|(rule, at)| format!("run {run}: {rule}; at positions {at:?}")));
    }
    broken.extend(ledger::broken_by_orphans(db).await?.map(|(rule, _)| rule.to_owned()));
    Ok(broken)
}

fn print_summary(manifest: &Manifest) {
    let of = |name: &str| manifest.rows.get(name).copied().unwrap_or_default();
    say!("made      {} by Groundstate {}", manifest.created_at.format("%Y-%m-%d %H:%M:%S UTC"), manifest.version);
    say!(
        "holds     {} projects, {} runs, {} conversations and rows, {} exports, {} datasets, {} indexes",
        of("projects"),
        of("runs"),
        of("tasks"),
        of("exports"),
        of("datasets"),
        of("indexes")
    );
    match &manifest.objects {
        Some(objects) => {
            let bytes = objects.iter().map(|object| object.bytes).sum::<u64>();
            let size = readable_bytes(i64::try_from(bytes).unwrap_or(i64::MAX));
            say!("objects   {} of datasets, indexes and uploads, {size}", objects.len());
        }
        None => say!("objects   left out: those of datasets, indexes and uploads are not in it"),
    }
    for one in &manifest.missing {
        say!("missing   the file of export {}; build the export again", one.id);
    }
}
