//! Where rows come from: a run or a corpus, read in order and a page at a time, however large it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use domain::export::Split;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::context::Context;
use super::wanted_rows::{Purpose, WantedRows};
use generation::plan::RunConfig;
use generation::stored_runs;
use projects::library::Library;
use store::material::{self, RowCandidate};
use store::runs::Run;
use store::{branches, corpora, judgings};

/// What is read.
pub struct Source {
    what: SourceKind,
    /// By run: whose verdicts count, and whether those were made while it was played.
    judgings: BTreeMap<Uuid, (Uuid, bool)>,
    /// By run.
    pub contexts: BTreeMap<Uuid, Arc<Context>>,
    pub wanted: WantedRows,
}

enum SourceKind {
    Run {
        id: Uuid,
        /// Of other runs, read after its own.
        kin: Vec<RowCandidate>,
    },
    Corpus {
        id: Uuid,
        split: Split,
    },
}

/// Which rows of a run are written.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Whose verdicts count; default: those of the run itself.
    pub judging: Option<Uuid>,
    /// Also write scores that are corrected by the judge's calibration against people's ratings.
    pub corrected: bool,
    pub wanted: WantedRows,
}

impl Choice {
    /// Rows to be imitated, with the verdicts of the run itself.
    pub const fn to_imitate(all: bool, branches: bool) -> Self {
        let wanted = WantedRows { all, branches, purpose: Purpose::Imitation };
        Self { judging: None, corrected: false, wanted }
    }
}

impl Source {
    pub async fn of_run(
        pool: &PgPool,
        run: &Run,
        config: &RunConfig,
        library: &Arc<Library>,
        choice: Choice,
    ) -> anyhow::Result<Self> {
        let judging = choice.judging.unwrap_or(run.own_judging());
        let judging = judgings::get(&mut *pool.acquire().await?, judging).await?.context("no such judging")?;
        ensure!(judging.run_id == run.id, "the judging is of another run");
        let context = Context::load(pool, run, config, library, &judging, choice.corrected).await?;
        Ok(Self {
            what: SourceKind::Run { id: run.id, kin: Vec::new() },
            judgings: [(run.id, (judging.id, judging.original))].into(),
            contexts: [(run.id, Arc::new(context))].into(),
            wanted: choice.wanted,
        })
    }

    /// Adds what shares its beginning with a conversation of the run: branches of it, or what it is a branch of. They are
    /// runs of their own, over the same documents and with the same judges. Another judging than the run's own says nothing
    /// of them: then there are none.
    pub async fn add_branches(&mut self, pool: &PgPool, run: &Run, corrected: bool) -> anyhow::Result<()> {
        let Some((_, true)) = self.judgings.get(&run.id) else { return Ok(()) };
        let SourceKind::Run { id, kin } = &mut self.what else { return Ok(()) };
        let mut libraries: BTreeMap<String, Arc<Library>> =
            self.contexts.values().map(|context| (run.library.clone(), Arc::clone(&context.library))).collect();
        let found = branches::kin(&mut *pool.acquire().await?, *id).await?;
        for (one, index) in found.into_iter().zip(run.planned..) {
            let (context, judging) = read(pool, (one.run, one.judging), &mut libraries, corrected).await?;
            self.contexts.insert(one.run, Arc::new(context));
            self.judgings.insert(one.run, judging);
            kin.push(RowCandidate { id: one.conversation, index, judging: judging.0, original: judging.1 });
        }
        Ok(())
    }

    /// The rows that a corpus keeps, of one split.
    pub async fn of_corpus(pool: &PgPool, (corpus, split): (Uuid, Split), wanted: WantedRows) -> anyhow::Result<Self> {
        let mut libraries = BTreeMap::new();
        let (mut contexts, mut chosen) = (BTreeMap::new(), BTreeMap::new());
        let runs = material::runs_of_corpus(&mut *pool.acquire().await?, corpus).await?;
        for (run, judging) in runs {
            let (context, judging) = read(pool, (run, judging), &mut libraries, false).await?;
            contexts.insert(run, context);
            chosen.insert(run, judging);
        }
        // Columns are those of all runs.
        let criteria: BTreeSet<Arc<str>> =
            contexts.values().flat_map(|context: &Context| context.criteria.iter().cloned()).collect();
        let corrected = Arc::new(corrected(&mut *pool.acquire().await?, corpus).await?);
        let shared = |(run, mut context): (Uuid, Context)| {
            context.criteria.clone_from(&criteria);
            context.corrected = Some(Arc::clone(&corrected));
            (run, Arc::new(context))
        };
        Ok(Self {
            what: SourceKind::Corpus { id: corpus, split },
            judgings: chosen,
            contexts: contexts.into_iter().map(shared).collect(),
            wanted,
        })
    }

    /// How many conversations it holds, of which some may not become rows.
    pub async fn size(&self, db: &mut PgConnection) -> anyhow::Result<i64> {
        Ok(match &self.what {
            SourceKind::Run { id, kin } => material::count_of_run(db, *id).await? + i64::try_from(kin.len())?,
            SourceKind::Corpus { id, split } => material::count_of_corpus(db, *id, split.into_str()).await?,
        })
    }

    /// Whose verdicts count for a run.
    pub fn judging_of(&self, run: Uuid) -> Uuid {
        self.judgings.get(&run).map_or(Uuid::nil(), |judging| judging.0)
    }

    /// Those after one; the first ones after -1.
    pub async fn after(&self, db: &mut PgConnection, index: i32, limit: i64) -> anyhow::Result<Vec<RowCandidate>> {
        match &self.what {
            SourceKind::Run { id, kin } => {
                let judging = *self.judgings.get(id).context("the run has no judging")?;
                let mut wanted = material::of_run(db, *id, judging, index, limit).await?;
                let room = usize::try_from(limit)?.saturating_sub(wanted.len());
                wanted.extend(kin.iter().filter(|kin| kin.index > index).take(room));
                Ok(wanted)
            }
            SourceKind::Corpus { id, split } => {
                let kept = material::of_corpus(db, *id, split.into_str(), index, limit).await?;
                let wanted = |(index, run, id)| {
                    let (judging, original) = *self.judgings.get(&run)?;
                    Some(RowCandidate { id, index, judging, original })
                };
                Ok(kept.into_iter().filter_map(wanted).collect())
            }
        }
    }
}

/// The version of each conversation's corrections that a corpus was selected by.
async fn corrected(db: &mut PgConnection, corpus: Uuid) -> anyhow::Result<BTreeMap<Uuid, u32>> {
    let report = corpora::get(db, corpus).await?.and_then(|(_, corpus)| corpus.report);
    let versions = report.map(|report| report.corrected).unwrap_or_default().into_iter();
    versions.map(|(id, version)| Ok((id.parse()?, version))).collect()
}

/// What the rows of a run share, as one of its judgings sees it; and that judging.
async fn read(
    pool: &PgPool,
    (run, judging): (Uuid, Uuid),
    libraries: &mut BTreeMap<String, Arc<Library>>,
    corrected: bool,
) -> anyhow::Result<(Context, (Uuid, bool))> {
    let (run, config, library) = stored_runs::load_sharing(pool, run, libraries).await?;
    let judging = judgings::get(&mut *pool.acquire().await?, judging).await?.context("no such judging")?;
    let context = Context::load(pool, &run, &config, &library, &judging, corrected).await?;
    Ok((context, (judging.id, judging.original)))
}
