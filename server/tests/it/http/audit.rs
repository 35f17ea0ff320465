//! The audit log and what it tells of: both are kept, or neither is.

use std::collections::{BTreeMap, HashMap};

use ::projects::archive::pack;
use domain::access::Scope;
use domain::api::{
    AuditEntry, ConversationDetail, ConversationSummary, CorpusSummary, DatasetSummary, ExportSummary, Invitation,
    Page, ProjectSummary, ReviewQueue, RunSummary, SessionDetail, TokenSummary,
};
use domain::event::{Event, EventKind};
use llm::http_client;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgPool};
use store::{projects, users};

use super::access::things;
use super::archive::filled;
use super::{TestApp, somebody, token};
use crate::support::documents::{few, scenario};
use crate::support::play::{HANDOVER, HELP, TRANSFER};

const DEFAULT: &str = "/api/v1/projects/default";
const PASSWORD: &str = "correct horse";

/// Lets no entry be written.
async fn break_log(pool: &PgPool) {
    let refuse =
        "CREATE FUNCTION log_is_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the log is full'; END $$;
         CREATE TRIGGER log_is_full BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION log_is_full()";
    sqlx::raw_sql(refuse).execute(pool).await.unwrap();
}

/// Everything that is stored, by table, but for when tokens were used and processes said that they live.
async fn stored(pool: &PgPool) -> BTreeMap<String, String> {
    let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(pool).await.unwrap();
    let mut all = BTreeMap::new();
    for table in tables {
        let rows = format!(
            "SELECT coalesce(string_agg(row, E'\\n' ORDER BY row), '')
             FROM (SELECT (to_jsonb(t) - 'last_used_at' - 'heartbeat_at')::text AS row FROM \"{table}\" t) AS rows"
        );
        let rows: String = sqlx::query_scalar(AssertSqlSafe(rows)).fetch_one(pool).await.unwrap();
        all.insert(table, rows);
    }
    all
}

/// Who asks: everything that is not the administrator's to do by a token.
struct Askers<'a> {
    app: &'a TestApp,
    /// `signer` is signed in there: tokens make no tokens, and withdraw no others.
    cookie: String,
    csrf: String,
    /// By which workers join.
    join_token: String,
}

impl<'a> Askers<'a> {
    async fn of(app: &'a TestApp) -> Self {
        let invited: Invitation = app.post("/api/v1/users", &json!({"name": "signer"})).await;
        let accept = app.with_token(String::new()).request(Method::POST, "/api/v1/invitations/accept");
        let body = json!({"secret": invited.secret, "password": PASSWORD});
        let answer = accept.json(&body).send().await.unwrap();
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let session: SessionDetail = answer.json().await.unwrap();
        let rack: Value = app.post("/api/v1/join-tokens", &json!({"name": "rack 8"})).await;
        let join_token = rack["secret"].as_str().unwrap().to_owned();
        Self { app, cookie, csrf: session.csrf_token.unwrap(), join_token }
    }

    async fn ask(&self, (method, path, body): &(Method, String, Value)) -> (StatusCode, Value) {
        let at = format!("{}{path}", self.app.url);
        let own = || self.app.request(method.clone(), path);
        let request = match path.trim_start_matches("/api/v1/").split('/').next().unwrap() {
            "tokens" | "session" => {
                let request = http_client().build().unwrap().request(method.clone(), at);
                request.header("cookie", &self.cookie).header("x-csrf-token", &self.csrf).json(body)
            }
            "workers" if !path.ends_with("/order") => {
                self.app.with_token(self.join_token.clone()).request(method.clone(), path).json(body)
            }
            _ if path.ends_with("/archive") => {
                let mut files = few();
                files.insert(&scenario(TRANSFER), body.as_str().unwrap().to_owned());
                own().header("content-type", "application/zip").body(pack(&files).unwrap())
            }
            _ if path.contains("?offset=") => {
                own().header("content-type", "application/octet-stream").body(body.as_str().unwrap().to_owned())
            }
            _ => own().json(body),
        };
        let answer = request.send().await.unwrap();
        (answer.status(), answer.json().await.unwrap_or_default())
    }
}

