//! The HTTP side: the API under /api/v1, the web app everywhere else. All routes stand here.

pub mod access;
mod analytics;
mod annotations;
pub mod answer_queue;
mod answers;
pub mod app;
mod archive;
pub mod assets;
mod audit;
mod audit_log;
mod blind;
mod branches;
mod calibrations;
mod caller;
pub mod connection_permits;
mod connections;
mod conversations;
mod corpora;
mod corrections;
mod datasets;
mod documents;
mod endpoint_agents;
mod environments;
mod episode_signals;
mod episodes;
mod error;
mod exports;
mod extract;
mod groups;
mod headers;
mod idempotency;
mod indexes;
mod job_events;
mod jobs;
mod judgings;
mod limits;
mod lookups;
mod models;
mod openapi;
mod openenv;
mod opening_queue;
mod operations;
mod ors;
mod page;
mod progress;
mod projects;
mod ratings;
mod reviews;
mod route;
mod rows;
mod runs;
mod schemas;
pub mod session;
pub mod shares;
mod shown_once;
mod solve_rates;
mod spool;
mod storage;
pub mod tokens;
mod trials;
pub mod users;
mod validations;
mod words;
mod workers;
mod worlds;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::trace::TraceLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_swagger_ui::SwaggerUi;

use app::App;
pub use connection_permits::Limits as ConnectionLimits;
pub use connections::{WriteTimeout, raise_descriptors, serve};
use error::HttpError;
pub use operations::MonitoredProcess;
use route::routes;

/// Largest body, but for uploads.
const LARGEST_BODY: usize = 4 << 20;
/// Largest order of a run: one that names every scenario that a project can hold, with names as long as they may be.
const LARGEST_ORDER: usize = 2 << 20;
/// Largest upload: an archive, and a little more, so that it is the archive's reader that says what is too large.
const LARGEST_UPLOAD: usize = (32 << 20) + (1 << 10);

/// What watches this process: whether it lives, whether it can work, and its figures.
pub fn operations(watched: MonitoredProcess) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(operations::ready))
        .route("/metrics", get(operations::metrics))
        .with_state(watched)
}

/// Functions, because routers are large values: all in one function are too much for the stack of a test's thread.
const AREAS: [fn() -> OpenApiRouter<App>; 11] = [
    people,
    projects,
    documents,
    models,
    runs,
    conversations,
    episode_routes,
    corpora,
    exports,
    dataset_routes,
    review_routes,
];

/// The API, and the document that describes it.
fn api() -> (Router<App>, OpenApi) {
    let frame = OpenApiRouter::with_openapi(openapi::frame());
    AREAS.iter().fold(frame, |all, area| all.merge(area())).split_for_parts()
}

fn people() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(session::show, session::create, session::delete))
        .routes(routes!(session::look))
        .routes(routes!(session::accept))
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::change))
        .routes(routes!(users::invite_again))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::delete))
        .routes(routes!(audit_log::of_all))
}

fn projects() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(projects::list, projects::create))
        .routes(routes!(projects::show, projects::change))
        .routes(routes!(storage::show, storage::set_limits))
        .routes(routes!(projects::members))
        .routes(routes!(projects::set_member, projects::remove_member))
        .routes(routes!(audit_log::of_project))
        .routes(routes!(jobs::list))
        .routes(routes!(jobs::show, jobs::cancel))
}

fn documents() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(uploads())
        .routes(routes!(archive::demo))
        .routes(routes!(documents::list))
        .routes(routes!(documents::versions))
        .routes(routes!(documents::version))
        .routes(routes!(documents::diff))
        .routes(routes!(documents::used_by))
        .routes(routes!(documents::restore))
        .routes(routes!(documents::promote))
        .routes(routes!(documents::sample))
        .routes(routes!(validations::list, validations::create))
        .routes(routes!(validations::show))
        .routes(routes!(schemas::show))
}

/// What takes larger bodies: documents with all their files, and whole projects.
fn uploads() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(documents::show, documents::save, documents::delete))
        .routes(routes!(documents::check))
        .routes(routes!(archive::download, archive::upload))
        .routes(routes!(trials::play))
        .routes(routes!(trials::attempt))
        .routes(routes!(trials::prompts))
        .routes(routes!(trials::graph))
        .routes(routes!(trials::import))
        .layer(DefaultBodyLimit::max(LARGEST_UPLOAD))
}

fn models() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(models::list))
        .routes(routes!(models::set, models::delete))
        .routes(routes!(models::probe, models::probed))
        .routes(routes!(models::players))
        .routes(routes!(workers::list, workers::join))
        .routes(routes!(workers::leave))
        .routes(routes!(workers::beat))
        .routes(routes!(workers::order))
        .routes(routes!(workers::tokens::list, workers::tokens::create))
        .routes(routes!(workers::tokens::delete))
}

fn runs() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(runs::list, runs::create))
        .routes(routes!(runs::preview))
        .routes(routes!(rows::runs_of, rows::create))
        .routes(routes!(rows::list))
        .routes(routes!(answers::times, answers::create))
        .routes(routes!(rows::summarise))
        .routes(routes!(rows::show))
        .routes(routes!(runs::show, runs::change))
        .routes(routes!(runs::config))
        .routes(routes!(runs::forecast))
        .routes(routes!(runs::pause))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::retry))
        .routes(routes!(progress::follow))
        .routes(routes!(judgings::list, judgings::create))
        .layer(DefaultBodyLimit::max(LARGEST_ORDER))
}

