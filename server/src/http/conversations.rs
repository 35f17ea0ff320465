//! Conversations: lists, facets, and one of them whole.

pub mod events;
pub mod params;
pub mod scope;

use std::collections::{BTreeMap, HashMap};

use axum::Json;
use axum::extract::State;
use domain::analytics::Bin;
use domain::api::{
    ConversationDetail, ConversationFacets, ConversationListParams, ConversationOrderParams, ConversationSummary,
    Facet, FacetValue, Neighbours, Page,
};
use domain::transcript::Transcript;
use sqlx::PgPool;
use uuid::Uuid;

use super::access::Reader;
use super::app::App;
use super::blind;
use super::error::{HttpError, Problems, Result};
use super::extract::Path;
use super::page::{PageParams, Paging, page};
use datasets::index::{Columns, Facets, Place, Sort, SortKey};
use params::{ListQuery, NoParams};
use scope::Scope;
use store::{conversation_columns, conversations, projects, runs};

/// The most values of a facet that are told.
const MOST_VALUES: usize = 100;

/// Conversations of a run, filtered and ordered
///
/// Conversations that you still have to rate blindly are listed, filtered and ordered as if nobody had judged them.
#[utoipa::path(get, path = "/runs/{run}/conversations", tag = "conversations",
    params(("run" = Uuid, Path), ListQuery<ConversationListParams>),
    responses((status = 200, body = Page<ConversationSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn of_run(
    State(app): State<App>,
    reader: Reader,
    Path(run): Path<Uuid>,
    query: ListQuery<ConversationListParams>,
) -> Result<Json<Page<ConversationSummary>>> {
    let scope = Scope::of_run(&app, &reader, run, &query.selection.filter.judging).await?;
    list(&app, &reader, scope, query).await
}

/// Conversations of a project, filtered and ordered; those of newer runs come first
///
/// Conversations that you still have to rate blindly are listed, filtered and ordered as if nobody had judged them.
#[utoipa::path(get, path = "/projects/{project}/conversations", tag = "conversations",
    params(("project" = String, Path), ListQuery<ConversationListParams>),
    responses((status = 200, body = Page<ConversationSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn of_project(
    State(app): State<App>,
    reader: Reader,
    query: ListQuery<ConversationListParams>,
) -> Result<Json<Page<ConversationSummary>>> {
    let scope = Scope::of_project(&app, &reader, &query.selection).await?;
    list(&app, &reader, scope, query).await
}

/// How many conversations of a run there are of each value, and how scores are distributed
///
/// Conversations that you still have to rate blindly count as if nobody had judged them.
#[utoipa::path(get, path = "/runs/{run}/conversations/facets", tag = "conversations",
    params(("run" = Uuid, Path), ListQuery<NoParams>), responses((status = 200, body = ConversationFacets), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn facets_of_run(
    State(app): State<App>,
    reader: Reader,
    Path(run): Path<Uuid>,
    ListQuery { selection, .. }: ListQuery<NoParams>,
) -> Result<Json<ConversationFacets>> {
    let scope = Scope::of_run(&app, &reader, run, &selection.filter.judging).await?;
    scope.ask(selection, |query| Json(conversation_facets(query.facets()))).await
}

/// How many conversations of a project there are of each value, and how scores are distributed
///
/// Conversations that you still have to rate blindly count as if nobody had judged them.
#[utoipa::path(get, path = "/projects/{project}/conversations/facets", tag = "conversations",
    params(("project" = String, Path), ListQuery<NoParams>),
    responses((status = 200, body = ConversationFacets), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn facets_of_project(
    State(app): State<App>,
    reader: Reader,
    ListQuery { selection, .. }: ListQuery<NoParams>,
) -> Result<Json<ConversationFacets>> {
    let scope = Scope::of_project(&app, &reader, &selection).await?;
    scope.ask(selection, |query| Json(conversation_facets(query.facets()))).await
}

/// The previous and the next conversation of the run, in the order of a list
#[utoipa::path(get, path = "/conversations/{conversation}/neighbours", tag = "conversations",
    params(("conversation" = Uuid, Path), ListQuery<ConversationOrderParams>),
    responses((status = 200, body = Neighbours), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn neighbours(
    State(app): State<App>,
    reader: Reader,
    Path(id): Path<Uuid>,
    ListQuery { selection, params }: ListQuery<ConversationOrderParams>,
) -> Result<Json<Neighbours>> {
    let sort = params::sort(params.sort.as_deref(), params.order.as_deref())?;
    let missing = || HttpError::missing("conversation", &id.to_string());
    let place = conversation_columns::place_of(&mut *app.pool().acquire().await?, id).await?;
    let (run, position) = place.ok_or_else(missing)?;
    let scope = Scope::of_run(&app, &reader, run, &selection.filter.judging).await?;
    check_criterion(&scope, &sort)?;
    let position = usize::try_from(position).unwrap_or(usize::MAX);
    let found = scope.ask(selection, move |query| {
        let place = query.place(&sort, run, position)?;
        Some([true, false].map(|backward| query.walk(&sort, Some(place), 1, backward).pop()))
    });
    let [previous, next] = found.await?.ok_or_else(missing)?;
    let id = |place: Option<Place>| place.map(|place| scope.runs[0].id[place.position].to_string());
    Ok(Json(Neighbours { previous: id(previous), next: id(next) }))
}

/// One conversation with its events, its verdict and what the verifier found
///
/// While it is in an open, blind review queue, the judges' verdicts are absent until you have rated it.
#[utoipa::path(get, path = "/conversations/{conversation}", tag = "conversations",
    params(("conversation" = Uuid, Path)), responses((status = 200, body = ConversationDetail), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(uuid): Path<Uuid>,
) -> Result<Json<ConversationDetail>> {
    let missing = || HttpError::missing("conversation", &uuid.to_string());
    let mut db = pool.acquire().await?;
    let (run_id, mut summary) = conversations::get(&mut db, uuid).await?.ok_or_else(missing)?;
    let run = runs::get(&mut db, run_id).await?.ok_or_else(missing)?;
    let models = serde_json::from_value(run.spec["models"].clone()).unwrap_or_else(|_| BTreeMap::new());
    let branch_of = serde_json::from_value(run.spec["branch_of"].clone()).unwrap_or_default();
    let events = store::events::of::<domain::Event>(&mut db, uuid).await?;
    let transcript: Transcript = events.iter().cloned().collect();
    let (verdict, verification) = (transcript.verdict(), transcript.verification);
    let scores = verdict.iter().flat_map(|verdict| &verdict.scores);
    summary.scores = scores.map(|score| (score.criterion.clone(), score.score)).collect();
    let project = projects::get(&mut db, reader.project).await?.ok_or_else(missing)?.name;
    let run_id = run_id.to_string();
    let detail = ConversationDetail { summary, run_id, project, branch_of, models, events, verdict, verification };
    let blind = blind::is_blind(&mut db, uuid, &reader.caller, reader.project).await?;
    Ok(Json(if blind { detail.unjudged() } else { detail }))
}

async fn list(
    app: &App,
    reader: &Reader,
    scope: Scope,
    ListQuery { selection, params }: ListQuery<ConversationListParams>,
) -> Result<Json<Page<ConversationSummary>>> {
    let sort = params::sort(params.sort.as_deref(), params.order.as_deref())?;
    let skip = params.skip.unwrap_or_default() as usize;
    check_criterion(&scope, &sort)?;
    let page_params = PageParams { limit: params.limit, after: params.after };
    let limit = page_params.limit()?;
    let after: Option<Place> = page_params.cursor()?;
    let found = scope.ask(selection, move |query| {
        let known = after.is_none_or(|place| query.knows(place));
        known.then(|| query.page(&sort, after, skip, usize::from(limit) + 1))
    });
    let places = found.await?.ok_or_else(|| HttpError::parameter("after", "it is the cursor of another list"))?;
    let Page { items, next } = page(places, limit, Place::to_string);
    Ok(Json(Page { items: summaries(app, reader, &scope, &items).await?, next }))
}

/// The rows of a page, in its order.
async fn summaries(app: &App, reader: &Reader, scope: &Scope, places: &[Place]) -> Result<Vec<ConversationSummary>> {
    let columns: HashMap<Uuid, &Columns> = scope.runs.iter().map(|run| (run.run, run.as_ref())).collect();
    let ids: Vec<Uuid> = places.iter().map(|place| columns[&place.run].id[place.position]).collect();
    let mut db = app.pool().acquire().await?;
    let found = conversations::some(&mut db, &ids, &scope.judgings).await?;
    let hidden = blind::among(&mut db, &ids, &reader.caller, reader.project).await?;
    let mut found: HashMap<Uuid, ConversationSummary> = found.into_iter().collect();
    // A conversation that was deleted meanwhile is left out.
    let rows = places.iter().zip(ids).filter_map(|(place, id)| {
        let mut summary = found.remove(&id)?;
        let columns = columns[&place.run];
        let scores = columns.scores.iter().map(|(name, column)| (columns.names.name(*name), column[place.position]));
        summary.scores =
            scores.filter(|(_, score)| *score <= 10).map(|(name, score)| (name.to_owned(), score)).collect();
        if hidden.contains(&id) {
            summary.unjudge();
        }
        Some(summary)
    });
    Ok(rows.collect())
}

/// # Errors
/// The list is to be ordered by a criterion that nothing was judged by.
fn check_criterion(scope: &Scope, sort: &Sort) -> Result<()> {
    let SortKey::Criterion(name) = &sort.by else { return Ok(()) };
    let known: Vec<&str> = scope.runs.iter().flat_map(|run| run.criteria()).collect();
    if known.is_empty() || known.contains(&name.as_str()) {
        return Ok(());
    }
    let hint = domain::problem::did_you_mean(name, known);
    let name: String = name.chars().take(80).collect();
    Err(HttpError::parameter("sort", format!("no conversation was judged by the criterion `{name}`{hint}")))
}

fn conversation_facets(facets: Facets) -> ConversationFacets {
    let facet = |(name, values): (&str, BTreeMap<String, u64>)| {
        let distinct = values.len() as u64;
        let mut values: Vec<FacetValue> =
            values.into_iter().map(|(value, count)| FacetValue { value, count }).collect();
        values.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
        values.truncate(MOST_VALUES);
        Facet { name: name.to_owned(), values, distinct }
    };
    let bins = |counts: &mut dyn Iterator<Item = (u32, u64)>| -> Vec<Bin> {
        counts.filter(|(_, count)| *count > 0).map(|(value, count)| Bin { value, count }).collect()
    };
    let scores = facets.scores.into_iter().map(|(name, counts)| (name, bins(&mut (0..).zip(counts))));
    let lengths = facets.lengths.into_iter().map(|(name, counts)| (name.to_owned(), bins(&mut counts.into_iter())));
    ConversationFacets {
        matching: facets.matching,
        total: facets.total,
        facets: facets.values.into_iter().map(facet).collect(),
        scores: scores.collect(),
        lengths: lengths.collect(),
    }
}
