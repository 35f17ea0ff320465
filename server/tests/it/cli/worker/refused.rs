//! Workers that are not wanted, and flags that cannot be followed: said clearly, and nothing started.

use tokio::net::TcpListener;

use super::super::{CommandOutput, said};
use super::{Worker, engine};

async fn refused(worker: &Worker, arguments: &str) -> String {
    let mut command = worker.command("--model small --engine vllm --name w1 --program");
    let said = said(command.arg(engine()).args(arguments.split_whitespace())).await;
    stopped(worker, said)
}

fn stopped(worker: &Worker, said: CommandOutput) -> String {
    assert_eq!(said.code, Some(2), "{}{}", said.stdout, said.stderr);
    assert!(worker.engines().is_empty(), "an engine was started");
    said.stderr
}

#[tokio::test]
async fn a_wrong_token() {
    let worker = Worker::prepared().await;
    std::fs::write(worker.path("token"), "gsj_of_somebody_else\n").unwrap();
    let file = worker.path("token").display().to_string();
    insta::assert_snapshot!(refused(&worker, &format!("--token-file {file}")).await, @"
    --token-file: the server refuses the join token: it is wrong, or it has expired; `groundstate workers token NAME` on the server makes a new one
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn a_name_that_another_worker_has() {
    let worker = Worker::prepared().await;
    worker.pool.heard().refuses_joins = Some((409, "another worker that lives is called `w1`"));
    insta::assert_snapshot!(refused(&worker, "").await, @"
    --name: another worker that lives is called `w1`; stop the other worker, or give this one another --name
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn what_the_server_does_not_take() {
    let worker = Worker::prepared().await;
    worker.pool.heard().refuses_joins = Some((422, "there is no model `small`"));
    insta::assert_snapshot!(refused(&worker, "").await, @"
    --server: the server refuses: there is no model `small`
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn a_name_that_was_taken_meanwhile() {
    let mut worker = Worker::ready().await;
    worker.pool.heard().refuses_beats = Some((409, "another worker took the name `w1`"));
    assert_eq!(worker.ended().await, Some(1));
    let log = worker.log();
    assert!(log.contains("another worker took the name `w1`; stop the other worker"), "{log}");
    // It was killed; nobody waited until it was dead.
    worker.until("the engine's end", |worker| super::gone(worker.engines()[0]).then_some(())).await;
}

#[tokio::test]
async fn a_port_that_is_in_use() {
    let worker = Worker::prepared().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let said = refused(&worker, &format!("--port {port}")).await;
    insta::assert_snapshot!(said.replace(&port, "PORT"), @"
    --port: port PORT is in use (Address already in use (os error 98)); choose another, or leave it out to take a free one
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn flags_that_cannot_be_followed() {
    let worker = Worker::prepared().await;
    let mut all = String::new();
    for arguments in [
        "--gpu-memory 2 --gpus 0,0 --tensor-parallel 4",
        "--server http://groundstate.example.com",
        "--server ftp://groundstate.example.com",
        "--token-file /no/such/file",
        "--key-env ENGINE_KEY_OF_NOBODY",
        "--key-env DATABASE_URL",
    ] {
        let mut command = worker.command("");
        command.args(["--model", "small", "--engine", "vllm", "--program"]).arg(engine());
        // A flag that is given twice is an error of its own.
        if arguments.starts_with("--server") {
            command = super::super::groundstate(["worker", "--model", "small", "--engine", "vllm", "--program"]);
            command.arg(engine()).env("GROUNDSTATE_JOIN_TOKEN", "t");
        }
        all.push_str(&stopped(&worker, said(command.args(arguments.split_whitespace())).await));
    }
    let mut command = worker.command("--model small --engine vllm --program no-such-engine");
    all.push_str(&stopped(&worker, said(&mut command).await));
    let mut command = worker.command("--model small --engine vllm --program");
    all.push_str(&stopped(&worker, said(command.arg(engine()).env_remove("GROUNDSTATE_JOIN_TOKEN")).await));
    insta::assert_snapshot!(all, @"
    --gpu-memory: is a share of the memory: more than 0, at most 1
    --gpus: names a GPU twice
    --gpus: names 2, but the model is shared by 4
    3 problems found; nothing was done
    --server: would send the join token unencrypted; use https, or --insecure in a network that you trust
    1 problem found; nothing was done
    --server: begins with `ftp:`, expected https:
    1 problem found; nothing was done
    --token-file: /no/such/file cannot be read
    1 problem found; nothing was done
    --key-env: the environment variable ENGINE_KEY_OF_NOBODY, which must hold the key, is not set or empty
    1 problem found; nothing was done
    --key-env: players never send DATABASE_URL to an engine; choose a name that begins with ENGINE_KEY
    1 problem found; nothing was done
    --program: `no-such-engine` is not installed; install it, or name its executable
    1 problem found; nothing was done
    --token-file: holds no token, and neither does the environment variable GROUNDSTATE_JOIN_TOKEN; `groundstate workers token NAME` on the server makes one
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn a_file_that_is_wrong() {
    let worker = Worker::prepared().await;
    let file = worker.path("worker.yaml");
    let text =
        "models:\n  - model: a\n    engine: vllm\n    gpu_memory: 2\n  - model: b\n    engine: extern\n    prot: 7\n";
    std::fs::write(&file, text).unwrap();
    let said = stopped(&worker, said(worker.command("--config").arg(&file)).await);
    insta::assert_snapshot!(said.replace(&file.display().to_string(), "worker.yaml"), @"
    worker.yaml:6: models[1].engine: expected one of vllm, sglang, llama-server, external, found text `extern` (did you mean `external`?)
    worker.yaml:7: models[1].prot: unknown field (did you mean `port`?); expected one of: model, engine, weights, name, port, advertise, url, context_length, tensor_parallel, quantization, gpu_memory, memory_gb, gpus, tool_parser, reasoning_parser, max_in_flight, program, key_env, flags
    2 problems found; nothing was done
    ");
}
