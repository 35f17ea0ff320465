//! `groundstate episodes`.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use domain::api::episodes::{Episode, EpisodeState};
use domain::outcome::Blame;
use reqwest::{Method, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::process::Command;
use tokio::time::timeout;

use super::worker::gone;
use super::{CommandOutput, groundstate, said};
use crate::http::TestApp;
use crate::http::archive::filled;
use crate::http::episodes::{self, SEED, events_of, scripted, words};
use crate::support::play::{HELP, TRANSFER};
use crate::support::{process, until};

const BOUND: Duration = Duration::from_mins(2);

/// The command, with the agent that it starts.
fn trial(app: &TestApp, arguments: &str, agent: &[&str]) -> Command {
    let mut command = groundstate(["episodes", "try", "--server", &app.url, "--token-env", "TOKEN_OF_A_PERSON"]);
    command.args(arguments.split_whitespace()).arg("--").args(agent).env("TOKEN_OF_A_PERSON", app.token());
    command
}

fn report(tried: &CommandOutput) -> Value {
    serde_json::from_str(&tried.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", tried.stdout, tried.stderr))
}

/// The processes that a file names.
fn pids(file: &Path) -> Vec<Pid> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_command_gets_the_token_of_its_episode_and_no_other(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = process::play(&pool);
    let seen = tempfile::tempdir().unwrap();
    let file = seen.path().join("environment");
    let script = format!("env > '{}'", file.display());
    let mut command = trial(&app, "--environment retail_bank -n 1", &["bash", "-c", &script]);
    command.env("KEY_OF_A_MODEL", "passed-on");
    for variable in ["DATABASE_URL", "GROUNDSTATE_JOIN_TOKEN", "GROUNDSTATE_OF_TOMORROW"] {
        command.env(variable, "withheld");
    }
    let tried = said(&mut command).await;
    assert_eq!(tried.code, Some(0), "{}{}", tried.stdout, tried.stderr);
    let environment = fs::read_to_string(file).unwrap();
    assert!(environment.contains("\nGROUNDSTATE_TOKEN=gse_") || environment.starts_with("GROUNDSTATE_TOKEN=gse_"));
    assert!(!environment.contains(app.token()) && !environment.contains("withheld"), "{environment}");
    assert!(environment.contains("KEY_OF_A_MODEL=passed-on"), "{environment}");
}

#[sqlx::test(migrations = "../migrations")]
async fn samples_of_a_start_are_a_group_of_the_report(pool: PgPool) {
    let app = episodes::filled(&pool).await;
    let expected = scripted(&pool, TRANSFER).await;
    let _player = process::play(&pool);
    let folder = tempfile::tempdir().unwrap();
    let (file, lazy) = (folder.path().join("words"), folder.path().join("lazy"));
    fs::write(&file, Value::from(words(&expected)).to_string()).unwrap();
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/episodes/agent.py");
    let played = async |arguments: &str| {
        let start = format!("--environment retail_bank --scenario {TRANSFER} --seed {SEED} --group 0 -n 1 {arguments}");
        let mut command = trial(&app, &start, &["python3", agent]);
        said(command.env("WORDS", &file).env("LAZY", &lazy)).await
    };
    let tried = played("--samples 3 --concurrency 2 --format json").await;
    assert_eq!(tried.code, Some(0), "{}{}", tried.stdout, tried.stderr);
    let report = report(&tried);
    let figure = |of: &Value, name: &str| of[name].as_f64().unwrap();
    for of in [&report["rewards"], &report["scenarios"][0], &report["groups"][0]] {
        assert_eq!((&of["episodes"], &of["scored"], &of["solved"]), (&json!(3), &json!(3), &json!(2)), "{report}");
        assert!((figure(of, "solve_rate") - 2.0 / 3.0).abs() < 1e-9, "{of}");
        assert!((figure(of, "reward_std") - (1.0_f64 / 3.0).sqrt()).abs() < 1e-9, "{of}");
    }
    let group = &report["groups"][0];
    assert_eq!((&group["scenario"], &group["group"], &group["dead"]), (&json!(TRANSFER), &json!(0), &json!(false)));
    assert_eq!(report["spread"], json!([0, 0, 0, 0, 0, 0, 1, 0, 0, 0]));
    assert_eq!(
        (&report["unplayed"], &report["problems"], &report["interrupted"]),
        (&json!([]), &json!([]), &json!(false))
    );
    assert_eq!(report["runs"], json!([group["run"]]));
    let mut rewards = Vec::new();
    for episode in report["episodes"].as_array().unwrap() {
        let (id, reward) = (episode["id"].as_str().unwrap(), &episode["result"]["reward"]);
        assert!(episode["trouble"].is_null() && tried.stderr.contains(id), "{episode} {}", tried.stderr);
        if *reward == json!(1) {
            assert_eq!(events_of(&pool, id.parse().unwrap()).await, expected, "the start of the run");
        }
        rewards.push(reward.to_string());
    }
    rewards.sort();
    assert_eq!(rewards, ["0", "1", "1"]);

    let tried = played("--samples 2").await;
    assert_eq!(tried.code, Some(0), "{}{}", tried.stdout, tried.stderr);
    let row = format!("{TRANSFER:40} {:>8} {:>8} {:>8} {:>6} {:>6}\n", 2, 2, 2, "1.00", "0.00");
    assert!(tried.stdout.contains(&row), "{}", tried.stdout);
    let groups = "groups       1, 1 of them with the same reward throughout\nby solve rate  90-100 %: 1\n";
    assert!(tried.stdout.contains(groups), "{}", tried.stdout);
    assert!(tried.stdout.contains("mean reward  1.0000 of 2 episodes with a reward\n"), "{}", tried.stdout);
}

#[sqlx::test(migrations = "../migrations")]
async fn an_episode_that_cannot_be_opened_does_not_stop_the_others(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = process::play(&pool);
    let small = json!({"playbooks": ["retail_bank"], "budget": {"conversations": 2}});
    let (status, answer) = app.send(Method::PUT, "/api/v1/projects/default/environments/small", &small).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    // A player may have paused the run meanwhile, and then that is said.
    let used_up = "budget of conversations is used up";
    let unplayed = |found: &Value| -> u64 {
        let reasons = found["unplayed"].as_array().unwrap();
        assert!(reasons.iter().all(|reason| reason["reason"].as_str().unwrap().contains(used_up)), "{found}");
        reasons.iter().map(|reason| reason["episodes"].as_u64().unwrap()).sum()
    };
    let tried = said(&mut trial(&app, "--environment small -n 4 --format json", &["true"])).await;
    assert_eq!(tried.code, Some(1), "{}{}", tried.stdout, tried.stderr);
    let found = report(&tried);
    assert_eq!((unplayed(&found), &found["rewards"]["scored"], &found["problems"]), (2, &json!(2), &json!([])));

    // It is not tried for ever.
    let tried = said(&mut trial(&app, "--environment small -n 100 --format json", &["true"])).await;
    assert_eq!(tried.code, Some(1), "{}{}", tried.stdout, tried.stderr);
    let found = report(&tried);
    let problem = found["problems"][0]["message"].as_str().unwrap();
    assert!(unplayed(&found) == 4 && problem.starts_with("5 requests in a row opened no episode: "), "{found}");
    let tried = said(&mut trial(&app, "--environment small -n 2", &["true"])).await;
    assert_eq!(tried.code, Some(1), "{}{}", tried.stdout, tried.stderr);
    assert_eq!(tried.stdout.matches("-  not played: ").count(), 2, "{}", tried.stdout);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_concerns_all_episodes_ends_the_trial(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = process::play(&pool);
    for (arguments, agent, argument, says) in [
        ("--environment retail_bnk", "true", "--environment", "retail_bnk"),
        ("--environment retail_bnk --seed 3", "true", "--environment", "retail_bnk"),
        ("--environment retail_bank --scenario help_card_abroat", "true", "--scenario", HELP),
        ("--environment retail_bank --to bank", "true", "--to", "bank"),
        ("--environment retail_bank --scenario x --group 999999 -n 2", "true", "--group", "at most 999999"),
        ("--environment retail_bank", "/no/such/agent", "COMMAND", "/no/such/agent cannot be started"),
    ] {
        let tried = said(&mut trial(&app, &format!("{arguments} --format json"), &[agent])).await;
        assert_eq!(tried.code, Some(2), "{arguments}: {}{}", tried.stdout, tried.stderr);
        let found = report(&tried);
        let problem = &found["problems"][0];
        assert_eq!(problem["file"], argument, "{arguments}: {found}");
        assert!(problem["message"].as_str().unwrap().contains(says), "{arguments}: {found}");
    }
    let text = said(&mut trial(&app, "--environment retail_bnk", &["true"])).await;
    assert_eq!((text.code, text.stdout.as_str()), (Some(2), ""), "{}", text.stderr);
    assert!(text.stderr.contains("--environment"), "{}", text.stderr);
    // The one whose command could not be started is given up.
    let ended = "SELECT blame FROM tasks WHERE outcome IS NOT NULL";
    until("nothing is open", async || {
        sqlx::query_scalar::<_, i64>("SELECT count(*) FROM tasks WHERE outcome IS NULL").fetch_one(&pool).await.unwrap()
            == 0
    })
    .await;
    let ended: Vec<String> = sqlx::query_scalar(ended).fetch_all(&pool).await.unwrap();
    assert_eq!(ended, ["infrastructure"]);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_command_that_does_not_end_is_stopped_with_all_that_it_has_started(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = process::play(&pool);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("processes");
    let script = format!("sleep 600 & echo $! $$ > '{}'; wait", file.display());
    let arguments = "--environment retail_bank -n 1 --timeout 3 --format json";
    let tried = said(&mut trial(&app, arguments, &["bash", "-c", &script])).await;
    assert_eq!(tried.code, Some(1), "no command came to a good end: {}{}", tried.stdout, tried.stderr);
    let found = report(&tried);
    let episode = &found["episodes"][0];
    assert_eq!(episode["trouble"], "the command was stopped after 3 seconds");
    let result = &episode["result"];
    assert_eq!(
        (&result["reward"], &result["ending"]),
        (&json!(0), &json!("agent_ended")),
        "it is verified as it stands"
    );
    let processes = pids(&file);
    assert_eq!(processes.len(), 2);
    until("all of it has ended", async || processes.iter().all(|pid| gone(*pid))).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn ctrl_c_stops_the_commands_and_gives_up_their_episodes(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = process::play(&pool);
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    // The first one ends at once, and the next two do not.
    let script =
        format!("mkdir '{at}/first' 2>/dev/null && exit; echo $$ > '{at}'/$GROUNDSTATE_EPISODE.pid; exec sleep 600");
    let mut command =
        trial(&app, "--environment retail_bank -n 9 --concurrency 2 --format json", &["bash", "-c", &script]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let running = || {
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "pid"));
        files
            .filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), *pids(&path).first()?)))
            .collect::<Vec<_>>()
    };
    until("two commands run", async || running().len() == 2).await;
    kill_process(process::pid(&child), Signal::INT).unwrap();
    let output = timeout(BOUND, child.wait_with_output()).await.unwrap().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let tried = CommandOutput { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
    assert_eq!(tried.code, Some(130), "{}{}", tried.stdout, tried.stderr);
    let found = report(&tried);
    assert_eq!((&found["interrupted"], &found["rewards"]["episodes"]), (&json!(true), &json!(1)), "{found}");
    for (episode, pid) in running() {
        until("the command has ended", async || gone(pid)).await;
        let ended: Episode = app.json(&format!("/api/v1/episodes/{episode}")).await;
        assert_eq!(ended.state, EpisodeState::Ended);
        let result = ended.result.unwrap();
        assert_eq!((result.reward, result.blame), (None, Some(Blame::Infrastructure)));
        assert_eq!(result.reason.as_deref(), Some("it was closed before its end"));
    }
    let open: i64 =
        sqlx::query_scalar("SELECT count(*) FROM tasks WHERE outcome IS NULL").fetch_one(&pool).await.unwrap();
    assert_eq!(open, 0, "nothing else was opened");
}

#[sqlx::test(migrations = "../migrations")]
async fn as_many_commands_run_at_once_as_are_wanted(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = process::play(&pool);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // Nobody ends before three have begun.
    let script = format!(
        "log='{}'; echo + >> $log; until [ $(grep -c + $log) -ge 3 ]; do sleep 0.1; done; sleep 0.2; echo - >> $log",
        log.display()
    );
    let arguments = "--environment retail_bank -n 7 --concurrency 3 --timeout 100 --format json";
    let tried = said(&mut trial(&app, arguments, &["bash", "-c", &script])).await;
    assert_eq!(tried.code, Some(0), "{}{}", tried.stdout, tried.stderr);
    let (mut running, mut most) = (0_i32, 0_i32);
    for line in fs::read_to_string(log).unwrap().lines() {
        running += if line == "+" { 1 } else { -1 };
        most = most.max(running);
    }
    assert_eq!((running, most), (0, 3));
    let found = report(&tried);
    assert_eq!(found["rewards"]["episodes"], 7);
    assert_eq!(found["groups"].as_array().unwrap().len(), 7, "each has a start of its own: {found}");
}
