//! What becomes of work that exceeds a limit, and of everybody else's meanwhile.
#![expect(clippy::expect_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

use std::sync::Arc;

use parking_lot::Mutex;
use sandbox::{Failure, Limit, Sandbox, Work};
use serde_json::{Value, json};
use uuid::Uuid;

#[path = "../examples/worker.rs"]
mod worker;
use worker::{Misbehave, Oversleep};

fn sandbox() -> Sandbox {
    let own = std::env::current_exe().expect("this program has a path");
    let folder = own.parent().and_then(|deps| deps.parent()).expect("it stands in target/PROFILE/deps");
    Sandbox::of_program(folder.join("examples/worker"))
}

const PROJECT: Uuid = Uuid::from_u128(1);

async fn failure(work: Misbehave) -> Failure {
    sandbox().run(PROJECT, work).await.expect_err("it fails")
}

#[tokio::test]
async fn each_limit_ends_the_process_and_is_named() {
    let cpu = Misbehave::LIMITS.cpu;
    let limit = async |work| match failure(work).await {
        Failure::Exceeded(limit) => limit,
        failure => panic!("{failure}"),
    };
    assert_eq!(limit(Misbehave::Loop).await, Limit::Cpu(cpu));
    assert_eq!(limit(Misbehave::FillMemory).await, Limit::Memory);
    assert_eq!(limit(Misbehave::Recurse).await, Limit::Stack);
    assert_eq!(limit(Misbehave::AnswerTooMuch).await, Limit::Answer);
    let late = sandbox().run(PROJECT, Oversleep).await;
    assert!(matches!(late, Err(Failure::Exceeded(Limit::Wall(most))) if most == Oversleep::LIMITS.wall));
}

#[tokio::test]
async fn faults_of_the_program_are_told_apart() {
    for (work, says) in [(Misbehave::Panic, "panicked: as asked"), (Misbehave::Abort, "signal: 6")] {
        let failure = failure(work).await;
        assert!(matches!(&failure, Failure::Broken(why) if why.contains(says)), "{failure}");
    }
}

#[tokio::test]
async fn nothing_can_be_opened_and_nothing_is_inherited() {
    let sandbox = sandbox();
    let said = async |work| sandbox.run(PROJECT, work).await.expect("it answers");
    for work in [Misbehave::OpenFile, Misbehave::Connect] {
        let said = said(work).await;
        assert!(said.contains("Too many open files"), "{said}");
    }
    assert_eq!(said(Misbehave::TellVariables).await, "MIMALLOC_ARENA_RESERVE ");
}

#[tokio::test]
async fn a_process_serves_again_and_one_that_ended_is_replaced() {
    let sandbox = sandbox();
    for n in 0..3 {
        assert_eq!(sandbox.run(PROJECT, Misbehave::Behave(n)).await.expect("it answers"), n.to_string());
        sandbox.run(PROJECT, Misbehave::Abort).await.expect_err("it ends");
    }
}

#[tokio::test]
async fn one_project_does_not_keep_others_waiting() {
    let sandbox = sandbox();
    let busy: Vec<_> = (0..8)
        .map(|_| {
            let sandbox = sandbox.clone();
            tokio::spawn(async move { sandbox.run(PROJECT, Misbehave::Loop).await })
        })
        .collect();
    tokio::task::yield_now().await;
    let other = sandbox.run(Uuid::from_u128(2), Misbehave::Behave(1)).await;
    assert_eq!(other.expect("it answers"), "1");
    assert!(busy.iter().all(|one| !one.is_finished()), "the others are still at it");
    busy.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn progress_is_heard() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&heard);
    let hear = move |value: Value| all.lock().push(value);
    sandbox().run_reporting(PROJECT, Misbehave::Report, hear).await.expect("it answers");
    assert_eq!(*heard.lock(), [json!({"done": 1})]);
}
