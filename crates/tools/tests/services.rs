//! Services: real MCP servers that hold the state of a task, as processes and over HTTP.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::RETRY_AFTER;
use axum::http::{Request, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use domain::service::{PastCall, ServiceAnswer, ServiceCall, fingerprint};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tools::Tools;
use uuid::Uuid;

/// A till, which starts empty.
#[derive(Clone, Default)]
struct Till {
    sum: Arc<AtomicUsize>,
    broken: CancellationToken,
    /// How many tills there were, this one included.
    number: usize,
}

impl ServerHandler for Till {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("till", "1"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let sum = |sum: usize| Ok(CallToolResult::structured(json!({"sum": sum})).into());
        match &*request.name {
            "add" => {
                let amount = usize::try_from(arguments["amount"].as_u64().unwrap_or_default()).unwrap();
                sum(self.sum.fetch_add(amount, Ordering::Relaxed) + amount)
            }
            "empty" => sum(self.sum.swap(0, Ordering::Relaxed)),
            "number" => Ok(CallToolResult::structured(json!({"till": self.number})).into()),
            "break" => {
                self.broken.cancel();
                std::future::pending().await
            }
            "sleep" => std::future::pending().await,
            _ => Ok(CallToolResult::error(vec![ContentBlock::text("no such key")]).into()),
        }
    }
}

/// A command for the file of tools that is a till of its own each time it is started, and how often that was.
async fn till_command() -> (String, Arc<AtomicUsize>) {
    let (port, started) = tills().await;
    let bridge = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&0 >&3 & cat <&3");
    (format!("command: [bash, -c, {}]", json!(bridge)), started)
}

/// A port where each connection is a till, and how many there were.
async fn tills() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let started = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&started);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let till = Till { number: counted.fetch_add(1, Ordering::Relaxed) + 1, ..Till::default() };
            tokio::spawn(async move {
                let broken = till.broken.clone();
                let serving = till.serve(stream).await.unwrap();
                broken.run_until_cancelled(serving.waiting()).await;
            });
        }
    });
    (port, started)
}

fn registered(service: &str) -> Tools {
    Tools::read("tools.yaml", &format!("services:\n  - {{name: till, {service}}}\n")).unwrap()
}

fn call(tool: &str, amount: u64, before: &[PastCall]) -> ServiceCall {
    ServiceCall { tool: tool.to_owned(), arguments: of_amount(amount), before: before.to_vec() }
}

fn of_amount(amount: u64) -> Map<String, Value> {
    [("amount".to_owned(), json!(amount))].into_iter().collect()
}

fn past(amount: u64, sum: u64) -> PastCall {
    let answer = Some(fingerprint(&json!({"sum": sum}).to_string()));
    PastCall { tool: "add".to_owned(), arguments: of_amount(amount), answer }
}

fn sum(sum: u64) -> ServiceAnswer {
    ServiceAnswer::Value(json!({"sum": sum}))
}

