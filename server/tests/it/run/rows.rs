//! Runs of workflows: what rows become, killed, resumed, paused at a budget, and played again where no model answered.

mod control;
mod early;
mod mcp;
mod models;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::response::Response;
use domain::api::workflows::{OutputRow, RowTrace};
use domain::api::{RunState, RunSummary};
use domain::budget::Budget;
use llm::ModelSpec;
use projects::library::Files;
use projects::library::workflows::compile;
use rows::order::{self, CheckedOrder, Order};
use rows::spec::Source;
use rows::{RowResources, RowRun, output, summary as figures, trace};
use runtime::{ModelClients, Options, Player};
use serde_json::{Map, Value, json};
use sqlx::PgPool;
use store::{projects as stored, runs};
use tokio::process::Child;
use tokio_util::sync::CancellationToken;

use crate::support::endpoint::{Endpoint, says, status};
use crate::support::ledger;
use crate::support::play::hasty;
use crate::support::process::play;

/// Sections of a topic, claims of each section, a verdict on each claim; joined in order.
const WORKFLOW: &str = "
workflow: report
input: {topic: text}
steps:
  outline: {ask: {role: writer, prompt: 'outline {{ topic }}', split: lines}}
  sections:
    map: outline
    as: section
    steps:
      claims: {ask: {role: writer, prompt: 'claims {{ section }}', split: json_items}}
      checked:
        map: claims
        as: claim
        steps: {verdict: {ask: {role: judge, prompt: 'judge {{ claim }}'}}}
        yields: {claim: claim, verdict: verdict}
    yields: {section: section, checked: checked}
  none: {end: {when: len(sections) == 0, as: empty}}
output: {sections: sections}
metrics: {sections: {value: len(output.sections)}}
";

/// One request a row: what is in flight is what is played.
const ECHO: &str = "
workflow: echo
input: {topic: text}
steps: {said: {ask: {role: writer, prompt: 'say {{ topic }}'}}}
output: {said: said}
";

fn prompt(request: &Value) -> &str {
    request["messages"][0]["content"].as_str().unwrap()
}

/// What the model says, by the prompt alone.
fn reply(request: &Value) -> String {
    let (word, rest) = prompt(request).split_once(' ').unwrap();
    match word {
        "outline" if rest.contains("nothing") => "\u{a0}".to_owned(),
        "outline" => (0..3).map(|i| format!("{rest} part {i}\n")).collect(),
        "claims" => json!([format!("{rest} a"), format!("{rest} b")]).to_string(),
        _ => format!("yes, {rest}"),
    }
}

fn answer(request: &Value) -> Response {
    says(&reply(request))
}

fn topics(n: usize) -> Vec<Map<String, Value>> {
    (0..n).map(|i| json!({"topic": format!("topic {i}")}).as_object().unwrap().clone()).collect()
}

/// A stored run of the first workflow, both of whose roles one endpoint plays.
async fn ordered(pool: &PgPool, endpoint: &Endpoint, rows: Vec<Map<String, Value>>, budget: Budget) -> RowRun {
    let order = Order { models: played_by(&endpoint.model()), budget, ..order_of("report", rows) };
    stored_order(pool, order).await
}

/// One model for both roles.
fn played_by(model: &str) -> BTreeMap<String, ModelSpec> {
    ["writer", "judge"].map(|role| (role.to_owned(), model.parse::<ModelSpec>().unwrap())).into()
}

/// A stored run of one of the workflows here.
async fn stored_order(pool: &PgPool, order: Order) -> RowRun {
    let mut files = Files::default();
    files.insert("workflows/report/workflow.yaml", WORKFLOW.to_owned());
    files.insert("workflows/echo/workflow.yaml", ECHO.to_owned());
    let (workflows, problems) = compile(&files);
    assert!(problems.is_empty(), "{problems:?}");
    let checked = order::check(order, &workflows, &files).map_err(|wrong| format!("{wrong:?}")).unwrap();
    stored_run(pool, checked, &resources()).await
}

/// An order of rows without models.
pub fn order_of(workflow: &str, rows: Vec<Map<String, Value>>) -> Order {
    Order {
        project: stored::DEFAULT,
        workflow: workflow.to_owned(),
        source: Source::Rows(rows),
        columns: BTreeMap::new(),
        models: BTreeMap::new(),
        indexes: BTreeMap::new(),
        tools: tools::Tools::default(),
        pools: Vec::new(),
        seed: 3,
        priority: 0,
        max_in_flight: None,
        budget: Budget::default(),
        retries: Some(2),
        forecast: None,
        streaming: true,
        paused: false,
        is_answer: false,
    }
}

