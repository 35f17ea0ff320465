//! One of everything that a path can name.

use domain::api::documents::ValidationDetail;
use domain::api::episodes::Episode;
use domain::api::workers::JoinTokenSummary;
use domain::api::{
    Annotation, CalibrationDetail, CorpusSummary, DatasetSummary, DatasetUpload, ExportSummary, IndexSummary,
    ReviewQueue,
};
use domain::job::JobKind;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::tokens::{self, Token};
use store::{projects, users};
use uuid::Uuid;

use crate::http::answers::player;
use crate::http::{TestApp, somebody};
use crate::support::endpoint::{Endpoint, says};
use crate::support::jobs;
use crate::support::play::{HELP, played, stories};

const DEFAULT: &str = "/api/v1/projects/default";

/// Makes them in the default project, which has documents. Gives what stands in paths, and what to write in its place;
/// where a name means several things, what comes first counts.
///
/// What only its owner may delete is the `author`'s or the `stranger`'s: whoever may do least among those who may.
pub async fn made(app: &TestApp, author: &TestApp, stranger: &str) -> Vec<(&'static str, String)> {
    let pool = &app.pool;
    let run = played(pool, &[HELP], 2, 1, &[]).await;
    let id = run.control.run.id;
    let conversation = stories(&run).await[0].planned.id;
    let spare = somebody(pool, "spare", false).await;
    projects::set_role(&mut pool.acquire().await.unwrap(), projects::DEFAULT, spare, "author").await.unwrap();

    let of_conversation = format!("/api/v1/conversations/{conversation}");
    let remark = json!({"seq": 1, "text": "Why?"});
    let annotation: Annotation = author.post(&format!("{of_conversation}/annotations"), &remark).await;
    let queue: ReviewQueue = app
        .post(
            &format!("{DEFAULT}/review-queues"),
            &json!({"name": "q", "conversations": [conversation], "blind": false}),
        )
        .await;
    let assign = format!("/api/v1/review-queues/{}/items/{conversation}/assignments", queue.id);
    let _: Value = app.post(&assign, &json!({"rater": "spare"})).await;
    let rating = json!({"scores": {"overall": 4}});
    let (status, answer) = author.send(Method::PUT, &format!("{of_conversation}/ratings"), &rating).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let calibrations: Vec<CalibrationDetail> = app.post(&format!("{DEFAULT}/calibrations"), &json!({"run": id})).await;
    let validation: ValidationDetail = app.post(&format!("{DEFAULT}/validations"), &json!({})).await;
    let (join_token, worker) = worker(app).await;
    let dataset = dataset(app, id).await;
    workflow(app).await;
    // Whoever opens an episode waits for its user.
    let player = player(pool, 2);
    let mut episode: Vec<Episode> = app.post(&format!("{DEFAULT}/episodes"), &json!({"scenario": HELP})).await;
    drop(player);
    vec![
        ("/join-tokens/{token}", format!("/join-tokens/{join_token}")),
        ("{token}", spare_token(pool, stranger).await.to_string()),
        ("/schemas/{kind}", "/schemas/judge".to_owned()),
        ("/personas/{name}", "/personas/easygoing_traveller".to_owned()),
        ("/playbooks/{name}", "/playbooks/retail_bank".to_owned()),
        ("/workflows/{name}", "/workflows/echo".to_owned()),
        ("{kind}/{name}", format!("scenarios/{HELP}")),
        ("{kind}", "scenarios".to_owned()),
        ("{name}", HELP.to_owned()),
        ("{version}", "1".to_owned()),
        ("{position}", "0".to_owned()),
        ("{project}", "default".to_owned()),
        ("{run}", id.to_string()),
        ("{conversation}", conversation.to_string()),
        ("{episode}", episode.remove(0).id),
        ("{judging}", run.control.run.own_judging().to_string()),
        ("{annotation}", annotation.id),
        ("{queue}", queue.id),
        ("{rater}", "spare".to_owned()),
        ("{user}", "spare".to_owned()),
        ("{calibration}", calibrations[0].id.clone()),
        ("{validation}", validation.summary.id),
        ("{corpus}", corpus(app).await),
        ("{export}", export(app, id).await),
        ("{upload}", upload(app).await),
        ("{index}", index(app, &dataset).await),
        ("{dataset}", dataset),
        ("{job}", job(app).await),
        ("{model}", model(app).await),
        ("{worker}", worker),
    ]
}