/// Changes of every kind that can be made one after the other.
#[expect(clippy::too_many_lines, reason = "a list, of every change that there is")]
async fn changes(askers: &Askers<'_>) -> Vec<(Method, String, Value)> {
    let app = askers.app;
    somebody(&app.pool, "stranger", false).await;
    let known: HashMap<_, _> = things::made(app, app, "stranger").await.into_iter().collect();
    let made = |name: &str| known[name].as_str();
    let order = json!({"scenarios": [HELP], "n": 2, "paused": true});
    let run: RunSummary = app.post(&format!("{DEFAULT}/runs"), &order).await;
    let corpus: CorpusSummary = app.post(&format!("{DEFAULT}/corpora"), &json!({"name": "open"})).await;
    let cancelled: CorpusSummary = app.post(&format!("{DEFAULT}/corpora"), &json!({"name": "cancelled"})).await;
    let _: Value = app.post(&format!("/api/v1/corpora/{}/cancel", cancelled.id), &json!({})).await;
    let spec = json!({"source": {"run": {"id": made("{run}")}}, "profile": "canonical"});
    let export: ExportSummary = app.post(&format!("{DEFAULT}/exports"), &spec).await;
    let rows = json!({"run": {"id": made("{run}")}});
    let making: DatasetSummary = app.post(&format!("{DEFAULT}/datasets"), &json!({"name": "d", "source": rows})).await;
    let guest: Invitation = app.post("/api/v1/users", &json!({"name": "guest"})).await;
    let signer = users::named(&mut app.pool.acquire().await.unwrap(), "signer").await.unwrap().unwrap().id;
    let mut db = app.pool.acquire().await.unwrap();
    projects::set_role(&mut db, projects::DEFAULT, signer, "author").await.unwrap();
    drop(db);
    let spare = app.with_token(token(&app.pool, signer, &[Scope::Read]).await);
    let spare: Vec<TokenSummary> = spare.json("/api/v1/tokens").await;
    let text = format!("{}# changed\n", few().get(&scenario(HELP)).unwrap());
    let queue = json!({"name": "other", "conversations": [made("{conversation}")], "raters_each": 3});
    let none = Value::Null;
    let items = format!("/review-queues/{}/items/{}", made("{queue}"), made("{conversation}"));
    let detail: ConversationDetail = app.json(&format!("/api/v1/conversations/{}", made("{conversation}"))).await;
    let words =
        |event: &&Event| matches!(&event.kind, EventKind::AgentSpoke { tool_calls, .. } if tool_calls.is_empty());
    let said = detail.events.iter().find(words).unwrap().seq;
    let correction = json!({"seq": said, "content": "I can not say.", "note": "shorter"});
    let _: ProjectSummary = app.post("/api/v1/projects", &json!({"name": "empty"})).await;
    app.send(Method::PUT, &format!("{DEFAULT}/environments/gone"), &json!({})).await;
    let handover = format!("{}# a draft\n", few().get(&scenario(HANDOVER)).unwrap());
    app.send(Method::PUT, &format!("{DEFAULT}/scenarios/{HANDOVER}"), &json!({"text": handover})).await;
    // The first one the administrator has rated already.
    let both: Page<ConversationSummary> = app.json(&format!("/api/v1/runs/{}/conversations", made("{run}"))).await;
    let second = &both.items[1].id;
    let of = |name: &str| json!({"name": name, "conversations": [second], "blind": false});
    let free: ReviewQueue = app.post(&format!("{DEFAULT}/review-queues"), &of("free")).await;
    let held: ReviewQueue = app.post(&format!("{DEFAULT}/review-queues"), &of("held")).await;
    let _: Value = app.post(&format!("/api/v1/review-queues/{}/next", held.id), &json!({})).await;
    let sheet = json!([{"conversation": made("{conversation}"), "goal_achieved": true}]);
    let join = json!({"name": "b", "model": "joined", "url": "http://10.0.0.2:8000/v1", "engine": "vllm"});
    let mine = app.with_token(askers.join_token.clone()).post::<Value>("/api/v1/workers", &join).await;
    let changes = [
        (Method::POST, "/users".into(), json!({"name": "new"})),
        (Method::PATCH, "/users/spare".into(), json!({"administrator": true})),
        (Method::POST, "/invitations/accept".into(), json!({"secret": guest.secret, "password": PASSWORD})),
        (Method::POST, "/users/guest/invitation".into(), none.clone()),
        (Method::POST, "/tokens".into(), json!({"name": "ci", "scopes": ["read"]})),
        (Method::DELETE, format!("/tokens/{}", spare[0].id), none.clone()),
        (Method::POST, "/join-tokens".into(), json!({"name": "rack 9"})),
        (Method::POST, "/projects".into(), json!({"name": "other"})),
        (Method::PATCH, "/projects/default".into(), json!({"title": "Other"})),
        (Method::PUT, "/projects/default/storage".into(), json!({"bytes": 1_000_000_000})),
        (Method::PUT, "/projects/default/members/spare".into(), json!({"role": "viewer"})),
        (Method::DELETE, "/projects/default/members/spare".into(), none.clone()),
        (Method::POST, "/projects/default/workflows/echo/runs".into(), json!({"paused": true})),
        (Method::PUT, "/models/new".into(), json!({"replicas": ["http://127.0.0.1:9/v1"]})),
        (Method::POST, "/models/spare/probe".into(), none.clone()),
        (Method::DELETE, "/models/spare".into(), none.clone()),
        (Method::PUT, format!("/projects/default/scenarios/{HELP}"), json!({"text": text, "promote": true})),
        (Method::POST, format!("/projects/default/scenarios/{HANDOVER}/promote"), json!({"version": 2})),
        (Method::POST, format!("/projects/default/scenarios/{HANDOVER}/restore"), json!({"version": 1})),
        (Method::DELETE, format!("/projects/default/scenarios/{HANDOVER}"), none.clone()),
        (
            Method::PUT,
            "/projects/default/archive".into(),
            few().get(&scenario(HELP)).unwrap().replace(HELP, TRANSFER).into(),
        ),
        (Method::POST, "/projects/empty/demo".into(), none.clone()),
        (Method::POST, "/projects/default/validations".into(), json!({})),
        (Method::POST, "/projects/default/runs".into(), order),
        (Method::PATCH, format!("/runs/{}", run.id), json!({"priority": 3})),
        (Method::POST, format!("/runs/{}/resume", run.id), none.clone()),
        (Method::POST, format!("/runs/{}/pause", run.id), none.clone()),
        (Method::POST, format!("/runs/{}/cancel", run.id), none.clone()),
        (Method::POST, format!("/runs/{}/judgings", made("{run}")), json!({})),
        (Method::POST, "/projects/default/corpora".into(), json!({"name": "new"})),
        (Method::POST, format!("/corpora/{}/cancel", corpus.id), none.clone()),
        (Method::POST, format!("/corpora/{}/retry", cancelled.id), none.clone()),
        (Method::DELETE, format!("/corpora/{}", corpus.id), none.clone()),
        (Method::POST, "/projects/default/exports".into(), spec),
        (Method::POST, format!("/exports/{}/cancel", export.id), none.clone()),
        (Method::DELETE, format!("/exports/{}", made("{export}")), none.clone()),
        (Method::POST, "/projects/default/datasets/uploads".into(), json!({"file_name": "b.jsonl", "bytes": 9})),
        (
            Method::PATCH,
            format!("/projects/default/datasets/uploads/{}?offset=0", made("{upload}")),
            "{\"a\": 1}\n".into(),
        ),
        (Method::DELETE, format!("/projects/default/datasets/uploads/{}", made("{upload}")), none.clone()),
        (Method::POST, "/projects/default/datasets".into(), json!({"name": "d", "source": rows})),
        (Method::POST, format!("/datasets/{}/cancel", making.id), none.clone()),
        (
            Method::POST,
            "/projects/default/indexes".into(),
            json!({"name": "new", "dataset": made("{dataset}"), "columns": {"text": "id"}}),
        ),
        (Method::POST, format!("/indexes/{}/cancel", made("{index}")), none.clone()),
        (Method::DELETE, format!("/indexes/{}", made("{index}")), none.clone()),
        (Method::DELETE, format!("/datasets/{}", making.id), none.clone()),
        (Method::DELETE, format!("/jobs/{}", made("{job}")), none.clone()),
        (Method::POST, "/projects/default/review-queues".into(), queue),
        (Method::PUT, format!("/conversations/{}/ratings", made("{conversation}")), json!({"goal_achieved": true})),
        (
            Method::POST,
            format!("/conversations/{}/annotations", made("{conversation}")),
            json!({"seq": 1, "text": "And?"}),
        ),
        (Method::PATCH, format!("/annotations/{}", made("{annotation}")), json!({"text": "Why not?"})),
        (Method::DELETE, format!("/annotations/{}", made("{annotation}")), none.clone()),
        (
            Method::POST,
            format!("/conversations/{}/branches", made("{conversation}")),
            json!({"seq": said, "content": "No."}),
        ),
        (Method::POST, format!("/conversations/{}/corrections", made("{conversation}")), correction),
        (Method::POST, format!("{items}/assignments"), json!({"rater": "signer"})),
        (Method::DELETE, format!("{items}/assignments/spare"), none.clone()),
        (Method::POST, format!("/review-queues/{}/next", free.id), none.clone()),
        (Method::POST, format!("/review-queues/{}/items/{second}/skip", held.id), none.clone()),
        (Method::POST, format!("/projects/default/calibrations/ratings?run={}", made("{run}")), sheet),
        (Method::PATCH, format!("/review-queues/{}", made("{queue}")), json!({"instructions": "Be fair."})),
        (Method::PUT, "/projects/default/environments/new".into(), json!({})),
        (Method::DELETE, "/projects/default/environments/gone".into(), none.clone()),
        // Of so many nobody waits for the first turns.
        (Method::POST, "/projects/default/episodes".into(), json!({"samples": 65})),
        (Method::POST, "/projects/default/calibrations".into(), json!({"run": made("{run}")})),
        (Method::POST, format!("/workers/{}/order", made("{worker}")), json!({"order": "drain"})),
        (
            Method::POST,
            "/workers".into(),
            json!({"name": "c", "model": "joined", "url": "http://10.0.0.3:8000/v1", "engine": "vllm"}),
        ),
        (Method::DELETE, format!("/workers/{}", mine["id"]), none.clone()),
        (
            Method::DELETE,
            format!("/join-tokens/{}", made("/join-tokens/{token}").replace("/join-tokens/", "")),
            none.clone(),
        ),
        (Method::DELETE, "/session".into(), none),
    ];
    changes.map(|(method, path, body)| (method, format!("/api/v1{path}"), body)).into()
}

