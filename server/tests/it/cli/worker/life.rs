//! A worker joins, serves, does what people want, and leaves.

use domain::api::workers::{Engine, WorkerOrder, WorkerState};
use rustix::process::Signal;

use super::{Worker, engine, gone};

#[tokio::test]
async fn it_joins_serves_and_leaves_when_it_has_ended_its_work() {
    let mut worker = Worker::ready().await;
    {
        let heard = worker.pool.heard();
        let join = &heard.joins[0];
        assert_eq!((join.name.as_str(), join.model.as_str(), join.engine), ("w1", "small", Engine::Vllm));
        assert!(join.url.starts_with("http://127.0.0.1:") && join.url.ends_with("/v1"), "{}", join.url);
    }
    worker.engine_is("running", "3");
    let beat = worker.until_beat("its load", |beat| beat.load.running == Some(3)).await;
    assert_eq!((beat.state, beat.load.waiting, beat.restarts, beat.detail), (WorkerState::Ready, Some(0), 0, None));

    worker.signal(Signal::TERM);
    for _ in 0..3 {
        worker.until_state(WorkerState::Draining).await;
    }
    let pid = worker.engines()[0];
    assert!(worker.pool.heard().left.is_empty() && !gone(pid), "it did not wait for what was begun");
    worker.engine_is("running", "0");
    assert_eq!(worker.ended().await, Some(0), "{}", worker.log());
    assert_eq!(worker.pool.heard().left, [1]);
    assert!(gone(pid), "the engine runs on");
    let log = worker.log();
    let said = ["joined the pool of `small` as worker 1", "healthy after", "draining", "left the pool"];
    assert!(said.iter().all(|said| log.contains(said)), "{log}");
}

#[tokio::test]
async fn a_second_signal_leaves_at_once() {
    let mut worker = Worker::ready().await;
    worker.engine_is("running", "3");
    worker.until_beat("its load", |beat| beat.load.running == Some(3)).await;
    worker.signal(Signal::INT);
    worker.until_state(WorkerState::Draining).await;
    worker.signal(Signal::INT);
    assert_eq!(worker.ended().await, Some(0), "{}", worker.log());
    assert_eq!(worker.pool.heard().left, [1]);
    // It was killed; nobody waited until it was dead.
    worker.until("the engine's end", |worker| gone(worker.engines()[0]).then_some(())).await;
}

#[tokio::test]
async fn it_drains_when_it_is_ordered_to() {
    let mut worker = Worker::ready().await;
    worker.pool.heard().order = WorkerOrder::Drain;
    worker.until_state(WorkerState::Draining).await;
    assert_eq!(worker.ended().await, Some(0), "{}", worker.log());
    assert_eq!(worker.pool.heard().left, [1]);
}

#[tokio::test]
async fn a_restart_that_was_ordered_waits_for_what_was_begun() {
    let worker = Worker::ready().await;
    worker.engine_is("running", "2");
    worker.until_beat("its load", |beat| beat.load.running == Some(2)).await;
    worker.pool.heard().order = WorkerOrder::Restart;
    for _ in 0..3 {
        worker.until_state(WorkerState::Draining).await;
    }
    assert_eq!(worker.engines().len(), 1, "it did not wait");
    worker.engine_is("running", "0");
    worker.until_state(WorkerState::Starting).await;
    let beat = worker.until_state(WorkerState::Ready).await;
    // The order stands until it is taken back, and is followed once.
    worker.until_state(WorkerState::Ready).await;
    assert_eq!((worker.engines().len(), beat.restarts), (2, 0));
    assert!(worker.pool.heard().left.is_empty());
}

#[tokio::test]
async fn a_server_that_goes_away_is_waited_for() {
    let mut worker = Worker::ready().await;
    worker.pool.go_away();
    worker.until("a word of it", |worker| worker.log().contains("the server cannot be reached").then_some(())).await;
    worker.pool.heard().beats.clear();
    worker.pool.come_back();
    worker.until_state(WorkerState::Ready).await;
    worker.until("a word of it", |worker| worker.log().contains("the server can be reached again").then_some(())).await;
    assert_eq!((worker.engines().len(), worker.pool.heard().joins.len()), (1, 1));
}

#[tokio::test]
async fn it_starts_while_the_server_is_away() {
    let mut worker = Worker::prepared().await;
    worker.pool.go_away();
    worker.start("");
    worker.until("its health", |worker| worker.log().contains("healthy after").then_some(())).await;
    worker.pool.come_back();
    worker.until_state(WorkerState::Ready).await;
}

#[tokio::test]
async fn one_that_was_given_up_joins_again() {
    let worker = Worker::ready().await;
    worker.pool.heard().refuses_beats = Some((410, "this worker was given up"));
    worker.until("another join", |worker| (worker.pool.heard().joins.len() > 1).then_some(())).await;
    worker.pool.heard().refuses_beats = None;
    worker.pool.heard().beats.clear();
    worker.until_state(WorkerState::Ready).await;
    assert_eq!(worker.engines().len(), 1);
}

#[tokio::test]
async fn the_engine_ends_with_a_worker_that_is_killed() {
    let worker = Worker::ready().await;
    worker.signal(Signal::KILL);
    worker.until("the engine's end", |worker| gone(worker.engines()[0]).then_some(())).await;
}

#[tokio::test]
async fn one_process_serves_several_models() {
    let mut worker = Worker::prepared().await;
    let file = worker.path("worker.yaml");
    let models = ["a", "b"].map(|model| {
        let engine = engine().display().to_string();
        format!("  - {{model: {model}, engine: llama-server, program: {engine}}}\n")
    });
    std::fs::write(&file, format!("models:\n{}", models.concat())).unwrap();
    let mut command = worker.command("--config");
    worker.spawn(command.arg(file));
    for id in [1, 2] {
        let ready = |worker: &Worker| {
            let heard = worker.pool.heard();
            heard.beats.iter().any(|(of, beat)| *of == id && beat.state == WorkerState::Ready).then_some(())
        };
        worker.until("a ready worker", ready).await;
    }
    worker.signal(Signal::TERM);
    assert_eq!(worker.ended().await, Some(0), "{}", worker.log());
    let mut left = worker.pool.heard().left.clone();
    left.sort_unstable();
    assert_eq!(left, [1, 2]);
}
