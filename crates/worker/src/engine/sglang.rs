//! SGLang: `sglang.launch_server`. <https://docs.sglang.io/advanced_features/server_arguments.html>

use super::{Args, KeyTo, Launch, Place};
use crate::config::ModelConfig;

pub fn launch(config: &ModelConfig, place: &Place) -> Launch {
    // A program of one's own is asked as it is; Python is told which of its modules to run.
    let module: &[&str] = if config.program.is_some() { &[] } else { &["-m", "sglang.launch_server"] };
    let args = Args::new(module)
        .with("--model-path", config.weights())
        .with("--served-model-name", &config.model)
        .with("--host", place.host)
        .with("--port", place.port)
        .maybe("--tensor-parallel-size", config.tensor_parallel)
        .maybe("--context-length", config.context_length)
        .maybe("--quantization", config.quantization.as_ref())
        .maybe("--mem-fraction-static", config.gpu_memory.or(place.gpu_memory))
        .maybe("--max-running-requests", config.max_in_flight)
        .maybe("--tool-call-parser", config.tool_parser.as_ref())
        .maybe("--reasoning-parser", config.reasoning_parser.as_ref())
        .flag("--enable-metrics")
        .flag("--enable-cache-report");
    // It reads its key from a flag or from a file of flags, and from no variable.
    args.launch(config.program.as_deref(), "python3", KeyTo::File { flag: "--config", field: "api-key" })
}
