//! What a dataset is made of, as files that can be read.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use domain::api::BuildState;
use domain::bad_input::BadInput;
use domain::dataset::{DatasetSource, ExportRows, FileRows, UploadRows};
use domain::export::{ExportSpec, PairRule, Profile, SourceSpec, Toggles};
use sqlx::{PgConnection, PgPool};
use store::objects::Objects;
use store::runs::Run;
use store::{exports, projects, uploads};
use tempfile::TempDir;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::files::{self, SourceFile};
use super::import::Options;
use super::outputs;
use crate::export::contents::Order;
use crate::export::order::{SpecErrors, missing};
use crate::export::{build, job, order, private};
use crate::room::Room;

/// Files whose rows become a dataset.
pub struct ReadySource {
    pub files: Vec<SourceFile>,
    pub options: Options,
    /// What is not needed any more once the dataset is made.
    pub upload: Option<Uuid>,
    /// Where the files are that were made for it. Gone when it is dropped.
    pub workshop: Option<TempDir>,
}

impl ReadySource {
    fn of(files: Vec<SourceFile>, options: Options) -> Self {
        Self { files, options, upload: None, workshop: None }
    }
}

/// Where sources are looked for.
pub struct Places<'a> {
    pub pool: &'a PgPool,
    pub objects: &'a Objects,
    /// The folder of exports; temporary files are made there.
    pub files: &'a Path,
    pub room: &'a Room,
}

/// Whether there is such a source in the project, and it is ready. Files are not looked for.
///
/// # Errors
/// The database; within: what is wrong with what is named.
pub async fn check(pool: &PgPool, project: Uuid, source: &DatasetSource) -> anyhow::Result<Result<(), SpecErrors>> {
    let played = match source {
        DatasetSource::Files(_) => return Ok(Ok(())),
        DatasetSource::Upload(rows) => return check_upload(pool, project, rows).await,
        DatasetSource::Export(rows) => return check_export(pool, project, rows).await,
        DatasetSource::Run(rows) => match outputs::run(pool, project, rows).await? {
            Some(_) => return Ok(outputs::check(rows)),
            None => SourceSpec::Run(rows.clone()),
        },
        DatasetSource::Corpus(rows) => SourceSpec::Corpus(rows.clone()),
    };
    Ok(order::check(pool, &canonical(played), Some(project)).await?.map(drop))
}

async fn check_upload(pool: &PgPool, project: Uuid, rows: &UploadRows) -> anyhow::Result<Result<(), SpecErrors>> {
    const AT: &str = "/source/upload/id";
    let mut found = None;
    if let Ok(id) = rows.id.parse() {
        found = uploads::get(&mut *pool.acquire().await?, id).await?.filter(|(owner, _)| *owner == project);
    }
    Ok(match found {
        None => Err(missing(AT, "upload", &rows.id)),
        Some((_, upload)) if upload.is_whole() => Ok(()),
        Some((_, upload)) => {
            let (received, bytes) = (upload.received, upload.bytes);
            let message = format!("{received} of its {bytes} bytes are there; upload the rest first");
            Err(vec![(AT.to_owned(), message)])
        }
    })
}

async fn check_export(pool: &PgPool, project: Uuid, rows: &ExportRows) -> anyhow::Result<Result<(), SpecErrors>> {
    const AT: &str = "/source/export/id";
    let (mut db, mut found) = (pool.acquire().await?, None);
    if let Ok(id) = rows.id.parse() {
        let is_own = projects::of_export(&mut db, id).await?.is_some_and(|owner| owner == project);
        found = if is_own { exports::get(&mut db, id).await? } else { None };
    }
    Ok(match found {
        None => Err(missing(AT, "export", &rows.id)),
        Some(export) if export.state.stage().may_be_used() => Ok(()),
        Some(export) => Err(vec![(AT.to_owned(), format!("the export is {}", export.state))]),
    })
}

/// The export whose records a dataset has. `None`: it is made of files, or the export is not there any more.
///
/// # Errors
/// The database.
pub async fn spec(db: &mut PgConnection, source: &DatasetSource) -> store::Result<Option<ExportSpec>> {
    Ok(match source {
        DatasetSource::Run(rows) => Some(canonical(SourceSpec::Run(rows.clone()))),
        DatasetSource::Corpus(rows) => Some(canonical(SourceSpec::Corpus(rows.clone()))),
        DatasetSource::Export(rows) => match rows.id.parse() {
            Ok(id) => exports::get(db, id).await?.map(|export| export.spec),
            Err(_) => None,
        },
        DatasetSource::Upload(_) | DatasetSource::Files(_) => None,
    })
}

/// The rows of a run of conversations or a corpus as a dataset has them.
fn canonical(source: SourceSpec) -> ExportSpec {
    let (toggles, pairs) = (Toggles::default(), PairRule::default());
    ExportSpec { source, profile: Profile::Canonical, toggles, pairs }
}