fn conversations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(judgings::show))
        .routes(routes!(judgings::cancel))
        .routes(routes!(judgings::resume))
        .routes(routes!(judgings::of_judging))
        .routes(routes!(judgings::of_conversation))
        .routes(routes!(conversations::of_run))
        .routes(routes!(conversations::of_project))
        .routes(routes!(groups::list))
        .routes(routes!(groups::summarise))
        .routes(routes!(conversations::facets_of_run))
        .routes(routes!(conversations::facets_of_project))
        .routes(routes!(conversations::neighbours))
        .routes(routes!(conversations::show))
        .routes(routes!(conversations::events::list))
        .routes(routes!(analytics::of_run))
        .routes(routes!(analytics::of_corpus))
        .routes(routes!(analytics::comparison))
        .routes(routes!(worlds::show))
        .routes(routes!(branches::list, branches::create))
        .routes(routes!(worlds::provenance))
}

fn episode_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(environments::list))
        .routes(routes!(environments::set, environments::delete))
        .routes(routes!(episodes::create))
        .routes(routes!(episodes::show, episodes::close))
        .routes(routes!(episodes::send))
        .routes(routes!(episodes::verify))
        .routes(routes!(episodes::mcp::serve))
}

fn corpora() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(corpora::list, corpora::create))
        .routes(routes!(corpora::preview::preview))
        .routes(routes!(corpora::show, corpora::delete))
        .routes(routes!(corpora::cancel))
        .routes(routes!(corpora::retry))
        .routes(routes!(corpora::manifest::show))
        .routes(routes!(corpora::rows::kept))
        .routes(routes!(corpora::rows::dropped))
        .routes(routes!(corpora::rows::neighbours))
}

fn exports() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(exports::list, exports::create))
        .routes(routes!(exports::preview::preview))
        .routes(routes!(exports::show, exports::delete))
        .routes(routes!(exports::cancel))
        .routes(routes!(exports::file::download))
}

fn dataset_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(datasets::list, datasets::create))
        .routes(routes!(datasets::uploads::list, datasets::uploads::create))
        .routes(routes!(datasets::uploads::show, datasets::uploads::append, datasets::uploads::delete))
        .routes(routes!(datasets::show, datasets::delete))
        .routes(routes!(datasets::cancel))
        .routes(routes!(datasets::columns))
        .routes(routes!(datasets::rows::show))
        .routes(routes!(indexes::list, indexes::create))
        .routes(routes!(indexes::show, indexes::delete))
        .routes(routes!(indexes::cancel))
        .routes(routes!(indexes::search))
        .layer(DefaultBodyLimit::max(LARGEST_UPLOAD))
}

/// What people say of conversations, and judges beside them.
fn review_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(reviews::list, reviews::create))
        .routes(routes!(reviews::show, reviews::change))
        .routes(routes!(reviews::items::next))
        .routes(routes!(reviews::items::list))
        .routes(routes!(reviews::items::skip))
        .routes(routes!(reviews::items::assign))
        .routes(routes!(reviews::items::withdraw))
        .routes(routes!(reviews::agreement::of_queue))
        .routes(routes!(reviews::agreement::disagreements_of_queue))
        .routes(routes!(reviews::agreement::of_project))
        .routes(routes!(reviews::agreement::disagreements_of_project))
        .routes(routes!(ratings::show, ratings::rate))
        .routes(routes!(annotations::list, annotations::create))
        .routes(routes!(annotations::change, annotations::delete))
        .routes(routes!(corrections::show, corrections::create))
        .routes(routes!(calibrations::list, calibrations::create))
        .routes(routes!(calibrations::show))
        .routes(routes!(calibrations::sheet_of))
        .routes(routes!(calibrations::upload))
}

/// The OpenAPI document of this version.
pub fn document() -> OpenApi {
    let (_, mut document) = api();
    openapi::with_idempotency_keys(&mut document);
    OpenApiRouter::<()>::with_openapi(OpenApi::default())
        .nest("/api/v1", OpenApiRouter::with_openapi(document))
        .into_openapi()
}

pub fn router(app: App) -> Router {
    let leases = episodes::endpoint_leases::keep(app.clone());
    tokio::spawn(app.stop().clone().run_until_cancelled_owned(leases));
    let (api, _) = api();
    // What cannot be written is empty, and fails the tests.
    let document = Bytes::from(document().to_json().unwrap_or_default());
    let api = api
        .layer(from_fn_with_state(app.clone(), spool::spool))
        .route("/openapi.json", get(openapi::serve).with_state(document))
        .method_not_allowed_fallback(async |request: Request| {
            HttpError::MethodNotAllowed(request.method().to_string()).into_response()
        })
        // The last one is the first that a request meets.
        .layer(from_fn(shares::hold))
        .layer(from_fn(audit::record))
        .layer(from_fn_with_state(app.clone(), idempotency::once))
        .layer(from_fn_with_state(app.clone(), access::authenticate))
        .layer(from_fn(limits::to_the_end))
        .layer(from_fn(limits::in_names))
        .layer(from_fn(limits::in_time))
        .layer(DefaultBodyLimit::max(LARGEST_BODY));
    Router::new()
        .nest("/api/v1", api)
        .merge(ors::routes(&app).layer(DefaultBodyLimit::max(LARGEST_BODY)))
        .nest("/openenv/{project}/{environment}", openenv::routes(&app))
        .merge(SwaggerUi::new(headers::REFERENCE).config(utoipa_swagger_ui::Config::from("/api/v1/openapi.json")))
        .fallback(assets::serve)
        .with_state(app.clone())
        .merge(operations(app.watched()))
        .layer(CatchPanicLayer::custom(error::panicked))
        .layer(from_fn(limits::in_size))
        .layer(from_fn_with_state(app, headers::strict))
        .layer(TraceLayer::new_for_http())
}
