//! `groundstate workflow`: a workflow from its first file to rows.

mod summary;

use axum::Json;
use axum::response::IntoResponse;
use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::tempdir;

use super::{groundstate, said};
use crate::support::database_url;
use crate::support::endpoint::{self, Endpoint};

#[sqlx::test(migrations = "../migrations")]
async fn a_new_workflow_is_checked_tried_and_run(pool: PgPool) {
    let folder = tempdir().unwrap();
    let run = async |arguments: &[&str]| {
        let mut command = groundstate(arguments);
        said(command.current_dir(folder.path()).env("DATABASE_URL", database_url(&pool))).await
    };
    let made = run(&["workflow", "new", "questions"]).await;
    assert_eq!((made.code, made.stderr.as_str()), (Some(0), ""));
    let again = run(&["workflow", "new", "questions"]).await;
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    let checked = run(&["workflow", "check"]).await;
    insta::assert_snapshot!(checked.stdout, @"
    questions
      takes    {text: text}
      gives    {pairs: list<{question: text, answer: text}>}
      asks     judge, writer
      samples  3 samples, 6 requests to stand-ins
    ");
    let tried =
        run(&["workflow", "try", "questions", "--input", r#"{"text": "Bees make honey in summer, people say."}"#])
            .await;
    insta::assert_snapshot!(tried.stdout, @r#"
    questions
        What about Bees?
    answered[0].answer
        Bees make honey in summer, people say.
    answered[0].check
        {"supported":true}
    accepted as `finished`
    {
      "pairs": [
        {
          "question": "What about Bees?",
          "answer": "Bees make honey in summer, people say."
        }
      ]
    }
    pairs = 1
    "#);
    let played = run(&["workflow", "run", "questions", "--form", "messages"]).await;
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    assert!(played.stdout.contains("  too_short            1\n"), "{}", played.stdout);
    let rows = std::fs::read_to_string(folder.path().join("rows.jsonl")).unwrap();
    insta::assert_snapshot!(rows, @r#"{"messages":[{"role":"user","content":"What about The?"},{"role":"assistant","content":"The bridge was opened in 1932 by the mayor."}],"stand_ins":["judge","writer"]}"#);
    let id = played.stdout.split_whitespace().nth(1).unwrap();
    let all = run(&["workflow", "rows", id, "--all"]).await;
    assert_eq!(all.stdout.lines().count(), 3, "{}", all.stdout);
    let metric = "  pairs                1.00 over 1 row\n";
    assert!(played.stdout.contains(metric), "{}", played.stdout);
    let summary = run(&["workflow", "rows", id, "--summary"]).await.stdout;
    assert!(summary.contains(metric) && summary.contains("for each     0 tokens, 0 in"), "{summary}");
    assert!(summary.contains("\n    processing ") && summary.contains("\n    queueing "), "{summary}");
    let shown = run(&["runs", "show", id]).await;
    assert!(
        shown.stdout.contains("failures     1 ended as nothing_supported, 1 ended as too_short"),
        "{}",
        shown.stdout
    );
    let exported = run(&["export", "--run", id, "--out", "x.jsonl"]).await;
    assert_eq!(exported.code, Some(2), "{} {}", exported.stdout, exported.stderr);
    let first = run(&["workflow", "run", "questions", "--forecast", "2"]).await;
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stdout.contains("forecast, from 2 rows of 3:"), "{}", first.stdout);
    assert!(first.stdout.contains("The run is paused. `groundstate runs resume "), "{}", first.stdout);
}

#[tokio::test]
async fn mistakes_are_said_at_once_with_their_places() {
    let folder = tempdir().unwrap();
    let run = async |arguments: &[&str]| said(groundstate(arguments).current_dir(folder.path())).await;
    let none = run(&["workflow", "check"]).await;
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("`groundstate workflow new NAME` writes one"), "{}", none.stderr);
    run(&["workflow", "new", "questions"]).await;
    let file = folder.path().join("workflows/questions/workflow.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("len(kept) == 0", "len(kpt) == 0").replace("ends: too_short", "ends: short"))
        .unwrap();
    let broken = run(&["workflow", "check"]).await;
    assert_eq!(broken.code, Some(2));
    insta::assert_snapshot!(broken.stderr, @"
    workflows/questions/workflow.yaml:20: steps.none.end.when: there is no `kpt` here (did you mean `kept`?); known: text, short, questions, answered, kept, write, check
    1 problem found; nothing was done
    ");
    std::fs::write(&file, text.replace("ends: too_short", "ends: short")).unwrap();
    let differs = run(&["workflow", "check"]).await;
    insta::assert_snapshot!(differs.stderr, @"
    workflows/questions/workflow.yaml:30: samples[1]: was to end as `short`, and ended as `too_short`
    1 problem found; nothing was done
    ");
    let unbound =
        run(&["workflow", "run", "questions", "--model", "writr=scripted", "--column", "txt=a", "--rows", "none"])
            .await;
    insta::assert_snapshot!(unbound.stderr, @"
    none: No such file or directory (os error 2)
    1 problem found; nothing was done
    ");
    let unbound = run(&["workflow", "run", "questions", "--model", "writr=scripted", "--column", "txt=a"]).await;
    insta::assert_snapshot!(unbound.stderr, @"
    --model: the workflow asks no role `writr` (did you mean `writer`?); it asks judge, writer
    --column: the workflow has no input `txt` (did you mean `text`?)
    2 problems found; nothing was done
    ");
}

const SEARCHING: &str = "
workflow: look_up
input: {question: text}
steps:
  found: {search: {index: wiki, query: question, k: 1}}
  none: {end: {when: len(found) == 0, as: nothing_found}}
output: {title: 'found[0].title', text: 'found[0].text'}
samples: [{input: {question: x}, ends: nothing_found}]
";

#[sqlx::test(migrations = "../migrations")]
async fn a_dataset_is_played_row_by_row_and_an_index_is_searched(pool: PgPool) {
    let folder = tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("workflows/look_up/workflow.yaml", SEARCHING);
    put(
        "wiki.jsonl",
        "{\"title\": \"Bees\", \"text\": \"Bees make honey.\"}\n{\"title\": \"Cows\", \"text\": \"Cows give milk.\"}\n",
    );
    let questions: String =
        (0..2_500).map(|i| format!("{{\"q\": \"who gives {}\"}}\n", ["milk", "honey", "gold"][i % 3])).collect();
    put("questions.jsonl", &questions);
    let run = async |arguments: &[&str]| {
        let mut command = groundstate(arguments);
        command.current_dir(folder.path()).env("DATABASE_URL", database_url(&pool));
        said(command.env("GROUNDSTATE_FILES", "files").env("GROUNDSTATE_OBJECTS", "objects")).await
    };
    let refused = async |arguments: &[&str]| run(arguments).await.stderr;
    let run = async |arguments: &[&str]| {
        let said = run(arguments).await;
        assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.stderr);
        said.stdout
    };
    run(&["datasets", "add", "wiki", "wiki.jsonl"]).await;
    run(&["indexes", "add", "wiki", "--dataset", "wiki"]).await;
    run(&["datasets", "add", "questions", "questions.jsonl"]).await;
    let order =
        ["workflow", "run", "look_up", "--dataset", "questions", "--index", "wiki=wiki", "--column", "question=q"];
    let played = run(&[&order[..], &["--first", "100", "--n", "2000", "--form", "outputs"]].concat()).await;
    assert!(played.contains("rows         2000 of 2000"), "{played}");
    assert!(played.contains("  nothing_found        667\n"), "{played}");
    let rows = std::fs::read_to_string(folder.path().join("rows.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), 1_333);
    // Position 100 of the dataset asks for honey.
    assert_eq!(rows.lines().next().unwrap(), r#"{"title":"Bees","text":"Bees make honey."}"#);
    // Each row would end for a column that is not there.
    let order = ["workflow", "run", "look_up", "--dataset", "questions", "--index", "wiki=wiki"];
    insta::assert_snapshot!(refused(&order).await, @"
    --dataset: the dataset `questions` has no column `question`, which the input `question` is taken from
    1 problem found; nothing was done
    ");
    let named = refused(&[&order[..], &["--column", "question=qu"]].concat()).await;
    assert!(named.contains("`questions` has no column `qu`, which the input `question` is taken from"), "{named}");
    put("bad.jsonl", "{\"question\": \"x\"}\n{\"question\": \"a\\u0000\"}\n");
    let bad = refused(&["workflow", "run", "look_up", "--rows", "bad.jsonl"]).await;
    let expected = "bad.jsonl:2: is no JSON object: a text holds the character U+0000 (column `question`)\n";
    assert!(bad.contains(expected), "{bad}");
    put("late.csv", "question\nx\n");
    insta::assert_snapshot!(refused(&["workflow", "run", "look_up", "--rows", "late.csv"]).await, @"
    late.csv:1: is no JSON object: expected value, column 1; the file must be JSONL, an object a line; for CSV, Parquet and others, make a dataset with `groundstate datasets add`
    1 problem found; nothing was done
    ");
    // One row is read as strictly as a file.
    for (row, reason) in [
        (r#"{"question": "a\u0000"}"#, "a text holds the character U+0000 (column `question`)"),
        (r#"{"question": 1e400}"#, "a number is too large (column `question`)"),
        (r#"{"question": "a", "question": "b"}"#, "the key `question` is written twice in one object"),
    ] {
        put("bad.jsonl", row);
        let of_file = refused(&["workflow", "run", "look_up", "--rows", "bad.jsonl"]).await;
        let of_flag = refused(&["workflow", "try", "look_up", "--input", row]).await;
        assert!(of_file.starts_with(&format!("bad.jsonl:1: is no JSON object: {reason}\n")), "{of_file}");
        assert!(of_flag.starts_with(&format!("--input: is no JSON object: {reason}\n")), "{of_flag}");
    }
}

const FIRST: &str = "
workflow: first
input: {texts: list<text>}
steps: {same: {code: texts}}
output: {texts: same}
messages: '[{\"role\": \"assistant\", \"content\": output.texts[0]}]'
pairs: '[{\"chosen\": output.texts[0], \"rejected\": output.texts[1]}]'
samples: [{input: {texts: [a, b]}, output: {texts: [a, b]}}]
";

#[sqlx::test(migrations = "../migrations")]
async fn rows_that_cannot_be_written_are_left_out(pool: PgPool) {
    let folder = tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("workflows/first")).unwrap();
    std::fs::write(folder.path().join("workflows/first/workflow.yaml"), FIRST).unwrap();
    let rows = [r#"{"texts": ["a", "b"]}"#, r#"{"texts": ["c"]}"#, r#"{"texts": []}"#];
    std::fs::write(folder.path().join("in.jsonl"), rows.join("\n")).unwrap();
    let run = async |arguments: &[&str]| {
        let mut command = groundstate(arguments);
        let said = said(command.current_dir(folder.path()).env("DATABASE_URL", database_url(&pool))).await;
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        said
    };
    let played = run(&["workflow", "run", "first", "--rows", "in.jsonl", "--form", "messages"]).await;
    assert!(played.stdout.contains("written      2 lines in rows.jsonl"), "{}", played.stdout);
    let left_out = "1 row is left out: row 2: ";
    assert!(played.stderr.contains(left_out), "{}", played.stderr);
    let written = std::fs::read_to_string(folder.path().join("rows.jsonl")).unwrap();
    let line = |text: &str| format!("{{\"messages\":[{{\"role\":\"assistant\",\"content\":\"{text}\"}}]}}\n");
    assert_eq!(written, line("a") + &line("c"));

    let id = played.stdout.split_whitespace().nth(1).unwrap();
    let messages = run(&["workflow", "rows", id, "--form", "messages"]).await;
    assert_eq!(messages.stdout, written);
    assert!(messages.stderr.starts_with(left_out) && messages.stderr.lines().count() == 1, "{}", messages.stderr);
    let pairs = run(&["workflow", "rows", id, "--form", "pairs"]).await;
    assert_eq!(pairs.stdout, "{\"chosen\":\"a\",\"rejected\":\"b\"}\n");
    assert!(pairs.stderr.starts_with("2 rows are left out; the first, row 1: "), "{}", pairs.stderr);
    let outputs = run(&["workflow", "rows", id, "--form", "outputs"]).await;
    assert_eq!((outputs.stdout.lines().count(), outputs.stderr.as_str()), (3, ""));
}

const RANKING: &str = "
workflow: nearest
input: {question: text, texts: list<text>}
steps:
  own: {embed: {role: embedder, texts: question}}
  all: {embed: {role: embedder, texts: texts}}
  near: {code: '[sum([own[i] * v[i] for i in range(len(own))]) for v in all]'}
  best: {rerank: {role: ranker, query: question, documents: texts, k: 1}}
output: {near: near, best: 'best[0].document', score: 'best[0].score'}
";

/// A vector says how many of each letter there are of `a` and `b`; a document's score is its length.
fn numbers(request: &Value) -> axum::response::Response {
    let texts = |key: &str| request[key].as_array().cloned().unwrap_or_default();
    let count = |text: &Value, letter: char| text.as_str().unwrap_or_default().matches(letter).count();
    if texts("input").iter().any(|text| text == "long") {
        return endpoint::status(400);
    }
    let vector = |(i, text): (usize, &Value)| json!({"index": i, "embedding": [count(text, 'a'), count(text, 'b')]});
    let vectors: Vec<Value> = texts("input").iter().enumerate().map(vector).rev().collect();
    let score = |(i, text): (usize, &Value)| {
        // One document is called what no other is.
        let index = if text == "wrong" { 9 } else { i };
        json!({"index": index, "relevance_score": text.as_str().unwrap_or_default().len()})
    };
    let scores: Vec<Value> = texts("documents").iter().enumerate().map(score).collect();
    Json(json!({"data": vectors, "results": scores, "usage": {"total_tokens": 5}})).into_response()
}

#[sqlx::test(migrations = "../migrations")]
async fn texts_are_embedded_and_ranked_by_real_endpoints(pool: PgPool) {
    let folder = tempdir().unwrap();
    let endpoint = Endpoint::start(numbers).await;
    let workflow = folder.path().join("workflows/nearest");
    std::fs::create_dir_all(&workflow).unwrap();
    std::fs::write(workflow.join("workflow.yaml"), RANKING).unwrap();
    let rows = [
        json!({"question": "ab", "texts": ["aa", "abb"]}),
        json!({"question": "a", "texts": vec!["b"; 40]}),
        json!({"question": "a", "texts": ["wrong"]}),
        json!({"question": "a", "texts": ["long"]}),
    ];
    std::fs::write(folder.path().join("in.jsonl"), rows.map(|row| format!("{row}\n")).concat()).unwrap();
    let (embedder, ranker) = (format!("embedder={}", endpoint.model()), format!("ranker={}", endpoint.model()));
    let order = ["workflow", "run", "nearest", "--rows", "in.jsonl", "--form", "outputs"];
    let mut command = groundstate([&order[..], &["--model", &embedder, "--model", &ranker]].concat());
    let played = said(command.current_dir(folder.path()).env("DATABASE_URL", database_url(&pool))).await;
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    let written = std::fs::read_to_string(folder.path().join("rows.jsonl")).unwrap();
    let near = vec!["0.0"; 40].join(",");
    let expected = [
        r#"{"near":[2.0,3.0],"best":"abb","score":3.0}"#.to_owned(),
        format!(r#"{{"near":[{near}],"best":"b","score":1.0}}"#),
    ];
    assert_eq!(written.lines().collect::<Vec<_>>(), expected);
    assert!(played.stdout.contains("  invalid_reply        2\n"), "{}", played.stdout);
    // Four questions, and the texts in batches of 32; nothing was asked twice.
    assert!(played.stdout.contains("embedder     9 requests to test-model@"), "{}", played.stdout);
    assert_eq!(endpoint.requests().iter().filter(|request| request["encoding_format"] == "float").count(), 9);
    let sent = &endpoint.requests().into_iter().find(|request| request["documents"] == json!(["aa", "abb"])).unwrap();
    assert_eq!((&sent["model"], &sent["top_n"]), (&json!("test-model"), &json!(1)));
}

const CALLING: &str = "
workflow: places
input: {city: text}
steps:
  place: {tool: {endpoint: geocoder, body: {q: city}, returns: {type: object, required: [lat], properties: {lat: {type: number}}}}}
output: {lat: place.lat}
";

#[sqlx::test(migrations = "../migrations")]
async fn a_registered_endpoint_is_called_and_no_other(pool: PgPool) {
    let folder = tempdir().unwrap();
    let geocoder = Endpoint::start(|request| match request["q"].as_str() {
        Some("Rome") => Json(json!({"lat": 41.9})).into_response(),
        Some("odd") => Json(json!([])).into_response(),
        _ => endpoint::status(404),
    })
    .await;
    let url = geocoder.model().split_once('@').unwrap().1.to_owned();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("workflows/places/workflow.yaml", CALLING);
    put("in.jsonl", "{\"city\": \"Rome\"}\n{\"city\": \"odd\"}\n{\"city\": \"nowhere\"}\n");
    put("tools.yaml", &format!("endpoints: [{{name: geocoder, url: '{url}/rerank'}}]\n"));
    let run = async |arguments: &[&str]| {
        let order = ["workflow", "run", "places", "--rows", "in.jsonl"];
        let mut command = groundstate([&order[..], arguments].concat());
        said(command.current_dir(folder.path()).env("DATABASE_URL", database_url(&pool))).await
    };
    let unknown = run(&[]).await;
    assert_eq!(unknown.code, Some(2));
    insta::assert_snapshot!(unknown.stderr, @"
    --tools: no HTTP endpoint is registered as `geocoder` (--tools); there are: none; and the workflow has no stand-in for it
    1 problem found; nothing was done
    ");
    let played = run(&["--tools", "tools.yaml", "--form", "outputs"]).await;
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    assert!(played.stdout.contains("  failed_tool          2\n"), "{}", played.stdout);
    assert!(played.stdout.contains("tool         3 requests to geocoder\n"), "{}", played.stdout);
    let written = std::fs::read_to_string(folder.path().join("rows.jsonl")).unwrap();
    assert_eq!(written, "{\"lat\":41.9}\n");
    assert_eq!(geocoder.requests().len(), 3);
}

/// As `draw_mermaid()` draws an agent with tools.
const AGENT: &str = "graph TD;
\t__start__ --> agent;
\tagent -. &nbsp;exit&nbsp; .-> __end__;
\tagent -. &nbsp;continue&nbsp; .-> Web\\20Search;
\tWeb\\20Search --> agent;
";

#[tokio::test]
async fn a_graph_of_langgraph_is_imported_checked_and_tried() {
    let folder = tempdir().unwrap();
    let run = async |arguments: &[&str]| said(groundstate(arguments).current_dir(folder.path())).await;
    std::fs::write(folder.path().join("My-Agent.mmd"), AGENT).unwrap();
    let imported = run(&["workflow", "import", "langgraph", "My-Agent.mmd"]).await;
    assert_eq!((imported.code, imported.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(imported.stdout, @"
    ./workflows/my_agent/agent.md.j2
    ./workflows/my_agent/agent_route.md.j2
    ./workflows/my_agent/functions.star
    ./workflows/my_agent/web_search.md.j2
    ./workflows/my_agent/workflow.yaml

    made of the graph:
      the cycle of agent, Web Search           agent_loop
      agent                                    agent_loop.agent
      the choice after agent (continue, exit)  agent_loop.agent_route
      Web Search                               agent_loop.web_search
    not taken over:
      what the nodes do, and the state that they share, is not part of a drawing
      agent: exactly one of continue, exit is chosen after it; LangGraph may choose several at once

    fill it in   grep -rn 'Fill in' ./workflows/my_agent
    check it     groundstate workflow check my_agent
    try it       groundstate workflow try my_agent
    ");
    let checked = run(&["workflow", "check", "my_agent"]).await;
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(checked.stdout, @"
    my_agent
      takes    {message: text}
      gives    {agent: text}
      asks     router, writer
      samples  1 sample, 2 requests to stand-ins
    ");
    let tried = run(&["workflow", "try", "my_agent"]).await;
    insta::assert_snapshot!(tried.stdout, @r#"
    agent_loop[0].agent
        what agent gives
    agent_loop[0].agent_route
        {"next":"exit"}
    accepted as `finished`
    {
      "agent": "what agent gives"
    }
    "#);
    let again = run(&["workflow", "import", "langgraph", "My-Agent.mmd"]).await;
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    let unnamed = run(&["workflow", "import", "langgraph", "My-Agent.mmd", "--name", "../x"]).await;
    assert!(unnamed.stderr.starts_with("--name: `../x` is not a name"), "{}", unnamed.stderr);
    std::fs::write(
        folder.path().join("broken.json"),
        r#"{"nodes": [{"id": "__start__"}], "edges": [{"source": "__start__", "target": "agent"}]}"#,
    )
    .unwrap();
    let broken = run(&["workflow", "import", "langgraph", "broken.json"]).await;
    assert_eq!(broken.code, Some(2));
    insta::assert_snapshot!(broken.stderr, @"
    broken.json: edges[0].target: there is no node `agent`
    1 problem found; nothing was done
    ");
    let missing = run(&["workflow", "import", "langgraph", "none.json"]).await;
    assert_eq!(missing.code, Some(2));
    assert!(!folder.path().join("workflows/broken").exists());
}