pub async fn stored_run(pool: &PgPool, order: CheckedOrder, resources: &RowResources) -> RowRun {
    let mut tx = pool.begin().await.unwrap();
    let run = order::insert(&mut tx, order).await.unwrap();
    tx.commit().await.unwrap();
    RowRun::load(pool, run.id, resources).await.unwrap()
}

fn resources() -> RowResources {
    RowResources::of_clients(ModelClients::new(hasty()))
}

async fn played(run: RowRun) -> Arc<RowRun> {
    played_with(run, resources()).await
}

pub async fn played_with(run: RowRun, resources: RowResources) -> Arc<RowRun> {
    let run = Arc::new(run);
    player(&run, resources).play(&CancellationToken::new()).await.unwrap();
    run
}

/// A player of this run alone.
fn player(run: &Arc<RowRun>, resources: RowResources) -> Player<Arc<RowRun>> {
    let options = Options {
        concurrency: 4,
        only: Some(run.control.run.id),
        poll: Duration::from_millis(100),
        drain: Duration::ZERO,
        ..Options::default()
    };
    let player = Player::new(run.control.pool.clone(), resources, options);
    player.know(Arc::clone(run));
    player
}

/// The run as another process takes it up.
async fn taken_up(run: &RowRun) -> RowRun {
    RowRun::load(&run.control.pool, run.control.run.id, &resources()).await.unwrap()
}

async fn summary(pool: &PgPool, run: &RowRun) -> RunSummary {
    runs::summary(&mut pool.acquire().await.unwrap(), &run.control.run).await.unwrap()
}

