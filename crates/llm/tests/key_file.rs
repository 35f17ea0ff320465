//! A key that stands in a file.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use std::os::unix::fs::symlink;
use std::path::Path;

use domain::chat::ChatRequest;
use domain::message::Message;
use domain::role::Role;
use llm::{EndpointOptions, Pool, PoolSpec};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

const KEY: &str = "sk-file-4711-secret";

fn spec(url: &str, file: &Path) -> PoolSpec {
    PoolSpec { key_file: Some(file.to_str().unwrap().to_owned()), ..PoolSpec::new("m", vec![format!("{url}/v1")]) }
}

fn pool(url: &str, file: &Path) -> Result<Pool, String> {
    let options = EndpointOptions { max_attempts: 1, ..EndpointOptions::default() };
    Pool::new(&spec(url, file), options).map_err(|error| error.to_string())
}

fn ask() -> ChatRequest {
    ChatRequest {
        role: Role::Agent.into(),
        messages: vec![Message::User { content: "hello".into() }],
        tools: Vec::new(),
        schema: None,
        temperature: 0.0,
        max_tokens: 9,
        seed: 1,
    }
}

#[tokio::test]
async fn the_key_is_sent_without_its_line_break_and_told_to_nobody() {
    let server = MockServer::start().await;
    // As endpoints do that do not know the key.
    let refusal = ResponseTemplate::new(401).set_body_string(format!("wrong key: {KEY}"));
    Mock::given(method("POST")).respond_with(refusal).mount(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let (file, mounted) = (folder.path().join("..data"), folder.path().join("key"));
    std::fs::write(&file, format!("{KEY}\n")).unwrap();
    symlink(&file, &mounted).unwrap();
    let pool = pool(&server.uri(), &mounted).unwrap();
    let error = pool.ask(&ask()).await.unwrap_err();
    let request = &server.received_requests().await.unwrap()[0];
    assert_eq!(request.headers["authorization"].to_str().unwrap(), format!("Bearer {KEY}"));
    let spec = spec(&server.uri(), &mounted);
    let told = format!("{error} {error:?} {pool:?} {spec} {spec:?} {}", serde_json::to_string(&spec).unwrap());
    assert!(told.contains("[key]") && told.contains(mounted.to_str().unwrap()), "{told}");
    assert!(!told.contains("4711"), "{told}");
    // Whoever changes the file changes the key, for clients that are made from then on.
    std::fs::remove_file(&file).unwrap();
    assert!(self::pool(&server.uri(), &mounted).is_err());
}

#[test]
fn a_file_without_a_key_says_what_is_wrong_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    for (file, said) in [
        (folder.path().join("none"), "cannot be read (No such file"),
        (folder.path().to_owned(), "is not a regular file"),
        ("/dev/zero".into(), "is not a regular file"),
        (written("empty", b""), "is empty"),
        (written("blank", b" \n\n"), "is empty"),
        (written("binary", b"4711\xff"), "cannot be read (stream did not contain valid UTF-8)"),
        (written("large", "4".repeat(20_000).as_bytes()), "is larger than a key can be"),
        (written("lines", b"4711\n4711"), "has characters that no HTTP header may have"),
    ] {
        let error = pool("http://127.0.0.1:9", &file).unwrap_err();
        assert!(error.contains(&format!("the file {}", file.display())) && error.contains(said), "{error}");
        assert!(!error.contains("4711"), "{error}");
    }
}

#[test]
fn what_may_be_a_key_is_no_path() {
    let problems = |env: Option<&str>, file: &str| {
        let key_env = env.map(str::to_owned);
        PoolSpec { key_env, ..spec("http://host", Path::new(file)) }.problems()
    };
    assert_eq!(problems(None, "/run/secrets/key"), []);
    for file in [KEY, "keys/qwen", "", "/run/\nkey"] {
        let found = problems(None, file);
        assert_eq!(found.iter().map(|(at, _)| at.as_str()).collect::<Vec<_>>(), ["/key_file"], "{file}");
        assert!(!format!("{found:?}").contains("4711"), "{found:?}");
    }
    let both = problems(Some("QWEN_KEY"), "/run/secrets/key");
    assert_eq!(both, [("/key_file".to_owned(), "give either `key_env` or `key_file`".to_owned())]);
}
