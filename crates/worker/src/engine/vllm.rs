//! vLLM: `vllm serve`. <https://docs.vllm.ai/en/stable/cli/serve/>

use super::{Args, KeyTo, Launch, Place};
use crate::config::ModelConfig;

pub fn launch(config: &ModelConfig, place: &Place) -> Launch {
    let mut args = Args::new(&["serve", config.weights()])
        .with("--served-model-name", &config.model)
        .with("--host", place.host)
        .with("--port", place.port)
        .maybe("--tensor-parallel-size", config.tensor_parallel)
        .maybe("--max-model-len", config.context_length)
        .maybe("--quantization", config.quantization.as_ref())
        .maybe("--gpu-memory-utilization", config.gpu_memory.or(place.gpu_memory))
        .maybe("--max-num-seqs", config.max_in_flight);
    if let Some(parser) = &config.tool_parser {
        // Without it a call is only read when the request demands one.
        args = args.flag("--enable-auto-tool-choice").with("--tool-call-parser", parser);
    }
    // It tells what its prefix cache held only when asked to.
    let args =
        args.maybe("--reasoning-parser", config.reasoning_parser.as_ref()).flag("--enable-prompt-tokens-details");
    args.launch(config.program.as_deref(), "vllm", KeyTo::Env("VLLM_API_KEY"))
}