const fn task(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

#[tokio::test]
async fn each_task_has_a_service_of_its_own_and_finds_it_again() {
    let (command, started) = till_command().await;
    let tools = registered(&format!("{command}, size: 2"));
    let ask = async |of: u128, call| tools.ask_service("till", task(of), call).await;
    assert_eq!(ask(1, call("add", 5, &[])).await, Ok(sum(5)));
    assert_eq!(ask(2, call("add", 7, &[])).await, Ok(sum(7)));
    assert_eq!(ask(1, call("add", 1, &[past(5, 5)])).await, Ok(sum(6)));
    assert_eq!(started.load(Ordering::Relaxed), 2);
    // It waits outside for a while, and nobody needs its till.
    tools.release_service("till", task(1));
    assert_eq!(ask(1, call("add", 1, &[past(5, 5), past(1, 6)])).await, Ok(sum(7)));
    assert_eq!(started.load(Ordering::Relaxed), 2);
    let refused = ask(1, call("tip", 1, &[past(5, 5), past(1, 6), past(1, 7)])).await;
    assert_eq!(refused, Ok(ServiceAnswer::Refused("no such key".to_owned())));
}

#[tokio::test]
async fn a_service_is_fresh_for_another_task_and_brought_back_for_the_one_before() {
    let (command, started) = till_command().await;
    for reset in ["", ", reset: {tool: empty}"] {
        let tools = registered(&format!("{command}, size: 1{reset}"));
        let ask = async |of: u128, call| tools.ask_service("till", task(of), call).await;
        let before = started.load(Ordering::Relaxed);
        assert_eq!(ask(1, call("add", 5, &[])).await, Ok(sum(5)));
        tools.release_service("till", task(1));
        assert_eq!(ask(2, call("add", 7, &[])).await, Ok(sum(7)));
        tools.release_service("till", task(2));
        assert_eq!(ask(1, call("add", 2, &[past(5, 5)])).await, Ok(sum(7)));
        let processes = started.load(Ordering::Relaxed) - before;
        assert_eq!(processes, if reset.is_empty() { 3 } else { 1 });
    }
}

#[tokio::test]
async fn a_service_that_is_reset_by_a_tool_is_reset_when_it_starts() {
    // All of its processes are one till, like a program over a database.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let shared = Till::default();
        shared.sum.store(40, Ordering::Relaxed);
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let till = shared.clone();
            tokio::spawn(async move { till.serve(stream).await.unwrap().waiting().await.unwrap() });
        }
    });
    let bridge = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&0 >&3 & cat <&3");
    let tools = registered(&format!("command: [bash, -c, {}], size: 1, reset: {{tool: empty}}", json!(bridge)));
    assert_eq!(tools.ask_service("till", task(1), call("add", 5, &[])).await, Ok(sum(5)));
}

#[tokio::test]
async fn a_call_that_was_made_and_is_not_known_is_undone() {
    let (command, started) = till_command().await;
    let tools = registered(&format!("{command}, size: 1"));
    let ask = async |call| tools.ask_service("till", task(1), call).await;
    assert_eq!(ask(call("add", 5, &[])).await, Ok(sum(5)));
    assert_eq!(ask(call("add", 1, &[past(5, 5)])).await, Ok(sum(6)));
    // The journal lost the second one, as it does when the process that played it was killed.
    assert_eq!(ask(call("add", 1, &[past(5, 5)])).await, Ok(sum(6)));
    assert_eq!(started.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_service_that_breaks_off_is_started_again_in_the_same_state() {
    let (command, started) = till_command().await;
    let tools = registered(&format!("{command}, size: 1"));
    let ask = async |call| tools.ask_service("till", task(1), call).await;
    assert_eq!(ask(call("add", 5, &[])).await, Ok(sum(5)));
    let reason = ask(call("break", 0, &[past(5, 5)])).await.unwrap_err();
    assert_eq!(reason, "the service `till` broke off without an answer, 5 times");
    assert_eq!(started.load(Ordering::Relaxed), 5);
    assert_eq!(ask(call("add", 1, &[past(5, 5)])).await, Ok(sum(6)));
}

#[tokio::test]
async fn answers_that_differ_when_they_are_given_again_are_no_state() {
    let (command, _) = till_command().await;
    let tools = registered(&format!("{command}, size: 1"));
    let number = |n: u64| fingerprint(&json!({"till": n}).to_string());
    let before = PastCall { tool: "number".to_owned(), arguments: Map::new(), answer: Some(number(9)) };
    let reason = tools.ask_service("till", task(1), call("add", 1, &[before])).await.unwrap_err();
    assert_eq!(
        reason,
        "the service `till` gave another answer when a call of `number` was made again, to restore its state"
    );
}

#[tokio::test]
async fn tasks_beyond_the_size_wait_and_one_that_is_silent_loses_its_service() {
    let (command, _) = till_command().await;
    let tools = registered(&format!("{command}, size: 1, idle_seconds: 1"));
    assert_eq!(tools.ask_service("till", task(1), call("add", 5, &[])).await, Ok(sum(5)));
    // Nobody releases it.
    assert_eq!(tools.ask_service("till", task(2), call("add", 7, &[])).await, Ok(sum(7)));
    tools.release_service("till", task(2));
    assert_eq!(tools.ask_service("till", task(1), call("add", 1, &[past(5, 5)])).await, Ok(sum(6)));
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_any_more_frees_its_place() {
    let (command, _) = till_command().await;
    let tools = registered(&format!("{command}, size: 1"));
    let asleep = tools.ask_service("till", task(1), call("sleep", 0, &[]));
    assert!(tokio::time::timeout(Duration::from_millis(500), asleep).await.is_err());
    assert_eq!(tools.ask_service("till", task(2), call("add", 7, &[])).await, Ok(sum(7)));
    let slow = registered(&format!("{command}, timeout_seconds: 1"));
    let reason = slow.ask_service("till", task(1), call("sleep", 0, &[])).await.unwrap_err();
    assert_eq!(reason, "the service `till` did not answer within 1 s");
}

/// A till for each session, behind something that is too busy for these requests, counted from 0, and says how many seconds to wait.
async fn till_url(busy: Range<usize>, retry_after: &'static str) -> String {
    till_sessions(busy, retry_after).await.0
}

/// And its sessions, which it may lose.
async fn till_sessions(busy: Range<usize>, retry_after: &'static str) -> (String, Arc<LocalSessionManager>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(
        || Ok(Till::default()),
        Arc::clone(&sessions),
        StreamableHttpServerConfig::default(),
    );
    let asked = Arc::new(AtomicUsize::new(0));
    let refuse = move |request: Request<Body>, next: Next| {
        let busy = busy.contains(&asked.fetch_add(1, Ordering::Relaxed));
        async move {
            if busy {
                return (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, retry_after)]).into_response();
            }
            next.run(request).await
        }
    };
    let busy = middleware::from_fn(move |request, next| -> futures::future::BoxFuture<'static, Response> {
        Box::pin(refuse(request, next))
    });
    let router = axum::Router::new().nest_service("/mcp", service).layer(busy);
    tokio::spawn(async move { axum::serve(listener, router).await });
    (format!("url: 'http://{address}/mcp'"), sessions)
}

