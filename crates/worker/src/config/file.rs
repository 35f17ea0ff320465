//! `worker.yaml`: the models that one machine serves.

use std::path::Path;

use domain::Problem;
use domain::document::{LocatedValue, located};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ModelConfig;
use domain::bad_input::BadInput;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    models: Vec<ModelConfig>,
}

/// The models, and where each stands.
pub struct Models {
    pub models: Vec<ModelConfig>,
    located: LocatedValue,
}

impl Models {
    /// A fault of one of the models, as its author finds it.
    pub fn problem(&self, model: usize, field: &str, fault: impl Into<String>) -> Problem {
        self.located.problem(&pointer(model, field), fault)
    }
}

pub fn read(path: &Path) -> Result<Models, BadInput> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| BadInput::one(&file, error.to_string()))?;
    parse(&file, &text)
}

fn parse(file: &str, text: &str) -> Result<Models, BadInput> {
    let (File { models }, located) = located::<File>(file, text).map_err(BadInput)?;
    if models.is_empty() {
        return Err(BadInput(vec![located.problem("/models", "names no model")]));
    }
    let mut problems = Vec::new();
    for (number, model) in models.iter().enumerate() {
        let said = model.faults().into_iter();
        problems.extend(said.map(|(field, fault)| located.problem(&pointer(number, field), fault)));
        for (field, same) in
            [("name", twice(&models, number, |m| m.name.clone())), ("port", twice(&models, number, |m| m.port))]
        {
            if same {
                problems.push(located.problem(&pointer(number, field), "another model of this file has the same"));
            }
        }
    }
    if problems.is_empty() { Ok(Models { models, located }) } else { Err(BadInput(problems)) }
}

fn pointer(model: usize, field: &str) -> String {
    format!("/models/{model}/{field}")
}

/// Whether a model before this one says the same of what each must have for itself.
fn twice<T: PartialEq>(models: &[ModelConfig], number: usize, own: impl Fn(&ModelConfig) -> Option<T>) -> bool {
    let mine = own(&models[number]);
    mine.is_some() && models[..number].iter().any(|before| own(before) == mine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> String {
        parse("worker.yaml", text).err().unwrap().to_string()
    }

    #[test]
    fn places_are_named() {
        insta::assert_snapshot!(faults("models:\n  - model: a\n    engine: vlm\n    prot: 1\n"), @"
        worker.yaml:3: models[0].engine: expected one of vllm, sglang, llama-server, external, found text `vlm` (did you mean `vllm`?)
        worker.yaml:4: models[0].prot: unknown field (did you mean `port`?); expected one of: model, engine, weights, name, port, advertise, url, context_length, tensor_parallel, quantization, gpu_memory, memory_gb, gpus, tool_parser, reasoning_parser, max_in_flight, program, key_env, flags
        2 problems found; nothing was done
        ");
        insta::assert_snapshot!(faults("models:\n  - model: a\n    engine: external\n  - model: b\n    engine: vllm\n    port: 1\n  - model: c\n    engine: vllm\n    gpu_memory: 7\n    port: 1\n"), @"
        worker.yaml:2: models[0].url: is missing: the address of the engine, e.g. http://10.0.0.7:8000/v1
        worker.yaml:9: models[2].gpu_memory: is a share of the memory: more than 0, at most 1
        worker.yaml:10: models[2].port: another model of this file has the same
        3 problems found; nothing was done
        ");
        insta::assert_snapshot!(faults("models: []\n"), @"
        worker.yaml:1: models: names no model
        1 problem found; nothing was done
        ");
    }
}
