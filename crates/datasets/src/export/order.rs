//! What somebody asks for, checked, and what it is to be made of.

use std::sync::Arc;

use domain::export::{CorpusRows, ExportSpec, RunRows, Shape, SourceSpec, Split};
use sqlx::PgPool;
use strum::VariantArray;
use uuid::Uuid;

use super::contents::Order;
use super::source::{Choice, Source};
use super::wanted_rows::{Purpose, WantedRows};
use generation::stored_runs;
use store::{exports, judgings, runs};

/// Where something is wrong, as a JSON pointer, and why.
pub type SpecErrors = Vec<(String, String)>;

/// A specification whose source exists.
pub struct ResolvedSpec {
    pub shape: Shape,
    pub source: SourceId,
}

/// A source by its id.
#[derive(Debug, Clone, Copy)]
pub enum SourceId {
    Run { id: Uuid, judging: Option<Uuid> },
    Corpus { id: Uuid },
}

/// Whether an export can be made of it. `project`: the only one whose runs and corpora may be used.
///
/// # Errors
/// The database.
pub async fn check(
    pool: &PgPool,
    spec: &ExportSpec,
    project: Option<Uuid>,
) -> anyhow::Result<Result<ResolvedSpec, SpecErrors>> {
    let source = match &spec.source {
        SourceSpec::Run(rows) => run(pool, rows, project).await?,
        SourceSpec::Corpus(rows) => corpus(pool, rows, project).await?,
    };
    Ok(match (spec.shape(), source) {
        (Ok(shape), Ok(source)) => Ok(ResolvedSpec { shape, source }),
        (shape, source) => Err(shape.err().into_iter().chain(source.err()).flatten().collect()),
    })
}

async fn run(pool: &PgPool, rows: &RunRows, project: Option<Uuid>) -> anyhow::Result<Result<SourceId, SpecErrors>> {
    let mut db = pool.acquire().await?;
    let mut found = None;
    if let Ok(id) = rows.id.parse() {
        found = runs::get(&mut db, id).await?.filter(|run| project.is_none_or(|only| run.project == only));
    }
    let Some(run) = found else { return Ok(Err(missing("/source/run/id", "run", &rows.id))) };
    if runs::plays_rows(&run.kind) {
        let message = format!(
            "{} is a run of a workflow, and an export is made of conversations; make a dataset of the run, or write its rows with \
             `groundstate workflow rows`",
            run.id
        );
        return Ok(Err(vec![("/source/run/id".to_owned(), message)]));
    }
    let Some(text) = &rows.judging else { return Ok(Ok(SourceId::Run { id: run.id, judging: None })) };
    let mut judging = None;
    if let Ok(id) = text.parse() {
        judging = judgings::get(&mut db, id).await?.filter(|judging| judging.run_id == run.id);
    }
    Ok(match judging {
        Some(judging) => Ok(SourceId::Run { id: run.id, judging: Some(judging.id) }),
        None => Err(missing("/source/run/judging", "judging of this run", text)),
    })
}

async fn corpus(
    pool: &PgPool,
    rows: &CorpusRows,
    project: Option<Uuid>,
) -> anyhow::Result<Result<SourceId, SpecErrors>> {
    let mut found = None;
    if let Ok(id) = rows.id.parse() {
        found = exports::corpus(&mut *pool.acquire().await?, id).await?;
    }
    let found = found.filter(|corpus| project.is_none_or(|only| corpus.project == only));
    Ok(match found {
        None => Err(missing("/source/corpus/id", "corpus", &rows.id)),
        Some(corpus) if corpus.state.stage().may_be_used() => Ok(SourceId::Corpus { id: corpus.id }),
        Some(corpus) => {
            let message = format!("the corpus `{}` is {}", corpus.name, corpus.state);
            Err(vec![("/source/corpus/id".to_owned(), message)])
        }
    })
}

