use std::time::Duration;

use super::*;

fn said(text: &str) -> String {
    let Sample { load, tokens } = read(text);
    format!("{} tokens {tokens:?}", serde_json::to_string(&load).unwrap())
}

#[test]
fn vllm() {
    let text = r#"# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="Qwen/Qwen3-8B"} 37.0
vllm:num_requests_running{engine="1",model_name="Qwen/Qwen3-8B"} 5.0
vllm:num_requests_waiting{engine="0",model_name="Qwen/Qwen3-8B"} 4.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="Qwen/Qwen3-8B",reason="capacity"} 4.0
vllm:kv_cache_usage_perc{engine="0",model_name="Qwen/Qwen3-8B"} 0.41
vllm:kv_cache_usage_perc{engine="1",model_name="Qwen/Qwen3-8B"} 0.72
vllm:prefix_cache_queries_total{engine="0",model_name="Qwen/Qwen3-8B"} 1.0e+06
vllm:prefix_cache_hits_total{engine="0",model_name="Qwen/Qwen3-8B"} 750000.0
vllm:generation_tokens_total{engine="0",model_name="Qwen/Qwen3-8B"} 81234.0
vllm:time_to_first_token_seconds_bucket{le="0.001",model_name="a } b"} 0.0
"#;
    insta::assert_snapshot!(said(text), @r#"{"running":42,"waiting":4,"prefix_cache_hits":0.75,"kv_cache":0.72} tokens Some(81234.0)"#);
    let older = "vllm:num_requests_running{model_name=\"m\"} 1.0\nvllm:gpu_cache_usage_perc{model_name=\"m\"} 0.5\n\
        vllm:gpu_prefix_cache_queries_total{model_name=\"m\"} 0\nvllm:gpu_prefix_cache_hits_total{model_name=\"m\"} 0\n";
    insta::assert_snapshot!(said(older), @r#"{"running":1,"kv_cache":0.5} tokens None"#);
}

#[test]
fn sglang() {
    let text = r#"# TYPE sglang:generation_tokens_total counter
sglang:generation_tokens_total{model_name="meta-llama/Llama-3.1-8B-Instruct"} 7.557572e+06
sglang:token_usage{model_name="meta-llama/Llama-3.1-8B-Instruct"} 0.28
sglang:cache_hit_rate{model_name="meta-llama/Llama-3.1-8B-Instruct"} 0.007507552643049313
sglang:num_running_reqs{model_name="meta-llama/Llama-3.1-8B-Instruct"} 161.0
sglang:num_queue_reqs{model_name="meta-llama/Llama-3.1-8B-Instruct"} 2826.0
sglang:gen_throughput{model_name="meta-llama/Llama-3.1-8B-Instruct"} 86.50814177726902
"#;
    insta::assert_snapshot!(said(text), @r#"{"running":161,"waiting":2826,"prefix_cache_hits":0.007507552643049313,"kv_cache":0.28,"tokens_per_second":86.50814177726902} tokens Some(7557572.0)"#);
}

#[test]
fn llama_server() {
    let text = "# HELP llamacpp:tokens_predicted_total Number of generation tokens processed.\n\
        # TYPE llamacpp:tokens_predicted_total counter\nllamacpp:tokens_predicted_total 39080\n\
        llamacpp:predicted_tokens_seconds nan\nllamacpp:requests_processing 3\nllamacpp:requests_deferred 1\n";
    insta::assert_snapshot!(said(text), @r#"{"running":3,"waiting":1} tokens Some(39080.0)"#);
}

#[test]
fn what_is_no_metrics_says_nothing() {
    for text in
        ["", "<html>vllm:num_requests_running</html>", "vllm:num_requests_running", "vllm:num_requests_running x"]
    {
        assert_eq!(read(text), Sample::default(), "{text}");
    }
}

#[test]
fn tokens_are_counted_between_heartbeats() {
    let mut rate = Rate::default();
    let start = Instant::now();
    let mut told = |tokens: Option<f64>, seconds: u64| {
        let sample = Sample { tokens, ..Sample::default() };
        rate.update(&sample, start + Duration::from_secs(seconds)).tokens_per_second
    };
    assert_eq!(told(Some(100.0), 0), None);
    assert_eq!(told(Some(300.0), 2), Some(100.0));
    assert_eq!(told(Some(50.0), 4), None, "started anew");
    assert_eq!(told(None, 6), None);
    assert_eq!(told(Some(60.0), 8), None);
}
