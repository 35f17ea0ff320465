//! Blind review. Who is still to rate a conversation by themselves sees it as one that nobody judged:
//!
//! - the conversation and its row in a list are shown without verdicts and without the outcome that follows from them;
//! - what is counted, filtered and sorted of many, it counts among as one without a verdict ([`HiddenConversations::unjudged`]);
//! - what was selected or written by verdicts (corpora, exports, calibrations, and their previews) is closed to them while it
//!   is made of runs that hold such a conversation ([`HiddenConversations::check`]).
//!
//! Totals of whole runs, corpora and exports stay visible.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datasets::index::Columns;
use domain::corpus::Spec;
use domain::export::{ExportSpec, SourceSpec};
use domain::filter::JudgingChoice;
use sqlx::PgConnection;
use uuid::Uuid;

use super::access::{ProjectAccess, Role};
use super::caller::Caller;
use super::error::{HttpError, Result};
use store::{conversation_columns, corpora, reviews};

/// Whether somebody is still to rate a conversation by themselves.
pub async fn is_blind(db: &mut PgConnection, conversation: Uuid, caller: &Caller, project: Uuid) -> Result<bool> {
    Ok(!among(db, &[conversation], caller, project).await?.is_empty())
}

/// Those of several conversations of which that is so.
pub async fn among(
    db: &mut PgConnection,
    conversations: &[Uuid],
    caller: &Caller,
    project: Uuid,
) -> Result<HashSet<Uuid>> {
    let admin = caller.role(db, project).await? == Some(Role::Admin);
    Ok(reviews::blind(db, conversations, &caller.name, admin).await?.into_iter().collect())
}

/// All conversations of a project that somebody is still to rate by themselves, by run.
pub struct HiddenConversations(HashMap<Uuid, Vec<(usize, Uuid)>>);

impl HiddenConversations {
    pub async fn of<N>(db: &mut PgConnection, who: &ProjectAccess<N>) -> Result<Self> {
        let admin = who.caller.role(db, who.project).await? == Some(Role::Admin);
        let mut by_run: HashMap<Uuid, Vec<(usize, Uuid)>> = HashMap::new();
        for hidden in reviews::blind_in(db, who.project, &who.caller.name, admin).await? {
            let row = usize::try_from(hidden.position).unwrap_or_default();
            by_run.entry(hidden.run).or_default().push((row, hidden.conversation));
        }
        Ok(Self(by_run))
    }

    /// A run as they may see it.
    pub fn unjudged(&self, run: Arc<Columns>) -> Arc<Columns> {
        match self.0.get(&run.run) {
            Some(rows) => Arc::new(run.unjudged(rows)),
            None => run,
        }
    }

    /// Whether some of these runs hold such a conversation; no run stands for all of the project.
    pub fn is_in(&self, runs: &[Uuid]) -> bool {
        if runs.is_empty() { !self.0.is_empty() } else { runs.iter().any(|run| self.0.contains_key(run)) }
    }

    /// # Errors
    /// They do.
    pub fn check(&self, runs: &[Uuid]) -> Result<()> {
        if !self.is_in(runs) {
            return Ok(());
        }
        Err(HttpError::Forbidden(
            "this is made of verdicts on conversations that you can still rate in an open, blind review queue; rate them \
             first, or wait until the queue is closed"
                .into(),
        ))
    }
}

/// The runs that a corpus is selected from; none stands for all of the project.
pub async fn runs_of_corpus(db: &mut PgConnection, spec: &Spec) -> Result<Vec<Uuid>> {
    if let JudgingChoice::Judging(judging) = &spec.filter.judging {
        let judging = judging.parse().unwrap_or_default();
        return Ok(conversation_columns::run_of(db, judging).await?.into_iter().collect());
    }
    Ok(spec.filter.runs.iter().filter_map(|run| run.parse().ok()).collect())
}

/// The runs that an export is made of; none stands for all of the project.
pub async fn runs_of_export(db: &mut PgConnection, spec: &ExportSpec) -> Result<Vec<Uuid>> {
    match &spec.source {
        SourceSpec::Run(rows) => Ok(rows.id.parse().into_iter().collect()),
        SourceSpec::Corpus(rows) => {
            let corpus = corpora::get(db, rows.id.parse().unwrap_or_default()).await?;
            let Some((_, corpus)) = corpus else { return Ok(Vec::new()) };
            runs_of_corpus(db, &corpus.spec).await
        }
    }
}
