//! Statistics of runs and corpora.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use domain::analytics::{Comparison, Counts, gaps};
use domain::api::{ComparisonParams, CorpusAnalytics, Cost, RunAnalytics, RunComparison};
use domain::filter::JudgingChoice;
use sqlx::PgConnection;
use uuid::Uuid;

use super::access::Reader;
use super::app::App;
use super::blind::{self, HiddenConversations};
use super::conversations::params::{ListQuery, NoParams, Selection};
use super::conversations::scope::Scope;
use super::error::{HttpError, Problems, Result};
use super::extract::{Path, id_parameter};
use datasets::index::counts;
use store::conversation_columns::{self, CorpusRow};
use store::{corpora, runs};

/// Scores, outcomes, correlations and cost of a run
///
/// Conversations that you still have to rate blindly count as if nobody had judged them.
#[utoipa::path(get, path = "/runs/{run}/analytics", tag = "analytics", params(("run" = Uuid, Path), ListQuery<NoParams>),
    responses((status = 200, body = RunAnalytics), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn of_run(
    State(app): State<App>,
    reader: Reader,
    Path(run): Path<Uuid>,
    ListQuery { selection, .. }: ListQuery<NoParams>,
) -> Result<Json<RunAnalytics>> {
    let counts = counted(&app, &reader, run, selection).await?;
    let cost = cost(&mut *app.pool().acquire().await?, run).await?;
    Ok(Json(RunAnalytics { analytics: counts.report(), cost }))
}

/// How far another run of the project differs from one, with confidence intervals
#[utoipa::path(get, path = "/runs/{run}/comparison", tag = "analytics",
    params(("run" = Uuid, Path), ListQuery<ComparisonParams>),
    responses((status = 200, body = RunComparison), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn comparison(
    State(app): State<App>,
    reader: Reader,
    Path(run): Path<Uuid>,
    ListQuery { selection, params }: ListQuery<ComparisonParams>,
) -> Result<Json<RunComparison>> {
    let with = id_parameter("with", &params.with)?;
    let one = counted(&app, &reader, run, Arc::clone(&selection)).await?;
    let other = counted(&app, &reader, with, selection).await?;
    let mut db = app.pool().acquire().await?;
    let per_accepted = cost(&mut db, run).await?.per_accepted;
    let with_per_accepted = cost(&mut db, with).await?.per_accepted;
    let comparison = Comparison::of(&one, &other);
    Ok(Json(RunComparison {
        run: run.to_string(),
        with: with.to_string(),
        comparison,
        per_accepted,
        with_per_accepted,
    }))
}

/// Scores, outcomes and correlations of the conversations of a corpus, and how its golden part differs from its
/// training part
#[utoipa::path(get, path = "/corpora/{corpus}/analytics", tag = "analytics", params(("corpus" = Uuid, Path)),
    responses((status = 200, body = CorpusAnalytics), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn of_corpus(
    State(app): State<App>,
    reader: Reader,
    Path(corpus): Path<Uuid>,
) -> Result<Json<CorpusAnalytics>> {
    let mut db = app.pool().acquire().await?;
    let selected = conversation_columns::selected_by(&mut db, corpus).await?;
    let (judging, ready) = selected.ok_or_else(|| HttpError::missing("corpus", &corpus.to_string()))?;
    if !ready {
        return Err(HttpError::Conflict("the corpus is not ready".into()));
    }
    let spec = corpora::get(&mut db, corpus).await?.map(|(_, detail)| detail.spec).unwrap_or_default();
    let runs = blind::runs_of_corpus(&mut db, &spec).await?;
    HiddenConversations::of(&mut db, &reader).await?.check(&runs)?;
    let whose = judging.map(JudgingChoice::from).unwrap_or_default();
    let mut by_run: BTreeMap<Uuid, Vec<CorpusRow>> = BTreeMap::new();
    for kept in conversation_columns::corpus_rows(&mut db, corpus).await? {
        by_run.entry(kept.run).or_default().push(kept);
    }
    drop(db);
    let (mut parts, mut spent) = ([Counts::default(), Counts::default()], 0.0);
    let mut rows = [0, 0];
    for (run, kept) in by_run {
        let scope = Scope::of_run(&app, &reader, run, &whose).await?;
        let cost = cost(&mut *app.pool().acquire().await?, run).await?;
        for golden in [false, true] {
            let positions: Vec<usize> = kept
                .iter()
                .filter(|kept| kept.golden == golden)
                .filter_map(|kept| usize::try_from(kept.position).ok().filter(|row| *row < scope.runs[0].len()))
                .collect();
            rows[usize::from(golden)] += positions.len() as u64;
            spent +=
                cost.per_accepted.unwrap_or_default() * f64::from(u32::try_from(positions.len()).unwrap_or(u32::MAX));
            let columns = Arc::clone(&scope.runs[0]);
            let work = move || counts(&columns, positions.into_iter());
            let counted = tokio::task::spawn_blocking(work).await.map_err(|error| HttpError::Internal(error.into()))?;
            parts[usize::from(golden)].add(counted);
        }
    }
    let [train, golden] = parts;
    let gaps = gaps(&train, &golden);
    let mut all = train;
    all.add(golden);
    let analytics = all.report();
    Ok(Json(CorpusAnalytics { analytics, train: rows[0], golden: rows[1], gaps, cost: spent }))
}

/// Counts of what is asked for in a run.
async fn counted(app: &App, reader: &Reader, run: Uuid, selection: Arc<Selection>) -> Result<Counts> {
    let scope = Scope::of_run(app, reader, run, &selection.filter.judging).await?;
    let counted = scope.ask(selection, |query| {
        let mut all = Counts::default();
        for asked in &query.runs {
            let mut rows = Vec::new();
            asked.each(|row| rows.push(row));
            all.add(counts(asked.columns, rows.into_iter()));
        }
        all
    });
    counted.await
}

/// What a run spent.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
async fn cost(db: &mut PgConnection, run: Uuid) -> Result<Cost> {
    let usage = runs::usage(db, run).await?;
    let accepted = runs::accepted(db, run).await?;
    let total = usage.iter().map(|usage| usage.cost).sum();
    Ok(Cost {
        total,
        prompt_tokens: usage.iter().map(|usage| usage.prompt_tokens).sum(),
        completion_tokens: usage.iter().map(|usage| usage.completion_tokens).sum(),
        per_accepted: (accepted > 0).then(|| total / accepted as f64),
    })
}