#[tokio::test]
async fn a_server_that_loses_a_session_is_brought_back_to_its_state() {
    let (url, sessions) = till_sessions(0..0, "0").await;
    let tools = registered(&url);
    assert_eq!(tools.ask_service("till", task(1), call("add", 5, &[])).await, Ok(sum(5)));
    sessions.sessions.write().await.clear();
    assert_eq!(tools.ask_service("till", task(1), call("add", 1, &[past(5, 5)])).await, Ok(sum(6)));
}

#[tokio::test]
async fn a_service_over_http_has_a_session_for_each_task_and_is_asked_again_when_it_is_busy() {
    let tools = registered(&till_url(0..2, "0").await);
    let ask = async |of: u128, call| tools.ask_service("till", task(of), call).await;
    assert_eq!(ask(1, call("add", 5, &[])).await, Ok(sum(5)));
    assert_eq!(ask(2, call("add", 7, &[])).await, Ok(sum(7)));
    assert_eq!(ask(1, call("add", 1, &[past(5, 5)])).await, Ok(sum(6)));
    let nobody = registered("url: 'http://127.0.0.1:61009/mcp', wait_seconds: 0");
    let reason = nobody.ask_service("till", task(1), call("add", 1, &[])).await.unwrap_err();
    assert_eq!(reason, "the service `till` cannot be reached, after 0 s of waiting");
}

#[tokio::test]
async fn a_service_that_is_not_available_is_asked_again_when_it_says_and_not_for_ever() {
    let begun = Instant::now();
    let tools = registered(&till_url(0..1, "0.6").await);
    assert_eq!(tools.ask_service("till", task(1), call("add", 5, &[])).await, Ok(sum(5)));
    assert!(begun.elapsed() >= Duration::from_millis(600), "{:?}", begun.elapsed());
    let busy = registered(&format!("{}, wait_seconds: 1", till_url(0..usize::MAX, "3600").await));
    let reason = busy.ask_service("till", task(1), call("add", 5, &[])).await.unwrap_err();
    assert_eq!(reason, "the service `till` is not available (HTTP 503), after 1 s of waiting");
}

#[tokio::test]
async fn a_service_that_is_too_busy_to_begin_a_session_is_waited_for() {
    // The first request is `initialize`, the second `notifications/initialized`.
    let tools = registered(&till_url(1..2, "0").await);
    assert_eq!(tools.ask_service("till", task(1), call("add", 5, &[])).await, Ok(sum(5)));
    let busy = registered(&format!("{}, wait_seconds: 0", till_url(1..usize::MAX, "0").await));
    let reason = busy.ask_service("till", task(1), call("add", 5, &[])).await.unwrap_err();
    assert_eq!(reason, "the service `till` is not available, after 0 s of waiting");
}

