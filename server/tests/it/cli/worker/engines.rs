//! Engines that fail, each in its way.

use domain::api::workers::WorkerState;
use rustix::process::{Signal, kill_process};

use super::{Worker, engine};

#[tokio::test]
async fn an_engine_that_dies_is_started_again() {
    let worker = Worker::ready().await;
    kill_process(worker.engines()[0], Signal::KILL).unwrap();
    let beat = worker.until_state(WorkerState::Unhealthy).await;
    let detail = beat.detail.unwrap();
    assert!(detail.contains("killed by signal 9") && detail.contains("restart 1"), "{detail}");
    let beat = worker.until_state(WorkerState::Ready).await;
    assert_eq!((beat.restarts, worker.engines().len()), (1, 2));
    assert_eq!(worker.pool.heard().joins.len(), 1);
}

#[tokio::test]
async fn an_engine_that_cannot_start_is_diagnosed_and_tried_again() {
    for (log, diagnosis) in [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB.", "out of GPU memory (exit code 1)"),
        (
            "OSError: no-such/model is not a local folder and is not a valid model identifier",
            "the weights are not found",
        ),
    ] {
        let mut worker = Worker::prepared().await;
        worker.engine_is("fails", log);
        worker.start("");
        let beat =
            worker.until_beat("a second try", |beat| beat.restarts == 2 && beat.state == WorkerState::Unhealthy).await;
        let detail = beat.detail.unwrap();
        assert!(detail.contains(diagnosis), "{detail}");
        assert!(worker.log().contains(diagnosis), "{}", worker.log());
        std::fs::remove_file(worker.path("fails")).unwrap();
        worker.until_state(WorkerState::Ready).await;
    }
}

#[tokio::test]
async fn an_engine_that_hangs_is_started_again() {
    // One answers nothing at all, the other only writes no token.
    for (mode, said) in
        [("hang", "did not answer its list of models"), ("silent", "did not answer a request for one token")]
    {
        let worker = Worker::ready().await;
        worker.engine_is("running", "1");
        worker.engine_is("mode", mode);
        let beat = worker.until_state(WorkerState::Unhealthy).await;
        assert!(beat.detail.as_ref().unwrap().contains(said), "{beat:?}");
        worker.until("another engine", |worker| (worker.engines().len() == 2).then_some(())).await;
        worker.engine_is("mode", "ok");
        assert_eq!(worker.until_state(WorkerState::Ready).await.restarts, 1);
    }
}

#[tokio::test]
async fn garbage_is_no_answer() {
    let worker = Worker::ready().await;
    worker.engine_is("running", "1");
    worker.engine_is("mode", "garbage");
    let beat = worker.until_state(WorkerState::Unhealthy).await;
    insta::assert_snapshot!(beat.detail.unwrap(), @"its answer is not a completion: <html><h1>Welcome to nginx!</h1></html>");
    worker.engine_is("mode", "ok");
    worker.until_state(WorkerState::Ready).await;
}

#[tokio::test]
async fn another_model_is_not_answered_for() {
    let mut worker = Worker::prepared().await;
    worker.engine_is("mode", "other");
    worker.start("");
    let beat = worker.until_state(WorkerState::Unhealthy).await;
    let detail = beat.detail.unwrap();
    assert!(detail.starts_with("it serves `another-model`, not `small`"), "{detail}");
    assert!(worker.pool.heard().beats.iter().all(|(_, beat)| beat.state != WorkerState::Ready));
    worker.engine_is("mode", "ok");
    worker.until_state(WorkerState::Ready).await;
}

#[tokio::test]
async fn the_key_reaches_the_engine_and_nobody_else() {
    let mut worker = Worker::prepared().await;
    let mut command = worker.command("--model small --engine vllm --name w1 --key-env ENGINE_KEY --program");
    worker.spawn(command.arg(engine()).env("ENGINE_KEY", "s3cret"));
    worker.until_state(WorkerState::Ready).await;
    assert!(!worker.read("arguments").contains("s3cret"));
    let join = worker.pool.heard().joins[0].clone();
    assert_eq!(join.key_env.as_deref(), Some("ENGINE_KEY"));
    assert!(!format!("{join:?}{}", worker.log()).contains("s3cret"));
}

#[tokio::test]
async fn an_engine_of_somebody_else_is_watched_and_left_alone() {
    let one = Worker::ready().await;
    let url = one.pool.heard().joins[0].url.clone();
    let mut worker = Worker::prepared().await;
    let mut command = worker.command("--model small --engine external --url");
    worker.spawn(command.arg(&url));
    worker.until_state(WorkerState::Ready).await;
    assert_eq!(worker.pool.heard().joins[0].url, url);
    one.engine_is("mode", "garbage");
    one.engine_is("running", "1");
    worker.until_state(WorkerState::Unhealthy).await;
    one.engine_is("mode", "ok");
    one.engine_is("running", "0");
    worker.until_state(WorkerState::Ready).await;
    worker.signal(Signal::TERM);
    assert_eq!(worker.ended().await, Some(0), "{}", worker.log());
    one.until_state(WorkerState::Ready).await;
}