/// A worker, and the token by which it joined.
async fn worker(app: &TestApp) -> (String, String) {
    let made: Value = app.post("/api/v1/join-tokens", &json!({"name": "rack 7"})).await;
    let join = json!({"name": "a", "model": "joined", "url": "http://10.0.0.1:8000/v1", "engine": "vllm"});
    let with_token = app.with_token(made["secret"].as_str().unwrap().to_owned());
    let worker: Value = with_token.post("/api/v1/workers", &join).await;
    let tokens: Vec<JoinTokenSummary> = app.json("/api/v1/join-tokens").await;
    (tokens[0].id.clone(), worker["id"].to_string())
}

/// A token of somebody that nobody asks with.
async fn spare_token(pool: &PgPool, name: &str) -> Uuid {
    let mut db = pool.acquire().await.unwrap();
    let token = Token {
        id: store::clock::id(),
        user_id: users::named(&mut db, name).await.unwrap().unwrap().id,
        project_id: None,
        name: "spare".to_owned(),
        scopes: vec!["read".to_owned()],
        created_at: store::clock::now(),
        expires_at: None,
        last_used_at: None,
    };
    let hash = server::secret::hash(&server::secret::make("gs_").unwrap());
    tokens::insert(&mut db, &token, &hash).await.unwrap();
    token.id
}

async fn corpus(app: &TestApp) -> String {
    let spec = json!({"split": {"golden": 0}});
    let corpus: CorpusSummary = app.post(&format!("{DEFAULT}/corpora"), &json!({"name": "c", "spec": spec})).await;
    jobs::done(&app.pool, app.files(), JobKind::Corpus, corpus.id.parse().unwrap()).await;
    corpus.id
}

/// An export whose file is there.
async fn export(app: &TestApp, run: Uuid) -> String {
    let spec = json!({"source": {"run": {"id": run}}, "profile": "canonical"});
    let export: ExportSummary = app.post(&format!("{DEFAULT}/exports"), &spec).await;
    let id = export.id.parse().unwrap();
    jobs::done(&app.pool, app.files(), JobKind::Export, id).await;
    export.id
}

/// A dataset that is ready.
async fn dataset(app: &TestApp, run: Uuid) -> String {
    let new = json!({"name": "rows", "source": {"run": {"id": run}}});
    let dataset: DatasetSummary = app.post(&format!("{DEFAULT}/datasets"), &new).await;
    jobs::done(&app.pool, app.files(), JobKind::Dataset, dataset.id.parse().unwrap()).await;
    dataset.id
}

/// The workflow `echo`, which asks nobody.
async fn workflow(app: &TestApp) {
    let text = "workflow: echo\ninput: {a: text}\nsteps: {b: {code: a}}\noutput: {a: b}\n\
                samples: [{input: {a: x}, output: {a: x}}]\n";
    let saved = json!({"files": {"workflows/echo/workflow.yaml": text}, "promote": true});
    let (status, answer) = app.send(Method::PUT, &format!("{DEFAULT}/workflows/echo"), &saved).await;
    assert!(status.is_success(), "{answer}");
}

/// An index that is not built yet.
async fn index(app: &TestApp, dataset: &str) -> String {
    let new = json!({"name": "words", "dataset": dataset, "columns": {"text": "messages"}});
    app.post::<IndexSummary>(&format!("{DEFAULT}/indexes"), &new).await.id
}

/// An upload that has begun.
async fn upload(app: &TestApp) -> String {
    let new = json!({"file_name": "a.jsonl", "bytes": 9});
    app.post::<DatasetUpload>(&format!("{DEFAULT}/datasets/uploads"), &new).await.id
}

/// One that waits.
async fn job(app: &TestApp) -> String {
    let unbuilt: CorpusSummary = app.post(&format!("{DEFAULT}/corpora"), &json!({"name": "unbuilt"})).await;
    jobs::of(&app.pool, JobKind::Corpus, unbuilt.id.parse().unwrap()).await.id
}

/// A model that an administrator added and that answers.
async fn model(app: &TestApp) -> String {
    let endpoint = Endpoint::start(|_| says("ready")).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let (status, answer) = app.send(Method::PUT, "/api/v1/models/spare", &json!({"replicas": [url]})).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    "spare".to_owned()
}