#[tokio::test]
async fn a_call_that_waits_for_a_service_holds_no_place() {
    let tools = registered(&format!("{}, size: 1, wait_seconds: 1", till_url(0..1, "3600").await));
    let ask = async |of: u128, amount: u64| {
        let answer = tools.ask_service("till", task(of), call("add", amount, &[])).await;
        tools.release_service("till", task(of));
        (answer, Instant::now())
    };
    // The first of them has the only place first, and is told to wait.
    let ((waiting, answered_last), (other, answered_first)) = tokio::join!(ask(1, 5), ask(2, 7));
    assert_eq!((waiting, other), (Ok(sum(5)), Ok(sum(7))));
    assert!(answered_first < answered_last);
}

#[tokio::test]
async fn a_command_sees_no_variables_that_it_is_not_given() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = format!("echo \"${{PATH:+yes}}|$SECRET|$CARGO_MANIFEST_DIR|$ROLE\" > {}", seen.display());
    let tools = registered(&format!("command: [bash, -c, {}], environment: {{ROLE: till}}", json!(script)));
    let reason = tools.ask_service("till", task(1), call("add", 1, &[])).await.unwrap_err();
    assert_eq!(reason, "the service `till` ended (exit status: 0), 5 times");
    assert_eq!(std::fs::read_to_string(seen).unwrap(), "yes|||till\n");
}

#[tokio::test]
async fn what_a_process_writes_stands_in_no_reason() {
    let tools = registered("command: [bash, -c, 'echo postgres://me:secret@db >&2; exit 3']");
    let reason = tools.ask_service("till", task(1), call("add", 1, &[])).await.unwrap_err();
    assert_eq!(reason, "the service `till` ended (exit status: 3), 5 times");
}

#[tokio::test]
async fn a_process_that_does_not_end_with_its_input_is_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let asked = folder.path().join("asked");
    let (port, _) = tills().await;
    let ask = format!("trap 'echo asked > {}; exit' TERM", asked.display());
    let script =
        format!("{ask}; exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&0 >&3 & cat <&3 & while :; do sleep 0.1; done");
    let tools = registered(&format!("command: [bash, -c, {}], size: 1", json!(script)));
    assert_eq!(tools.ask_service("till", task(1), call("add", 5, &[])).await, Ok(sum(5)));
    tools.release_service("till", task(1));
    assert_eq!(tools.ask_service("till", task(2), call("add", 7, &[])).await, Ok(sum(7)));
    for _ in 0..200 {
        if asked.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it was not asked to end");
}

#[test]
fn a_file_says_what_is_wrong_with_a_service() {
    let text = "
services:
  - {name: both, command: [a], url: 'http://x/'}
  - {name: neither}
  - {name: hidden, command: [a], pass_environment: [NO_SUCH_VARIABLE_OF_OURS]}
  - {name: keyed, command: [a], key_env: HOME}
  - {name: elsewhere, url: 'http://x/', directory: /}
  - {name: waited, command: [a], wait_seconds: 5}
  - {name: fine, url: 'http://x/'}
  - {name: fine, url: 'http://x/'}
";
    let found = Tools::read("tools.yaml", text).err().unwrap();
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "tools.yaml:3: services[0].url: give either `command` or `url`",
            "tools.yaml:4: services[1].command: give a `command` or a `url`",
            "tools.yaml:5: services[2].pass_environment: `NO_SUCH_VARIABLE_OF_OURS` is not set",
            "tools.yaml:6: services[3].key_env: belongs to a `url`; a command gets keys by `pass_environment`",
            "tools.yaml:7: services[4].directory: belongs to a `command`",
            "tools.yaml:8: services[5].wait_seconds: belongs to a `url`",
            "tools.yaml:10: services[7].name: `fine` is registered already",
        ]
    );
    let large = Tools::read("tools.yaml", "services: [{name: large, command: [a], size: 5000}]").err().unwrap();
    assert_eq!(large[0].to_string(), "tools.yaml:1: services[0].size: 5000 is greater than the maximum of 1000");
}
