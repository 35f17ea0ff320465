//! `groundstate judge` and `groundstate calibrate`, over a run that was played.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use serde_json::Value;
use sqlx::PgPool;

use super::{CommandOutput, Project, database_url, said};
use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HELP, played};
use crate::support::process::{groundstate, pid};
use crate::support::until;

async fn run(pool: &PgPool, project: &Project, arguments: &str) -> CommandOutput {
    said(project.groundstate(arguments).env("DATABASE_URL", database_url(pool))).await
}

/// A text with its ids left out.
fn redacted(text: &str) -> String {
    let id = |word: &str| word.len() == 36 && word.matches('-').count() == 4;
    let line =
        |line: &str| line.split(' ').map(|word| if id(word) { "[id]" } else { word }).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_judged_again_and_compared(pool: PgPool) {
    let project = Project::new();
    played(&pool, &[HELP], 3, 1, &[]).await;
    let endpoint = Endpoint::start(|_| says(&verdict().to_string())).await;
    let dry = run(&pool, &project, &format!("judge --judge {} --dry-run", endpoint.model())).await;
    assert_eq!(dry.code, Some(0), "{}", dry.stderr);
    assert!(dry.stdout.starts_with("would judge 3 conversations of run"), "{}", dry.stdout);
    let judged: i64 = sqlx::query_scalar("SELECT count(*) FROM judgings").fetch_one(&pool).await.unwrap();
    assert_eq!(judged, 1, "the run's own");
    let said = run(&pool, &project, &format!("judge --judge {}", endpoint.model())).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    insta::assert_snapshot!(redacted(&said.stdout), @"
    judging      [id] of run [id]
    judged       3
    accepted     3 (before 3): 0 more, 0 no longer
    mean score by criterion, 0 to 10:  before    now
      communication_quality              9.00   8.00
      consistency                        9.00   8.00
      error_handling                     9.00   8.00
      goal_achievement                   9.00   8.00
      reasoning_hallucination            9.00   8.00
      reasoning_quality                  9.00   8.00
      tool_call_hallucination            9.00   8.00
      tool_usage                         9.00   8.00
    tokens       33 read, 21 written
    Export with these verdicts: groundstate export --run [id] --judging [id] --out rows.jsonl
    ");
    let rows = run(&pool, &project, "export --judging last --out again.jsonl").await;
    assert_eq!((rows.code, rows.stdout.as_str()), (Some(0), "3 rows in again.jsonl\n"), "{}", rows.stderr);
}

#[sqlx::test(migrations = "../migrations")]
async fn flags_of_judge_that_cannot_be(pool: PgPool) {
    let project = Project::new();
    let mut all = String::new();
    for arguments in [
        "judge",
        "judge --judge scripted --judge gpt@http://localhost:1/v1",
        "judge --resume 0199fe00-0000-7000-8000-000000000000",
        "judge --resume last",
        "calibrate sheet",
        "calibrate report nothing.csv",
    ] {
        let said = run(&pool, &project, arguments).await;
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{arguments}: {}", said.stderr);
        writeln!(all, "{arguments}\n{}", said.stderr.trim()).unwrap();
    }
    insta::assert_snapshot!(all, @"
    judge
    --run: there is no run yet
    1 problem found; nothing was done
    judge --judge scripted --judge gpt@http://localhost:1/v1
    --judge: `scripted` is not a model and cannot be on a panel
    1 problem found; nothing was done
    judge --resume 0199fe00-0000-7000-8000-000000000000
    --resume: there is no judging 0199fe00-0000-7000-8000-000000000000
    1 problem found; nothing was done
    judge --resume last
    --resume: `last` is not the id of a judging
    1 problem found; nothing was done
    calibrate sheet
    --run: there is no run yet
    1 problem found; nothing was done
    calibrate report nothing.csv
    --run: there is no run yet
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn a_judge_of_the_agents_family_is_a_warning() {
    let arguments = "generate --dry-run --n 1 --agent org/Llama-3.1-8B@http://localhost:1/v1 --judge llama-70b@http://localhost:2/v1";
    let project = Project::new();
    let warned = said(&mut project.groundstate(arguments)).await;
    assert_eq!(warned.code, Some(0));
    insta::assert_snapshot!(warned.stderr, @"warning: the judge llama-70b@http://localhost:2/v1 and the agent are both of the family `llama`, and judges favour their own; choose another judge");
    let other = arguments.replace("llama-70b", "qwen3-32b");
    assert_eq!(said(&mut project.groundstate(&other)).await.stderr, "");
}

#[sqlx::test(migrations = "../migrations")]
async fn people_rate_and_scores_are_corrected_beside_the_raw_ones(pool: PgPool) {
    let project = Project::new();
    let player = played(&pool, &[HELP], 4, 1, &[]).await;
    let sheet = run(&pool, &project, "calibrate sheet --n 3 --out ratings.csv").await;
    assert_eq!(sheet.code, Some(0), "{}", sheet.stderr);
    let blank = std::fs::read_to_string(project.join("ratings.csv")).unwrap();
    assert_eq!(blank.lines().count(), 4);
    let again = run(&pool, &project, "calibrate sheet --n 3 --out ratings.csv").await;
    assert_eq!(again.code, Some(2), "what people filled in is not written over");

    // Two people give two points less than the scripted judge's 9, whatever is asked.
    let columns = blank.lines().next().unwrap().split(',').count();
    let mut rated = format!("{}\n", blank.lines().next().unwrap());
    for rater in ["ann", "ben"] {
        for line in blank.lines().skip(1) {
            let id = line.split(',').next().unwrap();
            writeln!(rated, "{id},{rater},{}yes", "7,".repeat(columns - 3)).unwrap();
        }
    }
    std::fs::write(project.join("ratings.csv"), rated).unwrap();
    let early = run(&pool, &project, "export --corrected --out rows.jsonl").await;
    assert_eq!(early.code, Some(2));
    assert!(early.stderr.contains("was never compared with people"), "{}", early.stderr);
    let report = run(&pool, &project, "calibrate report ratings.csv").await;
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    insta::assert_snapshot!(report.stdout, @"
    judge        default by scripted
    compared     3 conversations
    criterion                       n  people   judge    bias    error    rho  kappa  kappa of bands
    goal_achievement                3    7.00    9.00   +2.00     2.00      -   0.00            0.00
    tool_usage                      3    7.00    9.00   +2.00     2.00      -   0.00            0.00
    tool_call_hallucination         3    7.00    9.00   +2.00     2.00      -   0.00            0.00
    reasoning_quality               3    7.00    9.00   +2.00     2.00      -   0.00            0.00
    reasoning_hallucination         3    7.00    9.00   +2.00     2.00      -   0.00            0.00
    communication_quality           3    7.00    9.00   +2.00     2.00      -   0.00            0.00
    consistency                     3    7.00    9.00   +2.00     2.00      -   0.00            0.00
    error_handling                  3    7.00    9.00   +2.00     2.00      -   0.00            0.00
    overall                         3    7.00    9.00   +2.00     2.00      -   0.00            0.00
    goal achieved: agreed on 100 % of 3, kappa -
    overall by bands, people down, judge across:
             0-1   2-4   5-7   8-9    10
       0-1     0     0     0     0     0
       2-4     0     0     0     0     0
       5-7     0     0     0     3     0
       8-9     0     0     0     0     0
        10     0     0     0     0     0
    Rows with corrected scores beside the judge's own: groundstate export --corrected --out rows.jsonl
    ");
    let json = run(&pool, &project, "calibrate report ratings.csv --format json").await;
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["default"]["conversations"], 3);
    let kept: i64 = sqlx::query_scalar("SELECT count(*) FROM human_ratings").fetch_one(&pool).await.unwrap();
    assert_eq!(kept, 6, "one of each rater, however often it is read");

    let export = run(&pool, &project, "export --corrected --out rows.jsonl").await;
    assert_eq!(export.code, Some(0), "{}", export.stderr);
    let rows = std::fs::read_to_string(project.join("rows.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), usize::try_from(player.control.run.planned).unwrap());
    let row: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    let metadata = &row["metadata"];
    assert_eq!((&metadata["scores"]["consistency"], &metadata["overall"]), (&9.into(), &9.into()));
    assert_eq!(metadata["corrected_scores"]["consistency"], 7.0);
    assert_eq!(metadata["corrected_scores"]["overall"], 7.0);
}

#[sqlx::test(migrations = "../migrations")]
async fn ratings_that_cannot_be_read(pool: PgPool) {
    let project = Project::new();
    played(&pool, &[HELP], 1, 1, &[]).await;
    std::fs::write(project.join("ratings.csv"), "conversation,consistancy,overall\nfirst,11,4\n").unwrap();
    let said = run(&pool, &project, "calibrate report ratings.csv").await;
    assert_eq!(said.code, Some(2));
    insta::assert_snapshot!(said.stderr, @"
    ratings.csv:1: consistancy: is not a criterion of the judge (did you mean `consistency`?); columns are goal_achievement, tool_usage, tool_call_hallucination, reasoning_quality, reasoning_hallucination, communication_quality, consistency, error_handling, overall, goal_achieved, conversation, rater
    1 problem found; nothing was done
    ");
}

/// What judging again costs is the run's: at a cap it stops, says so, and goes on when the cap is raised.
#[sqlx::test(migrations = "../migrations")]
async fn judging_again_stops_at_the_budget_of_the_run(pool: PgPool) {
    let project = Project::new();
    let id = played(&pool, &[HELP], 4, 1, &[]).await.control.run.id;
    let endpoint = Endpoint::start(|_| says(&verdict().to_string())).await;
    // Each verdict takes 18 tokens.
    assert_eq!(run(&pool, &project, &format!("runs budget {id} --budget-tokens 30")).await.code, Some(0));
    let stopped = run(&pool, &project, &format!("judge --judge {} --concurrency 1", endpoint.model())).await;
    assert_eq!((stopped.code, stopped.stdout.as_str()), (Some(1), ""), "{}", stopped.stderr);
    insta::assert_snapshot!(redacted(&stopped.stderr), @"the budget of tokens is used up; raise that cap of the run, then resume the judging. Verdicts so far are kept. Raise it with: groundstate runs budget [id] --help. Then: groundstate judge --resume [id]");
    assert_eq!(endpoint.requests().len(), 2);
    let show = run(&pool, &project, &format!("runs show {id}")).await.stdout;
    let spent = show.lines().find(|line| line.contains(&endpoint.model())).unwrap();
    assert!(spent.contains("judge") && spent.contains("22") && spent.contains("14"), "{show}");
    assert_eq!(run(&pool, &project, &format!("runs budget {id}")).await.code, Some(0));
    let judging: uuid::Uuid =
        sqlx::query_scalar("SELECT id FROM judgings WHERE NOT original").fetch_one(&pool).await.unwrap();
    let whole = run(&pool, &project, &format!("judge --resume {judging}")).await;
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    assert!(whole.stdout.contains("judged       4\n"), "{}", whole.stdout);
    assert_eq!(endpoint.requests().len(), 4, "no conversation was judged twice");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_without_an_end_has_nothing_to_judge(pool: PgPool) {
    let project = Project::new();
    let detached = run(&pool, &project, &format!("generate --scenario {HELP} --n 2 --detach")).await;
    assert_eq!(detached.code, Some(0), "{}", detached.stderr);
    for arguments in ["judge --judge scripted", "judge --judge scripted --dry-run"] {
        let said = run(&pool, &project, arguments).await;
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let nothing = "There is nothing to judge: no conversation of run [id] has come to its end.";
        assert_eq!(redacted(&said.stdout), nothing);
    }
    let judgings: i64 = sqlx::query_scalar("SELECT count(*) FROM judgings").fetch_one(&pool).await.unwrap();
    assert_eq!(judgings, 1, "the run's own");
}

/// The job is cancelled then, so that nobody continues what somebody has just stopped.
#[sqlx::test(migrations = "../migrations")]
async fn ctrl_c_keeps_the_verdicts_so_far(pool: PgPool) {
    played(&pool, &[HELP], 4, 1, &[]).await;
    let endpoint = Endpoint::start_held(Duration::ZERO, |_| says(&verdict().to_string())).await;
    let arguments = ["judge", "--judge", &endpoint.model(), "--concurrency", "2"];
    let mut command = groundstate(&pool, &arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("two are asked at once", async || endpoint.requests().len() == 2).await;
    endpoint.answer_only(0..1);
    until("another one is asked", async || endpoint.requests().len() == 3).await;
    kill_process(pid(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().await.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &[][..]), "{stderr}");
    let (_, hint) = stderr.split_once("the verdicts so far are kept. Continue with: groundstate ").unwrap();
    let state: String = sqlx::query_scalar("SELECT state FROM jobs").fetch_one(&pool).await.unwrap();
    assert_eq!(state, "cancelled");
    endpoint.release();
    let resumed = run(&pool, &Project::new(), hint.trim()).await;
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert!(resumed.stdout.contains("judged       4\n"), "{}", resumed.stdout);
    assert_eq!(endpoint.requests().len(), 3 + 3, "of four, one had its verdict");
}
