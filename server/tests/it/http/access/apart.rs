//! Projects are apart: what is in one is in no list of another, and cannot be named there.

use domain::access::Role;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::things;
use crate::http::archive::filled;
use crate::http::somebody;

const LISTS: [&str; 13] = [
    "runs",
    "conversations",
    "corpora",
    "exports",
    "datasets",
    "datasets/uploads",
    "indexes",
    "jobs",
    "review-queues",
    "calibrations",
    "validations",
    "scenarios",
    "members",
];

#[sqlx::test(migrations = "../migrations")]
async fn nothing_of_one_project_is_in_another(pool: PgPool) {
    let app = filled(&pool).await;
    let author = app.member(Role::Author).await;
    somebody(&pool, "stranger", false).await;
    let things = things::made(&app, &author, "stranger").await;
    let of = |name: &str| things.iter().find(|(known, _)| *known == name).map(|(_, thing)| thing.clone()).unwrap();
    let (run, judging, corpus) = (of("{run}"), of("{judging}"), of("{corpus}"));
    let _: Value = app.post("/api/v1/projects", &json!({"name": "theirs"})).await;

    let rows = async |project: &str, list: &str| {
        let answer: Value = app.json(&format!("/api/v1/projects/{project}/{list}")).await;
        answer.get("items").unwrap_or(&answer).as_array().unwrap().len()
    };
    for list in LISTS {
        assert_ne!(rows("default", list).await, 0, "{list}: something of each kind is there");
        assert_eq!(rows("theirs", list).await, 0, "{list}");
    }

    // An administrator may look at both projects: what keeps them apart is not who asks.
    let export = |source: Value| json!({"source": source, "profile": "canonical"});
    let dataset = |source: Value| json!({"name": "d", "source": source});
    let queue = |what: &str, of: Value| json!({"name": "q", what: of});
    for (list, order, pointer) in [
        ("exports", export(json!({"run": {"id": run}})), "/source/run/id"),
        ("exports", export(json!({"corpus": {"id": corpus}})), "/source/corpus/id"),
        ("corpora", json!({"name": "c", "spec": {"filter": {"runs": [run]}}}), "/spec/filter/runs/0"),
        ("corpora", json!({"name": "c", "spec": {"filter": {"judging": judging}}}), "/spec/filter/judging"),
        ("datasets", dataset(json!({"run": {"id": run}})), "/source/run/id"),
        ("datasets", dataset(json!({"corpus": {"id": corpus}})), "/source/corpus/id"),
        ("datasets", dataset(json!({"export": {"id": of("{export}")}})), "/source/export/id"),
        ("datasets", dataset(json!({"upload": {"id": of("{upload}")}})), "/source/upload/id"),
        ("indexes", json!({"name": "i", "dataset": of("{dataset}")}), "/dataset"),
        ("calibrations", json!({"run": run}), "/run"),
        ("calibrations", json!({"judging": judging}), "/judging"),
        ("review-queues", queue("run", json!(run)), "/run"),
        ("review-queues", queue("corpus", json!(corpus)), "/corpus"),
        ("review-queues", queue("conversations", json!([of("{conversation}")])), "/conversations/0"),
    ] {
        let refused = app.refused(&format!("/api/v1/projects/theirs/{list}"), &order).await;
        let pointers: Vec<&str> = refused.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(pointers, [pointer], "{list} {order}: {refused:?}");
        assert_eq!(rows("theirs", list).await, 0, "{list} {order}");
    }
}
