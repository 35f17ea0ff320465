//! Ctrl-C in the middle of a run with a private PostgreSQL, and signals that come while nobody waits for them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group, test_kill_process};
use serde_json::Value;
use server::commands::interrupts::Interrupts;
use tokio::process::Child;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{Project, said};
use crate::support::agent;
use crate::support::endpoint::{Endpoint, silence};

const BOUND: Duration = Duration::from_mins(2);

/// As a terminal does it: to the program and all that it has started in its group.
fn press_ctrl_c(child: &Child) {
    let pid = Pid::from_raw(child.id().unwrap().cast_signed()).unwrap();
    kill_process_group(pid, Signal::INT).unwrap();
}

/// The process that holds this data directory's PostgreSQL.
fn postmaster(project: &Project) -> Pid {
    let text = fs::read_to_string(project.join("data/postgres/data/postmaster.pid")).unwrap();
    Pid::from_raw(text.lines().next().unwrap().parse().unwrap()).unwrap()
}

/// An orphan that has ended stays a zombie until init looks after it.
fn gone(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    test_kill_process(pid).is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
}

/// What the agent said in a row.
fn replies(row: &str) -> usize {
    let row: Value = serde_json::from_str(row).unwrap();
    row["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant").count()
}

#[tokio::test]
async fn ctrl_c_keeps_what_was_played_and_resume_finishes_it() {
    // The agent answers seven times, and then leaves everybody waiting until it is back.
    let (back, waiting) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let endpoint = Endpoint::start({
        let (asked, back, waiting) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&back), Arc::clone(&waiting));
        move |request| {
            if asked.fetch_add(1, Ordering::Relaxed) < 7 || back.load(Ordering::Relaxed) {
                return agent::help(request);
            }
            waiting.notify_one();
            silence()
        }
    })
    .await;
    let project = Project::new();
    // Readable by PostgreSQL's user too, who is not root.
    fs::set_permissions(project.path(), Permissions::from_mode(0o755)).unwrap();
    let mut child = project
        .groundstate(
            "generate --playbook retail_bank --scenario help_card_abroad --n 6 --concurrency 2 --data-dir data --agent",
        )
        .arg(endpoint.model())
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    tokio::select! {
        () = waiting.notified() => {}
        status = child.wait() => panic!("ended by itself: {status:?}"),
        () = tokio::time::sleep(BOUND) => panic!("the agent was not asked"),
    }
    let postmaster = postmaster(&project);
    press_ctrl_c(&child);
    let output = timeout(BOUND, child.wait_with_output()).await.unwrap().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted; what was played is kept."), "{stderr}");
    let (_, hint) = stderr.split_once("Continue with: groundstate ").unwrap();
    assert!(gone(postmaster), "PostgreSQL runs on");
    assert!(!project.join("rows.jsonl").exists());

    // What was played is not played again: of all that is asked, only what was in flight is asked twice.
    let in_vain = endpoint.requests().len() - 7;
    assert!((1..=2).contains(&in_vain), "{in_vain}");
    back.store(true, Ordering::Relaxed);
    let resume = format!("{} --data-dir data", hint.trim());
    let said = said(&mut project.groundstate(&resume)).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("accepted     6 of 6"), "{}", said.stdout);
    let rows = fs::read_to_string(project.join("rows.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), 6);
    let heard: usize = rows.lines().map(replies).sum();
    assert_eq!(endpoint.requests().len(), heard + in_vain, "nothing was played twice");
    let audited = super::said(&mut project.groundstate("runs audit --data-dir data")).await;
    assert_eq!(audited.code, Some(0), "{}{}", audited.stdout, audited.stderr);
}

#[tokio::test]
async fn what_comes_while_nobody_waits_is_heard() {
    let mut interrupts = Interrupts::listen().unwrap();
    for signal in [Signal::INT, Signal::TERM] {
        kill_process(getpid(), signal).unwrap();
        // Others have their turn meanwhile, and nobody waits for it.
        tokio::time::sleep(Duration::from_millis(50)).await;
        timeout(Duration::from_mins(1), interrupts.next()).await.unwrap();
    }
}