pub async fn outputs(pool: &PgPool, run: &RowRun) -> Vec<OutputRow> {
    output::rows(pool, &run.control.run, &run.kind.rows, 0..=i32::MAX).await.unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn rows_become_what_the_model_says_joined_in_order(pool: PgPool) {
    let endpoint = Endpoint::start(answer).await;
    let mut rows = topics(3);
    rows.push(json!({"topic": "nothing"}).as_object().unwrap().clone());
    rows.push(json!({"theme": "no topic"}).as_object().unwrap().clone());
    let run = played(ordered(&pool, &endpoint, rows, Budget::default()).await).await;
    ledger::check(&pool, run.control.run.id).await;
    let rows = outputs(&pool, &run).await;
    let ended: Vec<&str> = rows.iter().map(|row| row.ended.as_str()).collect();
    assert_eq!(ended, ["finished", "finished", "finished", "empty", "invalid_input"]);
    let sections = &rows[1].output.as_ref().unwrap()["sections"];
    assert_eq!(sections[2]["section"], "topic 1 part 2");
    assert_eq!(sections[2]["checked"][1], json!({"claim": "topic 1 part 2 b", "verdict": "yes, topic 1 part 2 b"}));
    assert_eq!(rows[1].metrics["sections"], 3);
    let now = summary(&pool, &run).await;
    assert_eq!((now.kind.as_str(), now.accepted, now.state), ("workflow", 3, RunState::Finished));
    assert_eq!(now.failures, BTreeMap::from([("empty".to_owned(), 1), ("invalid_input".to_owned(), 1)]));
    // Nothing was asked twice: what is asked early is what is asked in its turn.
    assert_eq!(endpoint.requests().len(), 3 * (1 + 3 + 6) + 1);
}

async fn traced(pool: &PgPool, run: &RowRun, position: i32) -> RowTrace {
    trace::of(pool, &run.control.run, &run.kind.rows, position).await.unwrap().unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn metrics_and_times_of_rows_are_summed_up(pool: PgPool) {
    let endpoint = Endpoint::start_slow(Duration::from_millis(40), answer).await;
    let mut rows = topics(5);
    rows.push(json!({"topic": "nothing"}).as_object().unwrap().clone());
    let run = played(ordered(&pool, &endpoint, rows, Budget::default()).await).await;
    let found = figures::of(&pool, &run.control.run).await.unwrap();
    assert_eq!((found.rows, found.sampled), (6, false));
    let sections = &found.metrics[0];
    assert_eq!((sections.name.as_str(), sections.accepted), ("sections", sections.all));
    assert_eq!((sections.all.count, sections.all.without_value, sections.all.mean), (5, 0, Some(3.0)));
    let interval = sections.all.interval.unwrap();
    assert_eq!((interval.low, interval.high), (3.0, 3.0), "all rows have three");
    let time = found.time.unwrap();
    // Three requests, one after the other.
    let (whole, processing) = (time.all.total.p50, time.all.processing.seconds.p50);
    assert!(time.tasks == 6 && processing >= 0.12 && processing <= whole, "{time:?}");
    assert!(time.slowest.total.p50 >= whole && time.all.processing.share.p99 <= 1.0, "{time:?}");
}

#[sqlx::test(migrations = "../migrations")]
async fn players_are_killed_and_the_rows_are_the_same(pool: PgPool) {
    const ROWS: usize = 60;
    let endpoint = Endpoint::start_slow(Duration::from_millis(15), answer).await;
    let whole = played(ordered(&pool, &endpoint, topics(ROWS), Budget::default()).await).await;
    let run = ordered(&pool, &endpoint, topics(ROWS), Budget::default()).await;
    let mut playing: Vec<Child> = (0..3).map(|_| play(&pool)).collect();
    let (mut killed, mut last) = (0, 0);
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = summary(&pool, &run).await;
        if now.state == RunState::Finished {
            break;
        }
        if now.finished / 15 > last / 15 {
            playing.remove(0).kill().await.unwrap();
            playing.push(play(&pool));
            killed += 1;
        }
        last = now.finished;
    }
    drop(playing);
    assert!(killed >= 2, "only {killed} were killed");
    ledger::check(&pool, run.control.run.id).await;
    assert_eq!(outputs(&pool, &run).await, outputs(&pool, &whole).await);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_budget_pauses_a_run_of_rows_and_it_goes_on(pool: PgPool) {
    let endpoint = Endpoint::start(answer).await;
    let capped = Budget { tokens: Some(400), ..Budget::default() };
    let run = played(ordered(&pool, &endpoint, topics(8), capped).await).await;
    let paused = summary(&pool, &run).await;
    assert_eq!(paused.state, RunState::Paused, "{paused:?}");
    assert!(paused.finished < 8);
    let mut db = pool.acquire().await.unwrap();
    store::control::set_budget(&mut db, run.control.run.id, &Budget::default()).await.unwrap();
    store::control::resume(&mut db, run.control.run.id).await.unwrap();
    let again = played(taken_up(&run).await).await;
    assert_eq!(summary(&pool, &again).await.accepted, 8);
    ledger::check(&pool, run.control.run.id).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_row_that_no_model_answered_is_played_again_from_what_it_has(pool: PgPool) {
    let refused = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&refused);
    let endpoint = Endpoint::start(move |request| {
        let is_verdict = reply(request) == "yes, topic 0 part 1 a";
        // As often as one call is made: then the row is lost, and played again.
        if is_verdict && counting.fetch_add(1, Ordering::Relaxed) < 3 { status(500) } else { answer(request) }
    })
    .await;
    let run = played(ordered(&pool, &endpoint, topics(1), Budget::default()).await).await;
    let now = summary(&pool, &run).await;
    assert_eq!((now.accepted, now.played_again), (1, BTreeMap::from([("no_answer".to_owned(), 1)])));
    let outlines = endpoint.requests().iter().filter(|request| reply(request).contains("part 2\n")).count();
    assert_eq!(outlines, 1, "the outline is kept");
    ledger::check(&pool, run.control.run.id).await;
}

/// Ends of the document are results, and an input that does not fit stays so: playing such rows again would only cost money.
#[sqlx::test(migrations = "../migrations")]
async fn a_retry_plays_only_rows_whose_end_may_change(pool: PgPool) {
    let is_down = Arc::new(AtomicBool::new(true));
    let down = Arc::clone(&is_down);
    let endpoint = Endpoint::start(move |request| {
        let is_verdict = reply(request) == "yes, topic 0 part 1 a";
        if is_verdict && down.load(Ordering::Relaxed) { status(500) } else { answer(request) }
    })
    .await;
    let mut rows = topics(2);
    rows.push(json!({"topic": "nothing"}).as_object().unwrap().clone());
    rows.push(json!({"theme": "no topic"}).as_object().unwrap().clone());
    let models = played_by(&endpoint.model());
    let run = stored_order(&pool, Order { models, retries: Some(0), ..order_of("report", rows) }).await;
    let run = played(run).await;
    let ended = |rows: Vec<OutputRow>| rows.into_iter().map(|row| row.ended).collect::<Vec<_>>();
    assert_eq!(ended(outputs(&pool, &run).await), ["no_answer", "finished", "empty", "invalid_input"]);

    is_down.store(false, Ordering::Relaxed);
    let asked = endpoint.requests().len();
    let mut db = pool.acquire().await.unwrap();
    assert_eq!(store::control::retry_failed(&mut db, run.control.run.id).await.unwrap(), 1);
    let again = played(taken_up(&run).await).await;
    assert_eq!(ended(outputs(&pool, &again).await), ["finished", "finished", "empty", "invalid_input"]);
    assert!(endpoint.requests()[asked..].iter().all(|request| !prompt(request).starts_with("outline")));
    assert_eq!(store::control::retry_failed(&mut db, run.control.run.id).await.unwrap(), 0);
    ledger::check(&pool, run.control.run.id).await;
}