/// Says that what is named does not exist.
pub fn missing(pointer: &str, kind: &str, name: &str) -> SpecErrors {
    vec![(pointer.to_owned(), format!("there is no {kind} {name}"))]
}

impl Order {
    /// # Errors
    /// The database, or documents that cannot be read.
    pub async fn of(pool: &PgPool, spec: &ExportSpec, checked: &ResolvedSpec) -> anyhow::Result<Self> {
        let (title, chosen, sources) = match (&spec.source, checked.source) {
            (SourceSpec::Run(rows), SourceId::Run { id, judging }) => {
                of_run(pool, rows, id, judging, checked.shape).await?
            }
            (SourceSpec::Corpus(rows), SourceId::Corpus { id }) => of_corpus(pool, rows, id, checked.shape).await?,
            _ => anyhow::bail!("the source changed while it was checked"),
        };
        Ok(Self { sources, shape: checked.shape, pairs: spec.pairs, title, chosen })
    }

    /// Conversations that will be looked at.
    pub async fn size(&self, pool: &PgPool) -> anyhow::Result<i64> {
        let mut sum = 0;
        for (_, source) in &self.sources {
            sum += source.size(&mut *pool.acquire().await?).await?;
        }
        Ok(sum)
    }
}

type Parts = (String, String, Vec<(Split, Arc<Source>)>);

async fn of_run(pool: &PgPool, rows: &RunRows, id: Uuid, judging: Option<Uuid>, shape: Shape) -> anyhow::Result<Parts> {
    let (run, config, library) = stored_runs::load(pool, id).await?;
    let wanted = wanted(shape, rows.all, rows.branches);
    let choice = Choice { judging, corrected: rows.corrected, wanted };
    let library = Arc::new(library);
    let mut source = Source::of_run(pool, &run, &config, &library, choice).await?;
    if shape.profile.is_of_pairs() {
        source.add_branches(pool, &run, rows.corrected).await?;
    }
    let which = if wanted.all { "All conversations" } else { "The accepted conversations" };
    let chosen = format!("{which} of the run {id} (playbook {}, seed {}).", run.playbook, run.seed);
    Ok((format!("{} {}", run.playbook, id), chosen, vec![(Split::Train, Arc::new(source))]))
}

/// Who was not accepted is what a comparison needs most. A corpus that was selected for one holds failures, too, which must not get
/// into what is imitated by default.
const fn wanted(shape: Shape, all: bool, branches: bool) -> WantedRows {
    let purpose = if shape.profile.is_of_groups() { Purpose::Reward } else { Purpose::Imitation };
    WantedRows { all: all || shape.profile.compares(), branches, purpose }
}

/// A single file holds one split: what is kept for measuring must not get among what is trained on by default.
async fn of_corpus(pool: &PgPool, rows: &CorpusRows, id: Uuid, shape: Shape) -> anyhow::Result<Parts> {
    let corpus = exports::corpus(&mut *pool.acquire().await?, id).await?;
    let corpus = corpus.ok_or_else(|| anyhow::anyhow!("there is no corpus {id}"))?;
    let splits = match rows.split {
        Some(split) => vec![split],
        None if shape.profile.is_bundle() => Split::VARIANTS.to_vec(),
        None => vec![Split::Train],
    };
    let wanted = wanted(shape, rows.all, rows.branches);
    let mut sources = Vec::new();
    for split in splits {
        let source = Source::of_corpus(pool, (id, split), wanted).await?;
        // A file without rows is none that a loader takes.
        if rows.split.is_some() || split == Split::Train || source.size(&mut *pool.acquire().await?).await? > 0 {
            sources.push((split, Arc::new(source)));
        }
    }
    let hash = corpus.manifest_hash.unwrap_or_default();
    let chosen = format!(
        "What the corpus {} keeps (id {id}, manifest {hash}). It was selected by:\n\n```json\n{}\n```",
        corpus.name, corpus.spec
    );
    Ok((corpus.name, chosen, sources))
}
