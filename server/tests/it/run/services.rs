//! Runs whose tools are answered by services.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::event::{Event, EventKind};
use domain::outcome::{Blame, Outcome};
use generation::order;
use generation::plan::RunConfig;
use generation::run::Terms;
use generation::services::{self, PlayedBy};
use generation::{ConversationRun, Conversations};
use llm::Registry;
use projects::library::workflows::compile;
use projects::library::{Files, Library};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use rows::RowResources;
use rows::order::Order;
use runtime::ModelClients;
use serde_json::json;
use sqlx::PgPool;
use store::projects::DEFAULT;
use tokio::net::TcpListener;
use tools::Tools;

use super::resume::stopped_after;
use super::rows::{order_of, outputs, played_with, stored_run};
use crate::support::play::{HELP, hasty, play_all, stored, stories, timeless};
use crate::support::{ledger, library};

/// The help desk of the bank. Its answers say how many it has given.
#[derive(Clone, Default)]
struct Desk {
    answers: Arc<AtomicUsize>,
    all: Arc<AtomicUsize>,
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("desk", "1"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.all.fetch_add(1, Ordering::Relaxed);
        let given = self.answers.fetch_add(1, Ordering::Relaxed);
        let body = "Other currencies: 1.75 %. Cash from a machine abroad: 4.00 a time. EUR: free.";
        Ok(CallToolResult::structured(match &*request.name {
            "search" => {
                json!({"articles": [{"article_id": format!("art_abroad_{given}"), "title": "Abroad", "body": body}]})
            }
            _ => json!({"telephone": "Monday to Saturday, 08:00 to 20:00", "given": given}),
        })
        .into())
    }
}

/// The file of tools with a desk that is a process of its own each time it is started; how often that was, and how many
/// calls all desks have answered.
async fn desks(size: usize) -> (Tools, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (started, all) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let (counted, calls) = (Arc::clone(&started), Arc::clone(&all));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::Relaxed);
            let desk = Desk { all: Arc::clone(&calls), ..Desk::default() };
            tokio::spawn(async move { desk.serve(stream).await.unwrap().waiting().await.unwrap() });
        }
    });
    let bridge = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & cat >&3; kill %1");
    let file = format!("services:\n  - {{name: desk, command: [bash, -c, {}], size: {size}}}\n", json!(bridge));
    (Tools::read("tools.yaml", &file).unwrap(), started, all)
}

/// The bank, whose articles and opening hours come from the desk.
fn bank() -> Arc<Library> {
    const PLAYBOOK: &str = "playbooks/retail_bank/playbook.yaml";
    let mut files = Files::default();
    for (path, text) in library().files.iter() {
        files.insert(path, text.clone());
    }
    let text = library().files.iter().find(|(path, _)| *path == PLAYBOOK).unwrap().1.clone();
    let by_model = "    simulate: model\n";
    let (before, search) = text.split_at(text.find("  - name: search_help").unwrap());
    let search = search.replacen(by_model, "    simulate: service\n    service: desk\n    service_tool: search\n", 1);
    let search = search.replacen("    template: templates/search_help.md.j2\n", "", 1);
    let (search, hours) = search.split_at(search.find("  - name: get_opening_hours").unwrap());
    let (begin, end) = (hours.find("    response:").unwrap(), hours.find("  - name: transfer_to_human").unwrap());
    let hours = format!("{}    scripted: templates/hours.json.j2\n\n{}", &hours[..begin], &hours[end..]);
    let hours = hours.replacen("    simulate: constant\n", "    simulate: service\n    service: desk\n", 1);
    files.insert(PLAYBOOK, format!("{before}{search}{hours}"));
    let hours = r#"{"telephone": "Monday to Saturday, 08:00 to 20:00"}"#;
    files.insert("playbooks/retail_bank/templates/hours.json.j2", hours.to_owned());
    Arc::new(Library::assemble_proved(files).map_err(|wrong| format!("{wrong:?}")).unwrap())
}

fn clients(tools: &Tools) -> ModelClients {
    ModelClients::new(hasty()).with_services(services::registered(tools))
}

fn config(library: &Library, tools: &Tools) -> RunConfig {
    let order = json!({"scenarios": [HELP], "n": 3, "retries": 0});
    let order = serde_json::from_value(order).unwrap();
    order::check(&order, library, &Registry::default(), tools, DEFAULT).map_err(|w| format!("{w:?}")).unwrap().config
}

async fn planned(pool: &PgPool, library: &Arc<Library>, tools: &Tools, n: usize) -> ConversationRun {
    let config = config(library, tools);
    let playbook = "retail_bank".to_owned();
    let terms = Terms { playbook, seed: 5, planned: n, project: DEFAULT, ..Terms::default() };
    let run = stored(pool, library, &config, terms).await.unwrap();
    let kind = Conversations::new(Arc::clone(library), config, &clients(tools)).unwrap();
    ConversationRun::new(pool, run, kind)
}

/// What each conversation read of the desk.
async fn read(run: &ConversationRun) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for story in stories(run).await {
        assert_eq!(story.outcome, Outcome::Accepted);
        let content = |event: &Event| match &event.kind {
            EventKind::ToolAnswered { content, .. } => Some(content.clone()),
            _ => None,
        };
        all.push(story.events.iter().filter_map(content).collect());
    }
    all
}

