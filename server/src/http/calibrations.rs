//! Judges beside people.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use domain::access::Role;
use domain::api::{CalibrationDetail, NewCalibration, Page, RatingsKept};
use domain::calibration::ratings::Format;
use domain::limits::name_problem;
use serde::Deserialize;
use sqlx::{PgConnection, PgPool};
use utoipa::IntoParams;
use uuid::Uuid;

use super::access::{Author, Reader};
use super::audit::Audit;
use super::blind::HiddenConversations;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query, id};
use super::page::{PageParams, Paging, page};
use generation::calibrate::{JudgingScores, insert_ratings, ratings_of, sheet};
use store::calibrations::{self, Calibration};
use store::judgings::{self, Judging};
use store::{conversation_columns, projects, ratings, runs};

/// Conversations on a sheet.
const SAMPLE: u32 = 50;
const LARGEST_SAMPLE: u32 = 10_000;

/// Calibrations of a project, newest first
///
/// Those of runs with conversations that you still have to rate blindly are left out.
#[utoipa::path(get, path = "/projects/{project}/calibrations", tag = "calibrations",
    params(("project" = String, Path), PageParams), responses((status = 200, body = Page<CalibrationDetail>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<CalibrationDetail>>> {
    let limit = params.limit()?;
    let mut db = pool.acquire().await?;
    let found = calibrations::list(&mut db, reader.project, params.cursor()?, i64::from(limit) + 1).await?;
    let items = found.into_iter().map(detail).collect();
    let mut all = page(items, limit, |calibration: &CalibrationDetail| calibration.id.clone());
    let hidden = HiddenConversations::of(&mut db, &reader).await?;
    let mut shown = Vec::new();
    for calibration in all.items {
        let judging = calibration.judging.as_deref().and_then(|id| id.parse().ok());
        if !hidden.is_in(&run_of(&mut db, judging).await?) {
            shown.push(calibration);
        }
    }
    all.items = shown;
    Ok(Json(all))
}

/// One calibration
#[utoipa::path(get, path = "/calibrations/{calibration}", tag = "calibrations", params(("calibration" = Uuid, Path)),
    responses((status = 200, body = CalibrationDetail), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, reader: Reader, Path(id): Path<Uuid>) -> Result<Json<CalibrationDetail>> {
    let mut db = pool.acquire().await?;
    let found = calibrations::get(&mut db, id).await?;
    let found = found.ok_or_else(|| HttpError::missing("calibration", &id.to_string()))?;
    let runs = run_of(&mut db, found.judging_id).await?;
    HiddenConversations::of(&mut db, &reader).await?.check(&runs)?;
    Ok(Json(detail(found)))
}

/// The run whose conversations a judging is about; none, which stands for all, of what is too old to say.
async fn run_of(db: &mut PgConnection, judging: Option<Uuid>) -> Result<Vec<Uuid>> {
    let Some(judging) = judging else { return Ok(Vec::new()) };
    Ok(conversation_columns::run_of(db, judging).await?.into_iter().collect())
}

/// Compare a judge with people's ratings
///
/// Makes one calibration for each judge whose conversations people rated; exports correct scores by the newest one.
#[utoipa::path(post, path = "/projects/{project}/calibrations", tag = "calibrations",
    params(("project" = String, Path)), request_body = NewCalibration,
    responses((status = 201, body = Vec<CalibrationDetail>), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn create(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Body(new): Body<NewCalibration>,
) -> Result<(StatusCode, Json<Vec<CalibrationDetail>>)> {
    let wrong = |field: &str, detail: String| HttpError::invalid(&format!("/{field}"), detail);
    let run = new.run.as_deref().map(|text| id("/run", text)).transpose()?;
    let judging = new.judging.as_deref().map(|text| id("/judging", text)).transpose()?;
    let judging = judging_of(&pool, author.project, run, judging, wrong).await?;
    HiddenConversations::of(&mut *pool.acquire().await?, &author).await?.check(&[judging.run_id])?;
    let said = said(&pool, judging, run.is_some(), wrong).await?;
    let mut tx = pool.begin().await?;
    let judged: Vec<Uuid> = said.verdicts.keys().copied().collect();
    let rated = ratings_of(&said.criteria(), ratings::of(&mut tx, &judged).await?);
    let made = said.compared(&rated, author.project, &author.caller.name);
    if made.is_empty() {
        let message = "nobody has rated a conversation that has a verdict here: make a review queue, or upload a sheet";
        return Err(HttpError::Conflict(message.into()));
    }
    for calibration in &made {
        calibrations::insert(&mut tx, calibration).await?;
    }
    let ids: Vec<String> = made.iter().map(|calibration| calibration.id.to_string()).collect();
    audit.subject(ids.join(" "));
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(made.into_iter().map(detail).collect())))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SheetParams {
    /// Conversations of this run, with its own judging.
    run: Option<Uuid>,
    /// Conversations of this judging.
    judging: Option<Uuid>,
    /// How many, spread evenly over the judge's scores, 1 to 10000; default: 50.
    #[param(minimum = 1, maximum = 10000)]
    n: Option<u32>,
}

/// A sheet of conversations for people to rate, as CSV
///
/// One line for each conversation, one column for each criterion, `overall` and `goal_achieved`; `rater` may name the
/// person who rated. Upload the filled-in sheet to `ratings`.
#[utoipa::path(get, path = "/projects/{project}/calibrations/sheet", tag = "calibrations",
    params(("project" = String, Path), SheetParams),
    responses((status = 200, body = String, content_type = "text/csv"), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn sheet_of(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<SheetParams>,
) -> Result<impl IntoResponse> {
    let n = params.n.unwrap_or(SAMPLE);
    if !(1..=LARGEST_SAMPLE).contains(&n) {
        return Err(HttpError::parameter("n", format!("{n} is not from 1 to {LARGEST_SAMPLE}")));
    }
    let judging = judging_of(&pool, reader.project, params.run, params.judging, in_query).await?;
    // Which conversations are on a short sheet depends on their scores.
    HiddenConversations::of(&mut *pool.acquire().await?, &reader).await?.check(&[judging.run_id])?;
    let sheet = sheet::read(&pool, judging.id, n as usize).await?;
    if sheet.conversations.is_empty() {
        return Err(nothing_judged(params.run.is_some(), in_query));
    }
    let name = "attachment; filename=\"ratings.csv\"";
    Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8"), (header::CONTENT_DISPOSITION, name)], sheet.text()))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct UploadParams {
    /// The run whose conversations were rated, with its own judging.
    run: Option<Uuid>,
    /// The judging whose conversations were rated.
    judging: Option<Uuid>,
}

/// Upload ratings, as CSV or JSON
///
/// The body is a sheet that people filled in (`text/csv`), or a list of objects with the same names
/// (`application/json`). Ratings without a rater are yours; only admins can upload ratings of others. If anything is
/// wrong, nothing is stored.
#[utoipa::path(post, path = "/projects/{project}/calibrations/ratings", tag = "calibrations",
    params(("project" = String, Path), UploadParams), request_body(content = String, content_type = "text/csv"),
    responses((status = 200, body = RatingsKept), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn upload(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    Query(params): Query<UploadParams>,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<RatingsKept>> {
    let (format, name) = match kind(&headers) {
        "text/csv" => (Format::Csv, "ratings.csv"),
        "application/json" => (Format::Json, "ratings.json"),
        _ => return Err(HttpError::UnsupportedMediaType("send text/csv or application/json".into())),
    };
    let bytes = Bytes::from_request(request, &()).await?;
    let text = str::from_utf8(&bytes).map_err(|e| HttpError::BadRequest(format!("the body is not UTF-8: {e}")))?;
    let judging = judging_of(&pool, author.project, params.run, params.judging, in_query).await?;
    let said = said(&pool, judging, params.run.is_some(), in_query).await?;
    let mut ratings = said.read(name, text, format).map_err(|bad| HttpError::from(bad.0))?;
    for row in ratings.rows.iter_mut().filter(|row| row.rater.is_empty()) {
        row.rater.clone_from(&author.caller.name);
    }
    let admin = author.caller.role(&mut *pool.acquire().await?, author.project).await? == Some(Role::Admin);
    if let Some(row) = ratings.rows.iter().find(|row| row.rater != author.caller.name && !admin) {
        let message = format!("line by `{}`: only admins of the project can upload ratings of others", row.rater);
        return Err(HttpError::Forbidden(message));
    }
    if let Some(problem) = ratings.rows.iter().find_map(|row| name_problem(&row.rater)) {
        return Err(HttpError::invalid("/rater", problem));
    }
    let known = |text: &str| text.parse().is_ok_and(|id: Uuid| said.verdicts.contains_key(&id));
    let unknown =
        ratings.rows.iter().filter(|row| !known(&row.conversation)).map(|row| row.conversation.clone()).collect();
    let mut tx = pool.begin().await?;
    let kept = insert_ratings(&mut tx, &ratings, &said, &[]).await?;
    audit.commit(tx).await?;
    Ok(Json(RatingsKept { kept, unknown }))
}

fn kind(headers: &HeaderMap) -> &str {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim()
}

fn in_query(field: &str, detail: String) -> HttpError {
    HttpError::parameter(field, detail)
}

/// The judging that is meant, of this project. It is said to be wrong in the field `run` or `judging`.
async fn judging_of(
    pool: &PgPool,
    project: Uuid,
    run: Option<Uuid>,
    judging: Option<Uuid>,
    wrong: impl Fn(&str, String) -> HttpError,
) -> Result<Judging> {
    let mut db = pool.acquire().await?;
    let (field, id) = match (run, judging) {
        (Some(id), None) => {
            let known = projects::of_run(&mut db, id).await? == Some(project);
            let run = if known { runs::get(&mut db, id).await? } else { None };
            let run = run.ok_or_else(|| wrong("run", format!("there is no run {id} in this project")))?;
            ("run", run.own_judging())
        }
        (None, Some(id)) => ("judging", id),
        _ => return Err(wrong("run", "name either `run` or `judging`".into())),
    };
    let known = projects::of_judging(&mut db, id).await? == Some(project);
    let found = if known { judgings::get(&mut db, id).await? } else { None };
    found.ok_or_else(|| wrong(field, format!("there is no judging {id} in this project")))
}

/// All scores that it gave.
async fn said(
    pool: &PgPool,
    judging: Judging,
    of_run: bool,
    wrong: impl Fn(&str, String) -> HttpError,
) -> Result<JudgingScores> {
    let said = JudgingScores::load(pool, judging).await?;
    if said.is_empty() { Err(nothing_judged(of_run, wrong)) } else { Ok(said) }
}

fn nothing_judged(of_run: bool, wrong: impl Fn(&str, String) -> HttpError) -> HttpError {
    wrong(if of_run { "run" } else { "judging" }, "none of its conversations has a verdict yet".into())
}

fn detail(calibration: Calibration) -> CalibrationDetail {
    CalibrationDetail {
        id: calibration.id.to_string(),
        judge: calibration.judge,
        judge_versions: calibration.judge_versions,
        models: calibration.models,
        judging: calibration.judging_id.map(|id| id.to_string()),
        created_by: calibration.created_by,
        created_at: calibration.created_at,
        report: calibration.report,
    }
}
