use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::*;

fn line(config: Value, gpus: Option<Vec<u32>>, gpu_memory: Option<f64>) -> String {
    let config: ModelConfig = serde_json::from_value(config).unwrap();
    let place = Place { host: Ipv4Addr::LOCALHOST.into(), port: 8000, gpus, gpu_memory };
    launch(&config, &place).unwrap().line(config.key_env.as_deref())
}

fn everything(engine: &str) -> Value {
    json!({
        "model": "qwen3-8b", "engine": engine, "weights": "Qwen/Qwen3-8B", "context_length": 32768, "tensor_parallel": 2,
        "quantization": "fp8", "gpu_memory": 0.85, "tool_parser": "hermes", "reasoning_parser": "deepseek_r1",
        "max_in_flight": 64, "key_env": "ENGINE_KEY", "flags": ["--seed", "7", "--chat-template", "a b.jinja"],
    })
}

#[test]
fn vllm() {
    insta::assert_snapshot!(line(json!({"model": "Qwen/Qwen3-8B", "engine": "vllm"}), None, None), @"vllm serve Qwen/Qwen3-8B --served-model-name Qwen/Qwen3-8B --host 127.0.0.1 --port 8000 --enable-prompt-tokens-details");
    insta::assert_snapshot!(line(everything("vllm"), Some(vec![2, 3]), None), @r#"CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES='2,3' VLLM_API_KEY="$ENGINE_KEY" vllm serve Qwen/Qwen3-8B --served-model-name qwen3-8b --host 127.0.0.1 --port 8000 --tensor-parallel-size 2 --max-model-len 32768 --quantization fp8 --gpu-memory-utilization 0.85 --max-num-seqs 64 --enable-auto-tool-choice --tool-call-parser hermes --reasoning-parser deepseek_r1 --enable-prompt-tokens-details --seed 7 --chat-template 'a b.jinja'"#);
}

#[test]
fn sglang() {
    insta::assert_snapshot!(line(json!({"model": "Qwen/Qwen3-8B", "engine": "sglang"}), Some(vec![0]), Some(0.4)), @"CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0 python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --served-model-name Qwen/Qwen3-8B --host 127.0.0.1 --port 8000 --mem-fraction-static 0.4 --enable-metrics --enable-cache-report");
    insta::assert_snapshot!(line(everything("sglang"), None, None), @r#"python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --served-model-name qwen3-8b --host 127.0.0.1 --port 8000 --tensor-parallel-size 2 --context-length 32768 --quantization fp8 --mem-fraction-static 0.85 --max-running-requests 64 --tool-call-parser hermes --reasoning-parser deepseek_r1 --enable-metrics --enable-cache-report --seed 7 --chat-template 'a b.jinja' --config <(echo "api-key: $ENGINE_KEY")"#);
}

#[test]
fn llama_server() {
    let file = json!({"model": "small", "engine": "llama-server", "weights": "models/small.Q4_1.gguf"});
    insta::assert_snapshot!(line(file, None, None), @"llama-server --model models/small.Q4_1.gguf --alias small --host 127.0.0.1 --port 8000 --jinja --metrics");
    let repository = json!({"model": "small", "engine": "llama-server", "weights": "ggml-org/gemma-3-4b-it-GGUF:Q8_0",
        "context_length": 8192, "max_in_flight": 4, "reasoning_parser": "deepseek", "key_env": "ENGINE_KEY",
        "program": "/opt/llama.cpp/llama-server"});
    insta::assert_snapshot!(line(repository, None, None), @r#"LLAMA_API_KEY="$ENGINE_KEY" /opt/llama.cpp/llama-server --hf-repo ggml-org/gemma-3-4b-it-GGUF:Q8_0 --alias small --host 127.0.0.1 --port 8000 --ctx-size 32768 --parallel 4 --reasoning-format deepseek --jinja --metrics"#);
}

#[test]
fn what_others_run_is_not_started() {
    let config = json!({"model": "m", "engine": "external", "url": "http://host:8000/v1"});
    let config: ModelConfig = serde_json::from_value(config).unwrap();
    let place = Place { host: Ipv4Addr::LOCALHOST.into(), port: 0, gpus: None, gpu_memory: None };
    assert_eq!(launch(&config, &place), None);
}
