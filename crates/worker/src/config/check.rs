//! What a configuration may say, engine by engine. What an engine would not understand is refused before it starts:
//! its own complaint comes late and is hard to read.

use domain::api::workers::Engine;
use reqwest::Url;

use super::ModelConfig;
use crate::name;

type Faults = Vec<(&'static str, String)>;

pub fn faults(config: &ModelConfig) -> Faults {
    let mut faults = Faults::new();
    if config.model.trim().is_empty() {
        faults.push(("model", "is empty".to_owned()));
    }
    if let Some(text) = config.name.as_deref().filter(|text| !name::is_valid(text)) {
        faults.push(("name", format!("`{text}` is not a name: letters, digits and `._-`, at most {}", name::LONGEST)));
    }
    for (field, url) in [("advertise", &config.advertise), ("url", &config.url)] {
        faults.extend(url.as_deref().and_then(url_fault).map(|fault| (field, fault)));
    }
    numbers(config, &mut faults);
    match config.engine {
        Engine::External => external(config, &mut faults),
        Engine::LlamaServer => llama_server(config, &mut faults),
        Engine::Vllm | Engine::Sglang => {}
    }
    if config.engine != Engine::External && config.url.is_some() {
        faults.push(("url", "is for `external`; an engine that is started here has a port".to_owned()));
    }
    faults
}

fn url_fault(text: &str) -> Option<String> {
    match Url::parse(text) {
        Err(fault) => Some(format!("`{text}` is not a URL: {fault}")),
        Ok(url) if !matches!(url.scheme(), "http" | "https") => {
            Some(format!("begins with `{}:`, expected http: or https:", url.scheme()))
        }
        Ok(_) => None,
    }
}

fn numbers(config: &ModelConfig, faults: &mut Faults) {
    for (field, number) in [
        ("context_length", config.context_length),
        ("tensor_parallel", config.tensor_parallel),
        ("max_in_flight", config.max_in_flight),
        ("port", config.port.map(u32::from)),
    ] {
        if number == Some(0) {
            faults.push((field, "is 0".to_owned()));
        }
    }
    if config.gpu_memory.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
        faults.push(("gpu_memory", "is a share of the memory: more than 0, at most 1".to_owned()));
    }
    if config.memory_gb.is_some_and(|memory| !(memory > 0.0 && memory.is_finite())) {
        faults.push(("memory_gb", "is not an amount of memory".to_owned()));
    }
    let Some(gpus) = &config.gpus else { return };
    let mut each = gpus.clone();
    each.sort_unstable();
    each.dedup();
    if each.len() != gpus.len() {
        faults.push(("gpus", "names a GPU twice".to_owned()));
    }
    if u32::try_from(gpus.len()).is_ok_and(|count| count < config.gpu_count()) {
        faults.push(("gpus", format!("names {}, but the model is shared by {}", gpus.len(), config.gpu_count())));
    }
}

fn external(config: &ModelConfig, faults: &mut Faults) {
    if config.url.is_none() {
        faults.push(("url", "is missing: the address of the engine, e.g. http://10.0.0.7:8000/v1".to_owned()));
    }
    let of_engines = [
        ("weights", config.weights.is_some()),
        ("port", config.port.is_some()),
        ("context_length", config.context_length.is_some()),
        ("tensor_parallel", config.tensor_parallel.is_some()),
        ("quantization", config.quantization.is_some()),
        ("gpu_memory", config.gpu_memory.is_some()),
        ("memory_gb", config.memory_gb.is_some()),
        ("gpus", config.gpus.is_some()),
        ("tool_parser", config.tool_parser.is_some()),
        ("reasoning_parser", config.reasoning_parser.is_some()),
        ("program", config.program.is_some()),
        ("flags", !config.flags.is_empty()),
    ];
    let said = of_engines.into_iter().filter(|(_, said)| *said);
    faults.extend(said.map(|(field, _)| (field, "has no effect on an engine that somebody else runs".to_owned())));
}

fn llama_server(config: &ModelConfig, faults: &mut Faults) {
    if config.quantization.is_some() {
        let hint = "llama-server loads what was quantised before: name the file, or REPOSITORY:QUANT, as the weights";
        faults.push(("quantization", hint.to_owned()));
    }
    if config.tool_parser.is_some() {
        let hint = "llama-server reads calls as the model's chat template writes them: leave it out";
        faults.push(("tool_parser", hint.to_owned()));
    }
    if config.gpu_memory.is_some() {
        let hint = "llama-server takes what it needs; say how many layers are on GPUs by its flag --n-gpu-layers";
        faults.push(("gpu_memory", hint.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(config: Value) -> String {
        let config: ModelConfig = serde_json::from_value(config).unwrap();
        faults(&config).into_iter().map(|(field, fault)| format!("{field}: {fault}\n")).collect()
    }

    #[test]
    fn sound_ones_have_no_faults() {
        for engine in ["vllm", "sglang", "llama-server"] {
            assert_eq!(said(json!({"model": "m", "engine": engine, "port": 8000, "gpus": [0, 1]})), "");
        }
        assert_eq!(said(json!({"model": "m", "engine": "external", "url": "http://host:8000/v1"})), "");
    }

    #[test]
    fn every_fault_is_said() {
        insta::assert_snapshot!(said(json!({"model": " ", "engine": "vllm", "name": "a b", "advertise": "host:1", "url": "x",
            "context_length": 0, "tensor_parallel": 4, "gpus": [1, 1], "gpu_memory": 1.5, "memory_gb": -1.0, "port": 0})), @"
        model: is empty
        name: `a b` is not a name: letters, digits and `._-`, at most 100
        advertise: begins with `host:`, expected http: or https:
        url: `x` is not a URL: relative URL without a base
        context_length: is 0
        port: is 0
        gpu_memory: is a share of the memory: more than 0, at most 1
        memory_gb: is not an amount of memory
        gpus: names a GPU twice
        gpus: names 2, but the model is shared by 4
        url: is for `external`; an engine that is started here has a port
        ");
        insta::assert_snapshot!(said(json!({"model": "m", "engine": "external", "port": 1, "flags": ["--x"]})), @"
        url: is missing: the address of the engine, e.g. http://10.0.0.7:8000/v1
        port: has no effect on an engine that somebody else runs
        flags: has no effect on an engine that somebody else runs
        ");
        insta::assert_snapshot!(said(json!({"model": "m", "engine": "llama-server", "quantization": "awq",
            "tool_parser": "hermes", "gpu_memory": 0.5})), @"
        quantization: llama-server loads what was quantised before: name the file, or REPOSITORY:QUANT, as the weights
        tool_parser: llama-server reads calls as the model's chat template writes them: leave it out
        gpu_memory: llama-server takes what it needs; say how many layers are on GPUs by its flag --n-gpu-layers
        ");
    }
}
