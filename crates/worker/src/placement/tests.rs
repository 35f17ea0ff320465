use serde_json::{Value, json};

use super::*;

fn gpu(index: u32, used: u64) -> Gpu {
    Gpu { index, name: "H100".to_owned(), memory_total: 81_559, memory_used: used, utilisation: None }
}

fn models(models: Value) -> Vec<ModelConfig> {
    serde_json::from_value(models).unwrap()
}

fn model(name: &str, memory_gb: f64) -> Value {
    json!({"model": name, "engine": "vllm", "memory_gb": memory_gb})
}

fn places(configs: Value, gpus: &[Gpu]) -> String {
    let configs = models(configs);
    match place(&configs, gpus) {
        Ok(placed) => configs
            .iter()
            .zip(placed)
            .map(|(config, place)| format!("{} on {:?}, share {:?}\n", config.model, place.gpus, place.share))
            .collect(),
        Err(homeless) => homeless.iter().map(|one| format!("{} {}: {}\n", one.model, one.field, one.why)).collect(),
    }
}

#[test]
fn the_largest_goes_first() {
    let gpus = [gpu(0, 0), gpu(1, 0)];
    let configs = json!([model("small", 20.0), model("large", 60.0), model("middle", 40.0)]);
    insta::assert_snapshot!(places(configs, &gpus), @"
    small on Some([0]), share Some(0.233)
    large on Some([0]), share Some(0.701)
    middle on Some([1]), share Some(0.467)
    ");
}

#[test]
fn memory_that_somebody_has_is_not_given() {
    insta::assert_snapshot!(places(json!([model("a", 30.0), model("b", 30.0)]), &[gpu(0, 60_000), gpu(1, 0)]), @"
    a on Some([1]), share Some(0.35)
    b on Some([1]), share Some(0.35)
    ");
}

#[test]
fn a_shared_model_has_a_part_on_each() {
    let shared = json!({"model": "large", "engine": "sglang", "memory_gb": 120.0, "tensor_parallel": 2});
    insta::assert_snapshot!(places(json!([model("a", 20.0), shared]), &[gpu(0, 0), gpu(1, 0)]), @"
    a on Some([0]), share Some(0.233)
    large on Some([0, 1]), share Some(0.701)
    ");
}

#[test]
fn what_a_person_chose_is_kept() {
    let chosen = json!({"model": "chosen", "engine": "vllm", "gpus": [0]});
    insta::assert_snapshot!(places(json!([model("a", 20.0), chosen]), &[gpu(0, 0), gpu(1, 0)]), @"
    a on Some([1]), share Some(0.233)
    chosen on Some([0]), share None
    ");
}

#[test]
fn what_does_not_fit_is_named() {
    let configs = json!([model("a", 70.0), model("b", 70.0), model("c", 90.0),
        {"model": "d", "engine": "vllm", "gpus": [7]}, {"model": "e", "engine": "vllm"}]);
    insta::assert_snapshot!(places(configs, &[gpu(0, 0)]), @"
    1 memory_gb: `b` needs 70.0 GB on a GPU; left for it: 15.5 GB on GPU 0
    2 memory_gb: `c` needs 90.0 GB on a GPU; left for it: 85.5 GB on GPU 0
    3 gpus: this machine shows no GPU 7; it shows: 0
    4 memory_gb: is missing: without it or `gpus` the model cannot be placed
    ");
    insta::assert_snapshot!(places(json!([model("a", 1.0), model("b", 1.0)]), &[]), @"
    0 memory_gb: `a` needs 1.0 GB on a GPU; left for it: none
    1 memory_gb: `b` needs 1.0 GB on a GPU; left for it: none
    ");
}

#[test]
fn processors_need_no_place() {
    let small = json!({"model": "small", "engine": "llama-server"});
    let external = json!({"model": "far", "engine": "external", "url": "http://host/v1"});
    insta::assert_snapshot!(places(json!([small, external]), &[]), @"
    small on None, share None
    far on None, share None
    ");
}
