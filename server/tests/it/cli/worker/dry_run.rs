//! What would be started, and where.

use super::super::{groundstate, said};

async fn printed(arguments: &str) -> String {
    let said = said(&mut groundstate(arguments.split_whitespace())).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    said.stdout
}

#[tokio::test]
async fn one_engine() {
    let vllm = "worker --dry-run --model qwen3-8b --engine vllm --weights Qwen/Qwen3-8B --name w1 --port 8000 --gpus 0,1 \
                --tensor-parallel 2 --context-length 32768 --tool-parser hermes --key-env ENGINE_KEY -- --seed 7";
    insta::assert_snapshot!(printed(vllm).await, @"");
    let far = "worker --dry-run --model m --engine external --url https://ray.example.com/v1 --name far";
    insta::assert_snapshot!(printed(far).await, @"");
}

#[tokio::test]
async fn several_on_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("worker.yaml");
    let text = "models:
  - {model: small, engine: vllm, name: s, port: 8001, memory_gb: 20}
  - {model: large, engine: sglang, name: l, port: 8002, memory_gb: 100, tensor_parallel: 2}
  - {model: middle, engine: vllm, name: m, port: 8003, memory_gb: 25, flags: [--seed, '7']}
";
    std::fs::write(&file, text).unwrap();
    let path = file.display();
    insta::assert_snapshot!(printed(&format!("worker --dry-run --assume-gpus 80,80 --config {path}")).await, @"");

    let command = format!("worker --dry-run --assume-gpus 80 --config {path}");
    let said = said(&mut groundstate(command.split_whitespace())).await;
    assert_eq!(said.code, Some(2));
    insta::assert_snapshot!(said.stderr.replace(&path.to_string(), "worker.yaml"), @"");
}