/// # Errors
/// There is no such source in the project, it is not ready, or it cannot be read.
pub async fn prepare(places: &Places<'_>, project: Uuid, source: &DatasetSource) -> anyhow::Result<ReadySource> {
    match source {
        DatasetSource::Upload(rows) => upload(places, project, rows).await,
        DatasetSource::Files(FileRows { path, csv_as_text }) => {
            let found = files::find(path).await.map_err(sentence)?;
            Ok(ReadySource::of(found, Options { csv_as_text: *csv_as_text, ..Options::default() }))
        }
        DatasetSource::Run(rows) => match outputs::run(places.pool, project, rows).await? {
            Some(run) => of_workflow(places, &run).await,
            None => conversations(places, project, SourceSpec::Run(rows.clone())).await,
        },
        DatasetSource::Corpus(rows) => conversations(places, project, SourceSpec::Corpus(rows.clone())).await,
        DatasetSource::Export(rows) => export(places, rows.id.parse()?).await,
    }
}

/// What is wrong, without what a command adds to it.
fn sentence(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<BadInput>() {
        Ok(BadInput(problems)) => anyhow!(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
        Err(error) => error,
    }
}

async fn upload(places: &Places<'_>, project: Uuid, rows: &UploadRows) -> anyhow::Result<ReadySource> {
    let id = rows.id.parse()?;
    let mut db = places.pool.acquire().await?;
    let found = uploads::get(&mut db, id).await?.filter(|(owner, _)| *owner == project);
    let (_, upload) = found.with_context(|| format!("there is no upload {id}"))?;
    anyhow::ensure!(upload.is_whole(), "{} of the {} bytes of the upload are there", upload.received, upload.bytes);
    let pieces = uploads::pieces(&mut db, id).await?.into_iter();
    let pieces = pieces.map(|piece| (piece.object, piece.bytes.unsigned_abs()));
    let file = SourceFile::new(&upload.file_name, places.objects.clone(), pieces).map_err(|e| sentence(e.into()))?;
    let options = Options { csv_as_text: rows.csv_as_text, ..Options::default() };
    Ok(ReadySource { upload: Some(id), ..ReadySource::of(vec![file], options) })
}

async fn conversations(places: &Places<'_>, project: Uuid, source: SourceSpec) -> anyhow::Result<ReadySource> {
    let spec = canonical(source);
    let checked = order::check(places.pool, &spec, Some(project)).await?;
    let wrong = |found: SpecErrors| found.into_iter().map(|(_, message)| message).collect::<Vec<_>>().join("; ");
    let checked = checked.map_err(|found| anyhow!(wrong(found)))?;
    let order = Order::of(places.pool, &spec, &checked).await?;
    let workshop = workshop(places.files)?;
    let built = build::build(places.pool, &order, workshop.path(), places.room, &mut |_| {}).await?;
    anyhow::ensure!(built.report.rows > 0, "none of its conversations gives a row");
    in_workshop(workshop).await
}

async fn of_workflow(places: &Places<'_>, run: &Run) -> anyhow::Result<ReadySource> {
    let workshop = workshop(places.files)?;
    let data = workshop.path().join("data");
    private::folder(&data)?;
    let columns = outputs::write(places.pool, run, &data.join("outputs.jsonl"), places.room).await?;
    let source = in_workshop(workshop).await?;
    Ok(ReadySource { options: Options { columns, ..source.options }, ..source })
}

async fn export(places: &Places<'_>, id: Uuid) -> anyhow::Result<ReadySource> {
    let export = exports::get(&mut *places.pool.acquire().await?, id).await?;
    let export = export.with_context(|| format!("there is no export {id}"))?;
    anyhow::ensure!(export.state == BuildState::Ready, "the export is {}", export.state);
    let file = job::file(places.files, id);
    anyhow::ensure!(file.is_file(), "the file of export {id} is not on this machine");
    let workshop = workshop(places.files)?;
    let data = workshop.path().join("data");
    let name = export.file_name;
    spawn_blocking(move || {
        private::folder(&data)?;
        let is_bundle = Path::new(&name).extension().is_some_and(|extension| extension == "zip");
        if is_bundle { unpack(&file, &data) } else { link(&file, &data.join(name)) }
    })
    .await??;
    in_workshop(workshop).await
}

fn workshop(files: &Path) -> anyhow::Result<TempDir> {
    private::folder(files).with_context(|| format!("cannot write to {}", files.display()))?;
    Ok(tempfile::Builder::new().prefix(".dataset").tempdir_in(files)?)
}

async fn in_workshop(workshop: TempDir) -> anyhow::Result<ReadySource> {
    let data = workshop.path().join("data");
    let Some(path) = data.to_str() else { bail!("{} is no UTF-8 path", data.display()) };
    let found = files::find(path).await.map_err(sentence)?;
    Ok(ReadySource { workshop: Some(workshop), ..ReadySource::of(found, Options::default()) })
}

/// The same file under a name that tells its format.
fn link(file: &Path, name: &Path) -> anyhow::Result<()> {
    fs::hard_link(file, name).or_else(|_| fs::copy(file, name).map(drop))?;
    Ok(())
}

/// The data files of a bundle.
fn unpack(bundle: &Path, to: &Path) -> anyhow::Result<()> {
    let mut archive = zip::ZipArchive::new(BufReader::new(File::open(bundle)?))?;
    for i in 0..archive.len() {
        let mut packed = archive.by_index(i)?;
        let path = packed.enclosed_name().context("the bundle has a path that leads out of it")?;
        if !packed.is_file() || !path.starts_with("data") {
            continue;
        }
        let name = path.file_name().context("the bundle has a file without a name")?;
        io::copy(&mut packed, &mut private::file(&to.join(name))?)?;
    }
    Ok(())
}
