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
    insta::assert_snapshot!(printed(vllm).await, @r#"
    # w1 serves `qwen3-8b` on GPU 0, 1 at http://127.0.0.1:8000/v1
    CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES='0,1' VLLM_API_KEY="$ENGINE_KEY" vllm serve Qwen/Qwen3-8B --served-model-name qwen3-8b --host 127.0.0.1 --port 8000 --tensor-parallel-size 2 --max-model-len 32768 --enable-auto-tool-choice --tool-call-parser hermes --enable-prompt-tokens-details --seed 7
    "#);
    let far = "worker --dry-run --model m --engine external --url https://ray.example.com/v1 --name far";
    insta::assert_snapshot!(printed(far).await, @"
    # far serves `m` at https://ray.example.com/v1
    # somebody else runs the engine
    ");
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
    insta::assert_snapshot!(printed(&format!("worker --dry-run --assume-gpus 80,80 --config {path}")).await, @"
    # s serves `small` on GPU 1 at http://127.0.0.1:8001/v1
    CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=1 vllm serve small --served-model-name small --host 127.0.0.1 --port 8001 --gpu-memory-utilization 0.25 --enable-prompt-tokens-details
    # l serves `large` on GPU 0, 1 at http://127.0.0.1:8002/v1
    CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES='0,1' python3 -m sglang.launch_server --model-path large --served-model-name large --host 127.0.0.1 --port 8002 --tensor-parallel-size 2 --mem-fraction-static 0.625 --enable-metrics --enable-cache-report
    # m serves `middle` on GPU 0 at http://127.0.0.1:8003/v1
    CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0 vllm serve middle --served-model-name middle --host 127.0.0.1 --port 8003 --gpu-memory-utilization 0.312 --enable-prompt-tokens-details --seed 7
    ");

    let command = format!("worker --dry-run --assume-gpus 80 --config {path}");
    let said = said(&mut groundstate(command.split_whitespace())).await;
    assert_eq!(said.code, Some(2));
    insta::assert_snapshot!(said.stderr.replace(&path.to_string(), "worker.yaml"), @"
    worker.yaml:3: models[1].memory_gb: `large` needs 50.0 GB on each of 2 GPUs; left for it: 80.0 GB on GPU 0
    1 problem found; nothing was done
    ");
}
