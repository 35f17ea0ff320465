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
    insta::assert_snapshot!(line(json!({"model": "Qwen/Qwen3-8B", "engine": "vllm"}), None, None), @"");
    insta::assert_snapshot!(line(everything("vllm"), Some(vec![2, 3]), None), @"");
}

#[test]
fn sglang() {
    insta::assert_snapshot!(line(json!({"model": "Qwen/Qwen3-8B", "engine": "sglang"}), Some(vec![0]), Some(0.4)), @"");
    insta::assert_snapshot!(line(everything("sglang"), None, None), @"");
}

#[test]
fn llama_server() {
    let file = json!({"model": "small", "engine": "llama-server", "weights": "models/small.Q4_1.gguf"});
    insta::assert_snapshot!(line(file, None, None), @"");
    let repository = json!({"model": "small", "engine": "llama-server", "weights": "ggml-org/gemma-3-4b-it-GGUF:Q8_0",
        "context_length": 8192, "max_in_flight": 4, "reasoning_parser": "deepseek", "key_env": "ENGINE_KEY",
        "program": "/opt/llama.cpp/llama-server"});
    insta::assert_snapshot!(line(repository, None, None), @"");
}

#[test]
fn what_others_run_is_not_started() {
    let config = json!({"model": "m", "engine": "external", "url": "http://host:8000/v1"});
    let config: ModelConfig = serde_json::from_value(config).unwrap();
    let place = Place { host: Ipv4Addr::LOCALHOST.into(), port: 0, gpus: None, gpu_memory: None };
    assert_eq!(launch(&config, &place), None);
}
