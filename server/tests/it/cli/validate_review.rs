//! Models that vote on scenarios: what they change, what becomes of those that do not vote, and what is kept.

use axum::response::Response;
use domain::review::Question;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::validations::{self, Validation};
use strum::VariantArray;

use super::{CommandOutput, Project, database_url, said};
use crate::support::endpoint::{Endpoint, nobody, says, status};

const RENT: &str = "scenarios/retail_bank/transfer_rent_to_payee.yaml";

/// The first so many scenarios, and the rent's.
fn project(others: usize) -> Project {
    let project = Project::new();
    let folder = project.join("scenarios/retail_bank");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| *path != project.join(RENT));
    paths.iter().skip(others).for_each(|path| std::fs::remove_file(path).unwrap());
    project
}

/// A reviewer's answers; those to these questions are no.
fn answers(no: &[Question]) -> String {
    let answers = Question::VARIANTS.iter().map(|question| {
        let passed = !no.contains(question);
        let reason = if passed { "fine" } else { "`daily_transfer_limit` is\nbelow the rent" };
        json!({"question": question, "passed": passed, "reason": reason})
    });
    let answers: Vec<Value> = answers.collect();
    json!({"answers": answers}).to_string()
}

/// A model of this name.
struct Reviewer {
    endpoint: Endpoint,
    spec: String,
}

async fn reviewer(name: &str, answer: impl Fn(&Value) -> Response + Clone + Send + Sync + 'static) -> Reviewer {
    let endpoint = Endpoint::start(answer).await;
    let spec = endpoint.model().replace("test-model", name);
    Reviewer { endpoint, spec }
}

async fn content(name: &str) -> Reviewer {
    reviewer(name, |_| says(&answers(&[]))).await
}

async fn validated(project: &Project, models: &[&Reviewer], flags: &str) -> CommandOutput {
    let models: Vec<String> = models.iter().map(|reviewer| format!("--model {}", reviewer.spec)).collect();
    said(&mut project.groundstate(&format!("validate {} {flags}", models.join(" ")))).await
}

