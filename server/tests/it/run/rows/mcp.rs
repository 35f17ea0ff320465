//! Rows whose steps call the tool of an MCP server that is registered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::api::workflows::AnswerKind;
use projects::library::Files;
use projects::library::workflows::compile;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use rows::RowResources;
use rows::order::Order;
use runtime::ModelClients;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::net::TcpListener;
use tools::Tools;

use super::{order_of, outputs, played_with, stored_run, summary, traced};
use crate::support::ledger;
use crate::support::play::hasty;

const WEATHER: &str = "
workflow: weather
input: {city: text, careful: boolean}
steps:
  now:
    tool:
      server: skies
      tool: now
      arguments: {city: city, unit: \"'C'\"}
      returns: {type: object, required: [degrees], properties: {degrees: {type: integer}, wind: {type: string}}}
  careful_now: {when: careful, tool: {server: skies, tool: later, arguments: {city: city}, otherwise: \"'unknown'\"}}
output: {now: now, later: careful_now}
";

/// Knows the tool `now`.
#[derive(Clone, Default)]
struct Skies {
    calls: Arc<AtomicUsize>,
}

impl ServerHandler for Skies {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("skies", "1"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = |text: &str| vec![ContentBlock::text(text)];
        Ok(match (&*request.name, arguments["city"].as_str()) {
            ("now", Some("Atlantis")) => CallToolResult::error(text("no such city")).into(),
            ("now", Some("London")) => CallToolResult::success(text("fog")).into(),
            ("now", Some(city)) if arguments["unit"] == "C" => {
                CallToolResult::structured(json!({"degrees": city.len()})).into()
            }
            _ => return Err(ErrorData::invalid_params("there is no such tool", None)),
        })
    }
}

/// The server over HTTP, registered.
async fn registered(skies: &Skies) -> Tools {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (skies, sessions) = (skies.clone(), Arc::new(LocalSessionManager::default()));
    let service =
        StreamableHttpService::new(move || Ok(skies.clone()), sessions, StreamableHttpServerConfig::default());
    let router = axum::Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Tools::read("tools.yaml", &format!("servers: [{{name: skies, url: 'http://{address}/mcp'}}]\n")).unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_step_calls_the_tool_of_a_registered_mcp_server(pool: PgPool) {
    let skies = Skies::default();
    let tools = registered(&skies).await;
    let mut files = Files::default();
    files.insert("workflows/weather/workflow.yaml", WEATHER.to_owned());
    let (workflows, problems) = compile(&files);
    assert!(problems.is_empty(), "{problems:?}");
    let row = |city: &str, careful: bool| json!({"city": city, "careful": careful}).as_object().unwrap().clone();
    let inputs = vec![row("Rome", false), row("Atlantis", false), row("London", false), row("Oslo", true)];
    let order = Order { tools: tools.clone(), ..order_of("weather", inputs) };
    let checked = rows::order::check(order, &workflows, &files).map_err(|wrong| format!("{wrong:?}")).unwrap();
    let resources = RowResources { tools, ..RowResources::of_clients(ModelClients::new(hasty())) };
    let run = played_with(stored_run(&pool, checked, &resources).await, resources).await;
    ledger::check(&pool, run.control.run.id).await;

    let ended = outputs(&pool, &run).await;
    let became: Vec<(&str, &str, Value)> =
        ended.iter().map(|row| (row.ended.as_str(), row.reason.as_str(), json!(row.output))).collect();
    let degrees = |n: usize| json!({"degrees": n, "wind": null});
    assert_eq!(became[0], ("finished", "", json!({"now": degrees(4), "later": null})));
    assert_eq!(became[1], ("failed_tool", "now: `skies` failed: no such city", Value::Null));
    assert_eq!((became[2].0, &became[2].2), ("failed_tool", &Value::Null));
    assert!(became[2].1.starts_with("now: `skies` answered with what does not fit: \"fog\""), "{}", became[2].1);
    assert_eq!(became[3], ("finished", "", json!({"now": degrees(4), "later": "unknown"})));
    assert_eq!(skies.calls.load(Ordering::Relaxed), 5, "each call is made once");

    let asked = traced(&pool, &run, 3).await.requests;
    let steps: BTreeMap<&str, AnswerKind> =
        asked.iter().map(|request| (request.step.as_str(), request.answer)).collect();
    assert_eq!(steps, BTreeMap::from([("careful_now", AnswerKind::Called), ("now", AnswerKind::Called)]));
    let now = summary(&pool, &run).await;
    assert_eq!((now.accepted, now.failures), (2, BTreeMap::from([("failed_tool".to_owned(), 2)])));
    let usage: Vec<(&str, &str, i64)> =
        now.usage.iter().map(|usage| (usage.role.as_str(), usage.model.as_str(), usage.calls)).collect();
    assert_eq!(usage, [("tool", "skies", 5)]);
}
