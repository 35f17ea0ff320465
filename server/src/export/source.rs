//! Where rows come from: a run or a corpus, read in order and a page at a time, however large it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use domain::export::Split;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::context::Context;
use crate::jobs::active;
use crate::jobs::plan::RunConfig;
use crate::library::Library;
use crate::store::judgings;
use crate::store::material::{self, Wanted};
use crate::store::runs::Run;

/// What is read.
pub struct Source {
    what: What,
    /// By run.
    pub contexts: BTreeMap<Uuid, Arc<Context>>,
    /// Also what was not accepted. Whoever made a corpus has decided that already.
    pub all: bool,
    /// Also what each sub-agent did, as a row of its own after its conversation's.
    pub branches: bool,
}

enum What {
    Run { id: Uuid, judging: (Uuid, bool) },
    Corpus { id: Uuid, split: Split, judgings: BTreeMap<Uuid, (Uuid, bool)> },
}

/// Which rows of a run are written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice {
    /// Whose verdicts count; default: those of the run itself.
    pub judging: Option<Uuid>,
    /// Also the scores as people would have given them, by the judge's calibration.
    pub corrected: bool,
    /// Also conversations that were not accepted.
    pub all: bool,
    /// Also what each sub-agent did, as a row of its own after its conversation's.
    pub branches: bool,
}

impl Source {
    pub async fn of_run(
        db: &mut PgConnection,
        run: &Run,
        config: &RunConfig,
        library: &Arc<Library>,
        choice: Choice,
    ) -> anyhow::Result<Self> {
        let judging = choice.judging.unwrap_or(run.judging);
        let judging = judgings::get(&mut *db, judging).await?.context("no such judging")?;
        ensure!(judging.run_id == run.id, "the judging is of another run");
        let context = Context::load(db, run, config, library, &judging, choice.corrected).await?;
        Ok(Self {
            what: What::Run { id: run.id, judging: (judging.id, judging.original) },
            contexts: [(run.id, Arc::new(context))].into(),
            all: choice.all,
            branches: choice.branches,
        })
    }

    /// The rows that a corpus keeps, of one split.
    pub async fn of_corpus(pool: &PgPool, corpus: Uuid, split: Split, branches: bool) -> anyhow::Result<Self> {
        let mut libraries: BTreeMap<String, Arc<Library>> = BTreeMap::new();
        let (mut contexts, mut chosen) = (BTreeMap::new(), BTreeMap::new());
        let runs = material::runs_of_corpus(&mut *pool.acquire().await?, corpus).await?;
        for (run, judging) in runs {
            let (run, config, library) = active::load_sharing(pool, run, &mut libraries).await?;
            let mut db = pool.acquire().await?;
            let judging = judgings::get(&mut db, judging).await?.context("no such judging")?;
            let context = Context::load(&mut db, &run, &config, &library, &judging, false).await?;
            contexts.insert(run.id, context);
            chosen.insert(run.id, (judging.id, judging.original));
        }
        // Columns are those of all runs.
        let criteria: BTreeSet<Arc<str>> =
            contexts.values().flat_map(|context: &Context| context.criteria.iter().cloned()).collect();
        let shared = |(run, mut context): (Uuid, Context)| {
            context.criteria.clone_from(&criteria);
            (run, Arc::new(context))
        };
        Ok(Self {
            what: What::Corpus { id: corpus, split, judgings: chosen },
            contexts: contexts.into_iter().map(shared).collect(),
            all: true,
            branches,
        })
    }

    /// How many conversations it holds, of which some may not become rows.
    pub async fn size(&self, db: &mut PgConnection) -> anyhow::Result<i64> {
        Ok(match &self.what {
            What::Run { id, .. } => material::count_of_run(db, *id).await?,
            What::Corpus { id, split, .. } => material::count_of_corpus(db, *id, split.as_str()).await?,
        })
    }

    /// Whose verdicts count for a run.
    pub fn judging_of(&self, run: Uuid) -> Uuid {
        match &self.what {
            What::Run { judging, .. } => judging.0,
            What::Corpus { judgings, .. } => judgings.get(&run).map_or(Uuid::nil(), |judging| judging.0),
        }
    }

    /// Those after one; the first ones after -1.
    pub async fn after(&self, db: &mut PgConnection, index: i32, limit: i64) -> anyhow::Result<Vec<Wanted>> {
        match &self.what {
            What::Run { id, judging } => Ok(material::of_run(db, *id, *judging, index, limit).await?),
            What::Corpus { id, split, judgings } => {
                let kept = material::of_corpus(db, *id, split.as_str(), index, limit).await?;
                let wanted = |(index, run, id)| {
                    let (judging, original) = *judgings.get(&run)?;
                    Some(Wanted { id, index, judging, original })
                };
                Ok(kept.into_iter().filter_map(wanted).collect())
            }
        }
    }
}