#[tokio::test]
async fn content_models_leave_nothing_to_mend() {
    let project = project(1);
    let (ada, ben) = (content("ada").await, content("ben").await);
    let found = validated(&project, &[&ada, &ben], "").await;
    assert_eq!((found.code, found.stderr.lines().last()), (Some(0), Some("4/4 votes")));
    insta::assert_snapshot!(found.stdout, @"
    2 scenarios reviewed: 4 of 4 votes, 24 of 24 answers were yes (a question passes from 0.66 on)

    1 playbooks, 2 scenarios (each proved solvable), 8 persona profiles, 1 judges: no problem found
    ");
    let requests = ada.endpoint.requests();
    assert_eq!(requests.len(), 2);
    let prompt = requests[0]["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("You review test cases") && prompt.contains("user_mistakes"), "{prompt}");

    let one = validated(&project, &[&ada], "--scenario transfer_rent_to_payee").await;
    assert_eq!((one.code, ada.endpoint.requests().len()), (Some(0), 3));
    let none = validated(&project, &[&ada], "--scenario transfer_rent").await;
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("--scenario: there is no scenario `transfer_rent` (did you mean"), "{}", none.stderr);
}

#[tokio::test]
async fn a_minority_is_heard_at_its_ratio() {
    let project = project(0);
    let (ada, ben) = (content("ada").await, content("ben").await);
    let cem = reviewer("cem", |_| says(&answers(&[Question::Achievable, Question::PersonaFit]))).await;
    let models = [&ada, &ben, &cem];
    let passes = validated(&project, &models, "--pass-ratio 0.66").await;
    assert_eq!(passes.code, Some(0), "{}", passes.stdout);
    let fails = validated(&project, &models, "--pass-ratio 1.0").await;
    assert_eq!(fails.code, Some(1));
    insta::assert_snapshot!(fails.stdout, @"
    scenarios/retail_bank/transfer_rent_to_payee.yaml
      1: warning: personas: 1 of 3 models says no; cem: `daily_transfer_limit` is below the rent [unfitting-persona]
      48: error: user_goal: 1 of 3 models says no; cem: `daily_transfer_limit` is below the rent [unachievable-goal]

    1 scenarios reviewed: 3 of 3 votes, 16 of 18 answers were yes (a question passes from 1 on)

    1 playbooks, 1 scenarios (each proved solvable), 8 persona profiles, 1 judges: 1 error, 1 warning
    ");

    let json = validated(&project, &models, "--pass-ratio 1 --format json").await;
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    insta::assert_snapshot!(json["counts"], @r#"{"critical":0,"error":1,"info":0,"warning":1}"#);
    insta::assert_snapshot!(json["reviews"][0]["votes"][2]["answers"][0], @r#"{"question":"achievable","passed":false,"reason":"`daily_transfer_limit` is below the rent"}"#);

    let sarif = validated(&project, &models, "--pass-ratio 1 --format sarif").await;
    let sarif: Value = serde_json::from_str(&sarif.stdout).unwrap();
    let schema: Value = serde_json::from_str(include_str!("findings/sarif.json")).unwrap();
    let valid = jsonschema::validator_for(&schema).unwrap();
    assert_eq!(valid.iter_errors(&sarif).map(|e| e.to_string()).collect::<Vec<_>>(), Vec::<String>::new());
    let run = &sarif["runs"][0];
    let results = run["results"].as_array().unwrap().iter();
    insta::assert_snapshot!(results.map(|r| format!("{} {}", r["ruleId"], r["level"])).collect::<Vec<_>>().join("\n"), @r#"
    "unfitting-persona" "warning"
    "unachievable-goal" "error"
    "#);
    assert!(run["tool"]["driver"]["rules"].to_string().contains("missing-vote"));
    assert_eq!(run["properties"]["reviews"][0]["votes"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn unsound_scenarios_are_shown_to_nobody() {
    let project = project(0);
    project.edit(RENT, "intent: money_transfer", "intent: money_transfr");
    let ada = content("ada").await;
    let found = validated(&project, &[&ada], "").await;
    assert_eq!((found.code, ada.endpoint.requests().len()), (Some(1), 0), "{}", found.stdout);
}

#[tokio::test]
async fn who_does_not_vote_is_named_and_does_not_count() {
    let project = project(0);
    let ada = content("ada").await;
    let mumbler = reviewer("mumbler", |_| says("Looks good to me!")).await;
    let down = Reviewer { spec: nobody().replace("test-model", "down"), ..content("x").await };
    let found = validated(&project, &[&ada, &mumbler, &down], "--pass-ratio 1").await;
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    let port = down.spec.rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    insta::assert_snapshot!(found.stdout.replace(&port, "PORT"), @"
    scenarios/retail_bank/transfer_rent_to_payee.yaml
      1: info: id: down did not vote: down@http://127.0.0.1:PORT/v1: cannot be reached (Connection refused (os error 111)); check that the server runs and that the base URL is right (attempts: 5) [missing-vote]
      1: info: id: mumbler did not vote: its reply was no vote, twice: not JSON: expected value at line 1 column 1; not JSON: expected value at line 1 column 1 [missing-vote]

    1 scenarios reviewed: 1 of 3 votes, 6 of 6 answers were yes (a question passes from 1 on)

    1 playbooks, 1 scenarios (each proved solvable), 8 persona profiles, 1 judges: 2 info
    ");
    let asked = mumbler.endpoint.requests();
    assert_eq!(asked.len(), 2);
    let again = asked[1]["messages"].as_array().unwrap().last().unwrap();
    insta::assert_snapshot!(again["content"].as_str().unwrap(), @"That was refused: not JSON: expected value at line 1 column 1. Try again.");
    let strict = validated(&project, &[&ada, &mumbler], "--strict").await;
    assert_eq!(strict.code, Some(0), "what is only worth knowing fails nothing");
}

#[tokio::test]
async fn a_second_reply_may_be_a_vote() {
    let first = |request: &Value| request["messages"].as_array().unwrap().len() == 1;
    let slow = reviewer("slow", move |r| says(&if first(r) { "Hm.".to_owned() } else { answers(&[]) })).await;
    let found = validated(&project(0), &[&slow], "").await;
    assert_eq!((found.code, slow.endpoint.requests().len()), (Some(0), 2));
}

#[tokio::test]
async fn without_any_vote_nothing_was_reviewed() {
    let refuses = reviewer("locked", |_| status(401)).await;
    let found = validated(&project(1), &[&refuses], "").await;
    assert_eq!(found.code, Some(2));
    assert!(found.stderr.contains("--model: no model voted on any scenario: locked@http"), "{}", found.stderr);
    assert!(found.stderr.contains("answered 401"), "{}", found.stderr);
    assert!(found.stdout.contains("[missing-vote]"), "{}", found.stdout);
}

#[tokio::test]
async fn models_that_cannot_review_are_refused_before_anything_is_asked() {
    let flags = "validate --model scripted --model nonsense --model a@http://x/v1 --model a@http://x/v1";
    let refused = said(&mut project(0).groundstate(flags)).await;
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(refused.stderr, @"
    --model: `scripted` only plays what scenarios say: name a model as NAME@BASE_URL or NAME@BASE_URL@KEY_VARIABLE, e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY, or one of models.yaml
    --model: no model is named `nonsense`; add it to models.yaml, which names none, or give NAME@BASE_URL
    --model: `a@http://x/v1` is named twice; its vote would count twice
    3 problems found; nothing was done
    ");
    let lonely = said(&mut project(0).groundstate("validate --scenario transfer_rent_to_payee")).await;
    assert_eq!(lonely.code, Some(2));
    assert!(lonely.stderr.contains("--model <MODEL>"), "{}", lonely.stderr);
}

#[tokio::test]
async fn a_reviewer_may_be_one_of_models_yaml() {
    let project = project(1);
    let ada = content("ada").await;
    let url = ada.spec.strip_prefix("ada@").unwrap();
    let models = format!("models:\n- name: reader\n  model: ada\n  replicas: [\"{url}\"]\n");
    std::fs::write(project.join("models.yaml"), models).unwrap();
    let found = said(&mut project.groundstate("validate --model reader")).await;
    assert_eq!((found.code, found.stderr.lines().last()), (Some(0), Some("2/2 votes")), "{}", found.stdout);
    assert_eq!(ada.endpoint.requests()[0]["model"], "ada");
    let typo = said(&mut project.groundstate("validate --model raeder")).await;
    assert_eq!(typo.code, Some(2));
    assert!(typo.stderr.contains("did you mean `reader`"), "{}", typo.stderr);
}

#[sqlx::test(migrations = "../migrations")]
async fn validations_are_kept_one_after_another(pool: PgPool) {
    let project = project(0);
    let ada = reviewer("ada", |_| says(&answers(&[Question::Consistent]))).await;
    let save = async |models: String| {
        let mut command = project.groundstate(&format!("validate --save {models}"));
        said(command.env("DATABASE_URL", database_url(&pool))).await
    };
    let latest = async || -> Validation {
        let mut db = pool.acquire().await.unwrap();
        let library = sqlx::query_scalar::<_, String>("SELECT hash FROM libraries").fetch_one(&mut *db).await.unwrap();
        validations::latest(&mut db, &library).await.unwrap().unwrap()
    };
    let first = save(String::new()).await;
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let kept = latest().await;
    assert_eq!(first.stderr.trim(), format!("validation {} is stored", kept.id));
    assert_eq!((kept.sound, kept.reviews.clone()), (true, json!([])));

    let second = save(format!("--model {}", ada.spec)).await;
    assert_eq!(second.code, Some(1), "{}", second.stderr);
    let kept = latest().await;
    assert!(second.stderr.contains(&kept.id.to_string()), "{}", second.stderr);
    assert_eq!((kept.sound, kept.critical, kept.errors, kept.warnings, kept.infos), (false, 0, 1, 0, 0));
    assert_eq!(kept.options["models"], json!([ada.spec]));
    insta::assert_snapshot!(kept.options["pass_ratio"], @"0.66");
    insta::assert_snapshot!(kept.findings[0], @r#"{"file":"scenarios/retail_bank/transfer_rent_to_payee.yaml","line":16,"rule":"inconsistent-facts","field":"system_facts","grade":"error","message":"1 of 1 models says no; ada: `daily_transfer_limit` is below the rent"}"#);
    assert_eq!(kept.reviews[0]["votes"][0]["answers"].as_array().unwrap().len(), 6);

    save(format!("--model {}", ada.spec)).await;
    let count = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM validations").fetch_one(&pool).await.unwrap();
    assert_eq!(count, 3);
    let changed = sqlx::query("UPDATE validations SET sound = true").execute(&pool).await.unwrap_err();
    assert!(changed.to_string().contains("only appended"), "{changed}");
}
