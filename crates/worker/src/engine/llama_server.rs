//! llama.cpp's llama-server. <https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md>

use super::{Args, KeyTo, Launch, Place};
use crate::config::ModelConfig;

pub fn launch(config: &ModelConfig, place: &Place) -> Launch {
    let source = if is_file(config.weights()) { "--model" } else { "--hf-repo" };
    // Its context is shared by all that it answers at once.
    let context = config.context_length.map(|tokens| u64::from(tokens) * u64::from(config.max_in_flight.unwrap_or(1)));
    let split = config.tensor_parallel.filter(|count| *count > 1).map(|_| "row");
    let args = Args::new(&[source, config.weights()])
        .with("--alias", &config.model)
        .with("--host", place.host)
        .with("--port", place.port)
        .maybe("--ctx-size", context)
        .maybe("--parallel", config.max_in_flight)
        .maybe("--split-mode", split)
        .maybe("--reasoning-format", config.reasoning_parser.as_ref())
        .flag("--jinja")
        .flag("--metrics");
    args.launch(config.program.as_deref(), "llama-server", KeyTo::Env("LLAMA_API_KEY"))
}

/// Everything else is a repository, `user/model` or `user/model:quant`.
fn is_file(weights: &str) -> bool {
    let ends = std::path::Path::new(weights).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"));
    ends || weights.starts_with(['/', '.', '~'])
}