/// What is asked by others than this test, changes nothing, or does so only when something else is under way: each has tests
/// of its own, and its handler ends like the others.
const ELSEWHERE: [&str; 20] = [
    "POST /session",
    "POST /projects/{project}/workflows/{name}/answers",
    "POST /invitations/look",
    "POST /projects/{project}/{kind}/{name}/check",
    "POST /projects/{project}/playbooks/{name}/import",
    "POST /projects/{project}/playbooks/{name}/prompts",
    "POST /projects/{project}/playbooks/{name}/try",
    "POST /projects/{project}/scenarios/{name}/play",
    "POST /projects/{project}/workflows/{name}/graph",
    // What is said in an episode stands in its events.
    "POST /episodes/{episode}/messages",
    "POST /episodes/{episode}/mcp",
    "POST /episodes/{episode}/verify",
    "DELETE /episodes/{episode}",
    "POST /runs/{run}/retry",
    "POST /judgings/{judging}/cancel",
    "POST /judgings/{judging}/resume",
    "POST /workers/{worker}/heartbeat",
    "POST /projects/{project}/runs/preview",
    "POST /projects/{project}/exports/preview",
    "POST /projects/{project}/corpora/preview",
];

/// Whether a path is one of a template; a part in braces is any.
fn is_of(path: &str, template: &str) -> bool {
    let (parts, of): (Vec<_>, Vec<_>) = (path.split('/').collect(), template.split('/').collect());
    parts.len() == of.len() && parts.iter().zip(&of).all(|(part, of)| part == of || of.starts_with('{'))
}

