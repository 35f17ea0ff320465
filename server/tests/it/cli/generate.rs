//! `generate`, `export` and `--resume` over a database that is there already.

use server::commands::generate::solve_rates::SolveRates;
use sqlx::PgPool;
use uuid::Uuid;

use super::{Project, database_url, groundstate, said};
use crate::support::play::planned;
use crate::support::play::{HANDOVER, HELP};

/// A text without what differs from run to run: the run's id, the speed, the place.
fn redacted(text: &str, run: Uuid, project: &Project) -> String {
    let text = text.replace(&run.to_string(), "[run]").replace(&project.path().display().to_string(), "[project]");
    let line =
        |line: &str| if line.starts_with("speed ") { "speed        [speed]".to_owned() } else { line.to_owned() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

async fn latest(pool: &PgPool) -> Uuid {
    sqlx::query_scalar("SELECT id FROM runs ORDER BY id DESC LIMIT 1").fetch_one(pool).await.unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_from_documents_to_rows(pool: PgPool) {
    let project = Project::new();
    let arguments = "generate --playbook retail_bank --scenario help_card_abroad --scenario bereavement_handover --n 4";
    let said = said(project.groundstate(arguments).env("DATABASE_URL", database_url(&pool))).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let run = latest(&pool).await;
    insta::assert_snapshot!(redacted(&said.stdout, run, &project), @"
    run          [run]
    played       4
    accepted     4 of 4
    failures     none
    speed        [speed]
    mean score by criterion, 0 to 10:
      goal_achievement          9.00
      tool_usage                9.00
      tool_call_hallucination   9.00
      reasoning_quality         9.00
      reasoning_hallucination   9.00
      communication_quality     9.00
      consistency               9.00
      error_handling            9.00
    outcomes by persona:      played  accepted  failed by agent  user walked out  turns  overall
      busy_professional            2         2                0                0    2.0     9.00
      careful_pensioner            1         1                0                0    3.0     9.00
      small_business_owner         1         1                0                0    2.0     9.00
    rows         4 in [project]/rows.jsonl
    note         played from the script, without a model: simulated user, agent, tool simulator, state manager, judge
    ");
    assert!(said.stderr.ends_with("4/4 conversations, 4 accepted\n"), "{}", said.stderr);
    let rows = std::fs::read_to_string(project.join("rows.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), 4);

    let mut export = project.groundstate("export --out again.jsonl");
    let said = super::said(export.env("DATABASE_URL", database_url(&pool))).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "4 rows in again.jsonl\n"), "{}", said.stderr);
    assert_eq!(std::fs::read_to_string(project.join("again.jsonl")).unwrap(), rows);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_resumed_by_its_id_from_anywhere(pool: PgPool) {
    let player = planned(&pool, &[HELP, HANDOVER], 3, 1, &[]).await;
    planned(&pool, &[HELP], 3, 1, &[]).await;
    let dir = tempfile::tempdir().unwrap();
    let mut command = groundstate(["generate", "--resume", &player.control.run.id.to_string()]);
    let said = said(command.env("DATABASE_URL", database_url(&pool)).current_dir(dir.path())).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("accepted     3 of 3"), "{}", said.stdout);
    let other: i64 =
        sqlx::query_scalar("SELECT count(*) FROM runs WHERE next_position = 0").fetch_one(&pool).await.unwrap();
    assert_eq!(other, 1, "the other run was not meant");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_that_no_model_answered_is_a_failure(pool: PgPool) {
    let project = Project::new();
    let arguments = "generate --playbook retail_bank --scenario help_card_abroad --n 1 --retries 0 \
                     --agent m@http://127.0.0.1:9/v1";
    // A variable that is set to nothing is as good as none.
    let mut command = project.groundstate(arguments);
    let said = said(command.env("DATABASE_URL", database_url(&pool)).env("GROUNDSTATE_DATA", "")).await;
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stdout.contains("no conversation could be used: m@http://127.0.0.1:9/v1"), "{}", said.stdout);
    assert!(said.stdout.contains("cannot be reached"), "{}", said.stdout);
}

#[sqlx::test(migrations = "../migrations")]
async fn runs_that_cannot_be_resumed(pool: PgPool) {
    let project = Project::new();
    let mut all = String::new();
    for wanted in ["", "latest", "0199fe00-0000-7000-8000-000000000000"] {
        let mut command = project.groundstate(&format!("generate --resume {wanted}"));
        let said = said(command.env("DATABASE_URL", database_url(&pool))).await;
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.stderr);
        all += &said.stderr;
    }
    insta::assert_snapshot!(all, @"
    --resume: nothing to resume: every run is finished
    1 problem found; nothing was done
    --resume: `latest` is not a run id
    1 problem found; nothing was done
    --resume: there is no run 0199fe00-0000-7000-8000-000000000000
    1 problem found; nothing was done
    ");
}

#[sqlx::test(migrations = "../migrations")]
async fn faults_of_a_run(pool: PgPool) {
    let project = Project::new();
    let arguments = "generate --playbook retail_bank --n 24 --faults faults.yaml";
    std::fs::write(project.join("faults.yaml"), "faults: [{kind: timout}, {kind: timeout, tools: [get_acount]}]")
        .unwrap();
    let said = said(project.groundstate(arguments).env("DATABASE_URL", database_url(&pool))).await;
    assert_eq!(said.code, Some(2));
    insta::assert_snapshot!(said.stderr, @"
    faults.yaml:1: faults[0].kind: expected one of timeout, rate_limit, server_error, malformed_json, truncated_body, stale_read, outage, found text `timout` (did you mean `timeout`?)
    1 problem found; nothing was done
    ");
    std::fs::write(project.join("faults.yaml"), "faults: [{kind: timeout, probability: 0.3}]").unwrap();
    let said = super::said(project.groundstate(arguments).env("DATABASE_URL", database_url(&pool))).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("accepted     24 of 24"), "the script repeats what failed: {}", said.stdout);
    let rows = std::fs::read_to_string(project.join("rows.jsonl")).unwrap();
    assert!(rows.contains("Error: the request timed out"));
    assert!(rows.contains(r#""rule":"recovery","passed":true"#));
}

#[test]
fn a_band_is_a_run_and_two_rates() {
    let band = |text: &str| text.parse::<SolveRates>();
    assert_eq!(band("last=0.2..0.8"), Ok(SolveRates { run: None, band: 0.2..=0.8 }));
    assert_eq!(band("an-id=0..1"), Ok(SolveRates { run: Some("an-id".to_owned()), band: 0.0..=1.0 }));
    let expected = "expected RUN=MIN..MAX with numbers from 0 to 1, such as last=0.2..0.8";
    for wrong in ["", "last", "0.2..0.8", "last=0.2", "last=0.2..2", "last=-1..1", "last=NaN..1"] {
        assert_eq!(band(wrong), Err(expected.to_owned()), "{wrong}");
    }
    assert_eq!(band("last=0.8..0.2"), Err("nothing is at least 0.8 and at most 0.2".to_owned()));
}
