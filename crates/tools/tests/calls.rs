//! Real endpoints and real MCP servers, registered in a file and called.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::workflow::ToolKind;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, Implementation, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tools::Tools;
use wiremock::matchers::{body_json, header, method};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn registered(kind: &str, url: &str, more: &str) -> Tools {
    Tools::read("tools.yaml", &format!("{kind}: [{{name: it, url: '{url}'{more}}}]\n")).unwrap()
}

/// What comes of posting a body to an endpoint that gives these answers in turn, and how often it was asked.
async fn posted(answers: Vec<ResponseTemplate>) -> (Value, usize) {
    let server = MockServer::start().await;
    for answer in answers {
        Mock::given(method("POST")).respond_with(answer).up_to_n_times(1).mount(&server).await;
    }
    let answer = registered("endpoints", &server.uri(), "").call("it", json!({"body": {"q": 1}})).await;
    (answer, server.received_requests().await.unwrap().len())
}

#[tokio::test]
async fn an_endpoint_gets_json_and_its_key_and_answers_json_or_text() {
    let server = MockServer::start().await;
    let key = format!("Bearer {}", env!("CARGO_MANIFEST_DIR"));
    let fine = ResponseTemplate::new(200).set_body_json(json!({"places": ["a"]}));
    let asked = Mock::given(header("authorization", key.as_str())).and(body_json(json!({"q": 1})));
    asked.respond_with(fine).mount(&server).await;
    let tools = registered("endpoints", &server.uri(), ", key_env: CARGO_MANIFEST_DIR");
    assert_eq!(tools.call("it", json!({"body": {"q": 1}})).await, json!({"value": {"places": ["a"]}}));
    let (text, _) = posted(vec![ResponseTemplate::new(200).set_body_string("plain words")]).await;
    assert_eq!(text, json!({"value": "plain words"}));
}

#[tokio::test]
async fn what_an_endpoint_did_not_begin_is_asked_again_and_nothing_else() {
    let status = ResponseTemplate::new;
    let fine = || status(200).set_body_json(json!(7));
    assert_eq!(posted(vec![status(503), status(429), fine()]).await, (json!({"value": 7}), 3));
    let broken = status(500).set_body_string("division by zero");
    assert_eq!(posted(vec![broken, fine()]).await, (json!({"error": "answered 500: division by zero"}), 1));
    // Where it points to was not registered.
    let elsewhere = status(307).insert_header("location", "http://127.0.0.1:1/");
    assert_eq!(posted(vec![elsewhere]).await, (json!({"error": "answered 307:"}), 1));
    let flood = status(200).set_body_string("x".repeat((1 << 20) + 1));
    assert_eq!(posted(vec![flood]).await.0, json!({"error": "answered with more than 1048576 bytes"}));
    let nobody = registered("endpoints", "http://127.0.0.1:61009/", "");
    assert_eq!(nobody.call("it", json!({"body": null})).await, json!({"error": "cannot be reached"}));
    let slow = status(200).set_delay(Duration::from_secs(5));
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(slow).mount(&server).await;
    let tools = registered("endpoints", &server.uri(), ", timeout_seconds: 1");
    assert_eq!(tools.call("it", json!({"body": 1})).await, json!({"error": "did not answer within 1 s"}));
}

#[tokio::test]
async fn a_busy_endpoint_is_left_alone_as_long_as_it_asks_for() {
    let busy = ResponseTemplate::new(503).insert_header("retry-after", "2");
    let asked = Instant::now();
    assert_eq!(posted(vec![busy, ResponseTemplate::new(200).set_body_json(json!(7))]).await, (json!({"value": 7}), 2));
    assert!(asked.elapsed() >= Duration::from_secs(2), "{:?}", asked.elapsed());
}

/// An MCP server with the tools `add`, `say` and `fail`.
#[derive(Clone)]
struct Calculator;

impl ServerHandler for Calculator {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("calculator", "1"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<rmcp::model::CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let number = |key: &str| arguments[key].as_i64().unwrap_or_default();
        let text = |text: &str| vec![ContentBlock::text(text)];
        match &*request.name {
            "add" => Ok(CallToolResult::structured(json!({"sum": number("a") + number("b")})).into()),
            "say" => Ok(CallToolResult::success(text("hello")).into()),
            "fail" => Ok(CallToolResult::error(text("no luck today")).into()),
            _ => Err(ErrorData::invalid_params("there is no such tool", None)),
        }
    }
}

async fn calculator() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Calculator), sessions, StreamableHttpServerConfig::default());
    let router = axum::Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/mcp")
}

#[tokio::test]
async fn a_tool_of_an_mcp_server_is_called() {
    let tools = registered("servers", &calculator().await, "");
    let call =
        async |tool: &str, arguments: Value| tools.call("it", json!({"tool": tool, "arguments": arguments})).await;
    assert_eq!(call("add", json!({"a": 2, "b": 3})).await, json!({"value": {"sum": 5}}));
    assert_eq!(call("say", json!({})).await, json!({"value": "hello"}));
    assert_eq!(call("fail", json!({})).await, json!({"error": "failed: no luck today"}));
    assert_eq!(call("sub", json!({})).await, json!({"error": "refused: there is no such tool"}));
    let few = registered("servers", &calculator().await, ", tools: [add]");
    let answer = few.call("it", json!({"tool": "say", "arguments": {}})).await;
    assert_eq!(answer, json!({"error": "may not be asked for its tool `say`"}));
    let nobody = registered("servers", "http://127.0.0.1:61009/mcp", "");
    let answer = nobody.call("it", json!({"tool": "add", "arguments": {}})).await;
    assert_eq!(answer, json!({"error": "cannot be reached"}));
}

#[test]
fn a_file_says_what_is_wrong_with_it() {
    let text = "
endpoints:
  - {name: Geo, url: 'ftp://x'}
  - {name: geo, url: 'http://me:secret@x/'}
  - {name: keyed, url: 'http://x/', key_env: NO_SUCH_VARIABLE_OF_OURS}
  - {name: fine, url: 'http://x/', tools: [a]}
servers:
  - {name: fine, url: 'http://x/mcp'}
";
    let found = Tools::read("tools.yaml", text).err().unwrap();
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "tools.yaml:3: endpoints[0].name: expected lower-case letters, digits and `_`, at most 64",
            "tools.yaml:3: endpoints[0].url: expected a URL that begins with http: or https:",
            "tools.yaml:4: endpoints[1].url: holds a user name or password; name a key with `key_env` or `key_file`",
            "tools.yaml:5: endpoints[2].key_env: what it names is not set or empty",
            "tools.yaml:6: endpoints[3].tools: belongs to a server",
            "tools.yaml:8: servers[0].name: `fine` is registered already",
        ]
    );
    let tools = registered("endpoints", "http://x/", "");
    assert!(tools.is_registered(ToolKind::Endpoint, "it") && !tools.is_registered(ToolKind::Server, "it"));
    assert_eq!(
        tools.missing(ToolKind::Endpoint, "its"),
        "no HTTP endpoint is registered as `its` (did you mean `it`?) (--tools); there are: it"
    );
}