#[sqlx::test(migrations = "../migrations")]
async fn no_change_is_forgotten_here(pool: PgPool) {
    let app = filled(&pool).await;
    let changes = changes(&Askers::of(&app).await).await;
    let document = serde_json::to_value(server::http::document()).unwrap();
    let mut forgotten = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|method| *method != "get") {
            let operation = format!("{} {}", method.to_uppercase(), path.trim_start_matches("/api/v1"));
            let asked = changes
                .iter()
                .any(|(m, p, _)| m.as_str().eq_ignore_ascii_case(method) && is_of(p.split('?').next().unwrap(), path));
            if !asked && !ELSEWHERE.contains(&operation.as_str()) {
                forgotten.push(operation);
            }
        }
    }
    assert_eq!(forgotten, [""; 0], "name them in `changes`");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_cannot_be_logged_is_not_done(pool: PgPool) {
    let app = filled(&pool).await;
    let askers = Askers::of(&app).await;
    let changes = changes(&askers).await;
    break_log(&pool).await;
    let before = stored(&pool).await;
    for change in &changes {
        let (status, answer) = askers.ask(change).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{change:?}: {answer}");
        let after = stored(&pool).await;
        let changed: Vec<_> = after.iter().filter(|(table, rows)| before.get(*table) != Some(*rows)).collect();
        assert!(changed.is_empty(), "{change:?}: {changed:#?}");
    }
    sqlx::raw_sql("DROP TRIGGER log_is_full ON audit_log").execute(&pool).await.unwrap();
    let logged = async || app.json::<Page<AuditEntry>>("/api/v1/audit?limit=200").await.items.len();
    let known = logged().await;
    for change in &changes {
        let (status, answer) = askers.ask(change).await;
        assert!(status.is_success(), "{change:?}: {status} {answer}");
    }
    assert_eq!(logged().await - known, changes.len(), "each is logged once");
}
