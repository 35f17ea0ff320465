//! Groups of a run: conversations that have the same start, with their rewards.

use axum::Json;
use axum::extract::State;
use datasets::index::Groups;
use domain::api::Page;
use domain::api::groups::{GroupParams, GroupsSummary, RunGroup};
use domain::filter::JudgingChoice;
use uuid::Uuid;

use super::access::Reader;
use super::app::App;
use super::conversations::params::Selection;
use super::conversations::scope::Scope;
use super::error::{HttpError, Problems, Result};
use super::extract::{Path, Query};
use super::page::{PageParams, Paging, page};

/// The groups of a run, in the order of their first conversations
///
/// A group is what has the same start: the samples of an order with `samples`, or episodes of one scenario and group. Rewards follow
/// from the verifier alone. Conversations that you still have to rate blindly count as if they were being played.
#[utoipa::path(get, path = "/runs/{run}/groups", tag = "runs", params(("run" = Uuid, Path), GroupParams),
    responses((status = 200, body = Page<RunGroup>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(app): State<App>,
    reader: Reader,
    Path(run): Path<Uuid>,
    Query(params): Query<GroupParams>,
) -> Result<Json<Page<RunGroup>>> {
    for (name, rate) in [("min_solve_rate", params.min_solve_rate), ("max_solve_rate", params.max_solve_rate)] {
        if rate.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
            return Err(HttpError::parameter(name, "must be from 0 to 1"));
        }
    }
    let paging = PageParams { limit: params.limit, after: params.after.clone() };
    let (limit, after) = (paging.limit()?, paging.cursor()?);
    let scope = Scope::of_run(&app, &reader, run, &JudgingChoice::Own).await?;
    let groups = scope.ask(Selection::default().into(), move |query| {
        let wanted = |group: &RunGroup| {
            let at_least = params.min_solve_rate.is_none_or(|least| group.solve_rate.is_some_and(|rate| rate >= least));
            let at_most = params.max_solve_rate.is_none_or(|most| group.solve_rate.is_some_and(|rate| rate <= most));
            at_least && at_most && params.dead.is_none_or(|dead| group.dead == dead)
        };
        Groups::of(query.runs[0].columns).page(after, usize::from(limit) + 1, wanted)
    });
    let first = |group: &RunGroup| group.samples.first().map_or(0, |sample| sample.position).to_string();
    Ok(Json(page(groups.await?, limit, first)))
}

/// A summary of the groups of a run
#[utoipa::path(get, path = "/runs/{run}/groups/summary", tag = "runs", params(("run" = Uuid, Path)),
    responses((status = 200, body = GroupsSummary), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn summarise(State(app): State<App>, reader: Reader, Path(run): Path<Uuid>) -> Result<Json<GroupsSummary>> {
    let scope = Scope::of_run(&app, &reader, run, &JudgingChoice::Own).await?;
    let summary = scope.ask(Selection::default().into(), |query| Groups::of(query.runs[0].columns).summary());
    Ok(Json(summary.await?))
}