#[sqlx::test(migrations = "../migrations")]
async fn services_answer_and_hold_the_state_of_one_conversation_at_a_time(pool: PgPool) {
    let (tools, started, all) = desks(2).await;
    let library = bank();
    let run = play_all(planned(&pool, &library, &tools, 6).await, 6).await;
    for answers in read(&run).await {
        let [search, hours] = answers.as_slice() else { panic!("{answers:?}") };
        assert!(search.contains("art_abroad_0") && hours.contains(r#""given":1"#), "{answers:?}");
    }
    assert_eq!((started.load(Ordering::Relaxed), all.load(Ordering::Relaxed)), (6, 12));
    ledger::check(&pool, run.control.run.id).await;
    let models = run.kind.config.model_names();
    assert_eq!(models["service.desk"], "desk");
    let usage = store::runs::summary(&mut pool.acquire().await.unwrap(), &run.control.run).await.unwrap();
    assert!(serde_json::to_string(&usage).unwrap().contains(r#""role":"service""#), "{usage:?}");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_a_service_has_answered_survives_the_process_that_asked_it(pool: PgPool) {
    let library = bank();
    let (tools, started, all) = desks(1).await;
    let unbroken = timeless(play_all(planned(&pool, &library, &tools, 1).await, 1).await.as_ref()).await;
    assert_eq!((started.load(Ordering::Relaxed), all.load(Ordering::Relaxed)), (1, 2));
    let mut again = 0;
    for asks in 0.. {
        let (tools, started, _) = desks(1).await;
        let run = planned(&pool, &library, &tools, 1).await;
        let id = run.control.run.id;
        if !stopped_after(asks, run).await {
            assert!(again > 0 && asks > 2, "{asks} places to stop at were tried");
            return;
        }
        let before = started.load(Ordering::Relaxed);
        // Another process has no service of this one.
        let (tools, other, all) = desks(1).await;
        sqlx::query("DELETE FROM players").execute(&pool).await.unwrap();
        let run = ConversationRun::load(&pool, id, &clients(&tools)).await.unwrap();
        let run = play_all(run, 1).await;
        assert_eq!(timeless(&run).await, unbroken, "stopped after {asks} asks");
        ledger::check(&pool, id).await;
        // Where one answer was kept, its call was made again before the other one.
        let calls = all.load(Ordering::Relaxed);
        assert!([0, 2].contains(&calls), "{calls}");
        again += usize::from(before > 0 && other.load(Ordering::Relaxed) > 0);
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_service_that_is_not_registered_is_played_by_its_stand_in_and_the_run_says_so(pool: PgPool) {
    let library = bank();
    let run = play_all(planned(&pool, &library, &Tools::default(), 1).await, 1).await;
    assert_eq!(run.kind.config.services, BTreeMap::from([("desk".to_owned(), PlayedBy::StandIn)]));
    assert_eq!(run.kind.config.model_names()["service.desk"], "scripted");
    assert_eq!(read(&run).await[0].len(), 2);
    // What was ordered with a service is not played without it.
    let (tools, _, _) = desks(1).await;
    let run = planned(&pool, &library, &tools, 1).await;
    let elsewhere = ConversationRun::load(&pool, run.control.run.id, &ModelClients::new(hasty())).await;
    let reason = format!("{:#}", elsewhere.err().unwrap());
    assert!(
        reason.contains("it calls the service `desk`, which is not registered in this process (--tools)"),
        "{reason}"
    );
}

#[sqlx::test(migrations = "../migrations")]
async fn nobody_is_to_blame_but_the_infrastructure_if_a_service_is_not_to_be_had(pool: PgPool) {
    let library = bank();
    let tools = Tools::read("tools.yaml", "services:\n  - {name: desk, command: ['false']}\n").unwrap();
    let run = play_all(planned(&pool, &library, &tools, 1).await, 1).await;
    let all = stories(&run).await;
    all[0].assert_failed(Blame::Infrastructure, "the service `desk`");
}

/// Two conversations at once in each row.
const TALKS: &str = "
workflow: talks
input: {scenario: text}
steps:
  one: {converse: {scenario: scenario}}
  other: {converse: {scenario: scenario}}
output: {one: one, other: other}
";

/// With one desk each call finds it in the state of another conversation.
#[sqlx::test(migrations = "../migrations")]
async fn each_conversation_of_a_row_has_a_state_of_its_own(pool: PgPool) {
    let mut files = bank().files.clone();
    files.insert("workflows/talks/workflow.yaml", TALKS.to_owned());
    let (workflows, problems) = compile(&files);
    assert!(problems.is_empty(), "{problems:?}");
    for (size, registered) in [(2, true), (1, true), (1, false)] {
        let (tools, _, all) = desks(size).await;
        let tools = if registered { tools } else { Tools::default() };
        let input = json!({"scenario": HELP}).as_object().unwrap().clone();
        let order = order_of("talks", vec![input.clone(), input]);
        let models = workflows["talks"].all_roles().into_iter().map(|role| (role, llm::ModelSpec::Scripted));
        let order = Order { tools: tools.clone(), models: models.collect(), ..order };
        let checked = rows::order::check(order, &workflows, &files).map_err(|wrong| format!("{wrong:?}")).unwrap();
        let resources = RowResources { tools, ..RowResources::of_clients(ModelClients::new(hasty())) };
        let run = played_with(stored_run(&pool, checked, &resources).await, resources).await;
        ledger::check(&pool, run.control.run.id).await;
        for row in outputs(&pool, &run).await {
            assert!(row.accepted, "{}", row.reason);
            let output = row.output.unwrap();
            for talk in [&output["one"], &output["other"]] {
                let messages = talk["messages"].as_array().unwrap().iter();
                let heard = messages.filter(|message| message["role"] == "tool").map(|message| &message["content"]);
                let [search, hours] = heard.collect::<Vec<_>>()[..] else { panic!("{talk}") };
                assert_eq!(search.as_str().unwrap().contains("art_abroad_0"), registered, "{search}");
                assert_eq!(hours.as_str().unwrap().contains(r#""given":1"#), registered, "{hours}");
            }
        }
        assert_eq!(all.load(Ordering::Relaxed) > 0, registered);
    }
}
