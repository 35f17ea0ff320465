//! Answers that are no replies: which are asked again, which are not, and what is said.

use std::time::{Duration, Instant};

use llm::{EndpointOptions, Failure};
use serde_json::json;
use wiremock::ResponseTemplate;

use super::{KEY, MS, ask, asked, content, delta, end, endpoint, failure, fine, options, server, streamed};

fn status(status: u16) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({ "error": { "message": "because", "code": null } }))
}

fn page(body: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(body, "text/html")
}

#[tokio::test]
async fn what_may_pass_is_asked_again() {
    let half = delta(&json!({ "content": "ha" }));
    let cut = ResponseTemplate::new(200).set_body_raw(format!("data: {half}\n\n"), "text/event-stream");
    let within = |code| streamed(&[half.clone(), json!({ "error": { "message": "engine died", "code": code } })]);
    for (name, answer) in [
        ("408", status(408)),
        ("409", status(409)),
        ("429", status(429)),
        ("500", status(500)),
        ("503", status(503)),
        ("a cut stream", cut),
        ("an empty body", page("")),
        ("a page", page("<html>Bad gateway</html>")),
        ("JSON without choices", page("{}")),
        ("half a JSON document", page("{\"choices\": [")),
        ("a broken chunk", page("data: {\"choi\n\n")),
        ("an error within the stream", within(json!(502))),
        ("an error without a code", within(json!(null))),
        ("an error in place of a completion", page(r#"{"error": {"message": "busy", "code": "429"}}"#)),
        ("an aborted reply", streamed(&[half.clone(), end("abort")])),
    ] {
        let (reply, requests) = asked([answer.clone(), answer, fine()]).await;
        assert_eq!(content(reply), "fine", "{name}");
        assert_eq!(requests, 3, "{name}");
    }
}

#[tokio::test]
async fn attempts_end() {
    for (answer, expected) in [
        (status(503), Failure::Refused { status: 503, message: "because".into() }),
        (status(429), Failure::RateLimited { message: "because".into() }),
        (page(""), Failure::CutStream),
        (page("<p>Log in"), Failure::Garbled { found: "<p>Log in".into() }),
    ] {
        let (reply, requests) = asked([answer]).await;
        let error = reply.unwrap_err();
        assert_eq!((error.failure, error.attempts, requests), (expected, 3, 3));
    }
}

#[tokio::test]
async fn what_will_not_pass_is_not_asked_again() {
    let quota = json!({ "error": { "message": "no credit", "code": "insufficient_quota" } });
    for (answer, code, message) in [
        (status(400), 400, "because"),
        (status(401), 401, "because"),
        (status(403), 403, "because"),
        (ResponseTemplate::new(404).set_body_json(json!({ "detail": "Not Found" })), 404, "Not Found"),
        (ResponseTemplate::new(422).set_body_json(json!({ "object": "error", "message": "bad" })), 422, "bad"),
        (ResponseTemplate::new(400).set_body_json(json!({ "error": "just text" })), 400, "just text"),
        (ResponseTemplate::new(404).set_body_string("<h1>\n  nothing\n</h1>"), 404, "<h1> nothing </h1>"),
        (ResponseTemplate::new(307).insert_header("location", "/elsewhere"), 307, ""),
        (ResponseTemplate::new(429).set_body_json(&quota), 429, "no credit"),
        (streamed(&[json!({ "error": { "message": "too long", "code": 400 } })]), 400, "too long"),
    ] {
        let (reply, requests) = asked([answer]).await;
        assert_eq!(failure(reply), Failure::Refused { status: code, message: message.into() });
        assert_eq!(requests, 1, "{code}");
    }
}

#[tokio::test]
async fn errors_name_the_endpoint_and_what_to_do() {
    let server = server([status(401)]).await;
    let error = endpoint(&server.uri(), options()).ask(&ask()).await.unwrap_err().to_string();
    assert_eq!(
        error.replace(&server.uri(), "http://host"),
        "org/m:1@http://host/v1@CARGO_MANIFEST_DIR: answered 401 (because); check that the spec names the key's \
         environment variable and that the key may use this model (attempts: 1)"
    );
}

#[tokio::test]
async fn the_key_is_never_shown_and_long_messages_are_cut() {
    let message = format!("Incorrect key: {KEY}{}", "x".repeat(1000));
    let server = server([ResponseTemplate::new(401).set_body_string(message)]).await;
    let endpoint = endpoint(&server.uri(), options());
    let error = endpoint.ask(&ask()).await.unwrap_err();
    for shown in [format!("{endpoint:?}"), format!("{error:?}"), error.to_string()] {
        assert!(!shown.contains(KEY), "{shown}");
    }
    let Failure::Refused { message, .. } = error.failure else { panic!() };
    assert!(message.starts_with("Incorrect key: [key]xxx"), "{message}");
    assert_eq!(message.chars().count(), 301);
}

#[tokio::test]
async fn retry_after_is_waited_for_up_to_its_cap() {
    for (header, cap, at_least) in [
        ("1", Duration::from_mins(1), Duration::from_secs(1)),
        ("3600", 50 * MS, 50 * MS),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 50 * MS, 50 * MS),
    ] {
        let server = server([status(429).insert_header("retry-after", header), fine()]).await;
        let options = EndpointOptions { max_retry_after: cap, ..options() };
        let begin = Instant::now();
        assert_eq!(content(endpoint(&server.uri(), options).ask(&ask()).await), "fine");
        assert!(begin.elapsed() >= at_least, "{header}: {:?}", begin.elapsed());
    }
}
