//! `groundstate corpora`: selections of conversations that can be exported.

mod create;
mod show;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use domain::api::ManifestFormat;
use serde_json::json;
use sqlx::{PgConnection, PgPool};
use strum::VariantArray;
use uuid::Uuid;

use super::connection::{Connection, ConnectionArgs, NewestArgs};
use crate::output::say;
use datasets::corpora::manifest::Text;
use domain::bad_input::BadInput;
use store::corpora::{self, DeleteOutcome};
use store::projects;

#[derive(clap::Subcommand)]
pub enum CorporaCommand {
    /// Make a corpus
    Create(Box<create::Create>),
    /// List the newest corpora
    List(NewestArgs),
    /// Show a corpus: the funnel, the split and the proof that nothing leaks
    Show(CorpusName),
    /// Print every conversation that the filter found, with its part or the reason why it was dropped
    Manifest(Manifest),
    /// Delete a corpus that has no exports
    Delete(CorpusName),
}

#[derive(clap::Args)]
pub struct CorpusName {
    /// The corpus' name or id
    corpus: String,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Manifest {
    /// The corpus' name or id
    corpus: String,
    /// Format of the manifest
    #[arg(long, value_parser = manifest_format(), default_value_t)]
    format: ManifestFormat,
    /// File to write [default: standard output]
    #[arg(long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

fn manifest_format() -> impl TypedValueParser<Value = ManifestFormat> {
    let names = ManifestFormat::VARIANTS.iter().map(ManifestFormat::into_str);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<ManifestFormat>())
}

pub async fn run(command: CorporaCommand) -> anyhow::Result<ExitCode> {
    let (connection, done) = match &command {
        CorporaCommand::Create(args) => {
            // What is wrong with it is said before a database is started for it.
            let spec = args.spec()?;
            let connection = Connection::open(&args.connection).await?;
            let done = create::create(&connection.pool, args, &spec).await;
            (connection, done)
        }
        CorporaCommand::List(args) => with(&args.connection, async |pool| list(pool, args.limit).await).await?,
        CorporaCommand::Show(args) => {
            with(&args.connection, async |pool| show::show(pool, named(pool, &args.corpus).await?).await).await?
        }
        CorporaCommand::Manifest(args) => with(&args.connection, async |pool| write(pool, args).await).await?,
        CorporaCommand::Delete(args) => with(&args.connection, async |pool| delete(pool, &args.corpus).await).await?,
    };
    connection.close().await;
    done
}

async fn with(
    args: &ConnectionArgs,
    done: impl AsyncFnOnce(&PgPool) -> anyhow::Result<()>,
) -> anyhow::Result<(Connection, anyhow::Result<ExitCode>)> {
    let connection = Connection::open(args).await?;
    let done = done(&connection.pool).await.map(|()| ExitCode::SUCCESS);
    Ok((connection, done))
}

/// The corpus that a name or an id means.
async fn named(pool: &PgPool, text: &str) -> anyhow::Result<Uuid> {
    let mut db = pool.acquire().await?;
    if let Some(id) = corpora::named(&mut db, projects::DEFAULT, text).await? {
        return Ok(id);
    }
    let found = match text.parse() {
        Ok(id) => corpora::get(&mut db, id).await?.map(|_| id),
        Err(_) => None,
    };
    let missing = || BadInput::one("CORPUS", format!("there is no corpus `{text}`; see: groundstate corpora list"));
    found.ok_or_else(|| missing().into())
}

async fn list(pool: &PgPool, limit: i64) -> anyhow::Result<()> {
    say!("corpus                                state         train   golden  name");
    for corpus in corpora::list(&mut *pool.acquire().await?, projects::DEFAULT, None, limit).await? {
        let state = corpus.state;
        say!("{} {state:>10} {:9} {:8}  {}", corpus.id, corpus.train, corpus.golden, corpus.name);
    }
    Ok(())
}

async fn write(pool: &PgPool, args: &Manifest) -> anyhow::Result<()> {
    let id = named(pool, &args.corpus).await?;
    let mut out: Box<dyn Write> = match &args.out {
        Some(path) => Box::new(File::create(path).with_context(|| format!("cannot write {}", path.display()))?),
        None => Box::new(std::io::stdout()),
    };
    let mut out = BufWriter::new(&mut out);
    let mut text = Text::new(args.format);
    match pages(&mut *pool.acquire().await?, id, &mut text, &mut out).await {
        // Whoever reads us may stop.
        Err(e) if e.downcast_ref().is_some_and(|e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe) => {
            Ok(())
        }
        done => done,
    }
}

async fn pages(db: &mut PgConnection, id: Uuid, text: &mut Text, out: &mut impl Write) -> anyhow::Result<()> {
    const PAGE: i64 = 10_000;
    let mut after = -1;
    loop {
        let rows = corpora::manifest(db, id, after, PAGE).await?;
        out.write_all(&text.page(&rows)?)?;
        let Some(last) = rows.last() else { return Ok(out.flush()?) };
        after = last.ordinal;
    }
}

async fn delete(pool: &PgPool, text: &str) -> anyhow::Result<()> {
    let id = named(pool, text).await?;
    let mut tx = pool.begin().await?;
    match corpora::delete(&mut tx, id).await? {
        DeleteOutcome::Done | DeleteOutcome::Missing => {
            let (command, detail) = ("groundstate corpora delete", json!({"name": text}));
            super::record(&mut tx, Some(projects::DEFAULT), command, &id.to_string(), detail).await?;
            tx.commit().await?;
            say!("the corpus {text} is deleted");
            Ok(())
        }
        DeleteOutcome::Exported => Err(BadInput::one("CORPUS", "it has exports; delete them first").into()),
    }
}
