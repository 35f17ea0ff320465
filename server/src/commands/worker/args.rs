//! The flags of one model, and of how patient a worker is.

use std::time::Duration;

use domain::api::workers::Engine;
use strum::VariantArray;

use worker::Timing;
use worker::config::ModelConfig;

#[derive(clap::Args)]
#[group(conflicts_with = "config")]
pub struct ModelArgs {
    /// Name of the model, as runs use it
    #[arg(long, value_name = "NAME")]
    model: String,
    /// vllm, sglang, llama-server, or external: an endpoint that somebody else runs
    #[arg(long, value_parser = engine)]
    engine: Engine,
    /// What the engine loads: a folder, a file or a repository of Hugging Face [default: the model's name]
    #[arg(long, value_name = "PATH_OR_ID")]
    weights: Option<String>,
    /// Name of the worker [default: made of machine, model and port]
    #[arg(long)]
    name: Option<String>,
    /// Port of the engine [default: a free one]
    #[arg(long)]
    port: Option<u16>,
    /// Base URL at which players reach the engine [default: http://127.0.0.1:PORT/v1]
    #[arg(long, value_name = "URL")]
    advertise: Option<String>,
    /// Base URL of an external engine
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Tokens that one conversation may have
    #[arg(long, value_name = "TOKENS")]
    context_length: Option<u32>,
    /// GPUs that share the model
    #[arg(long, value_name = "GPUS")]
    tensor_parallel: Option<u32>,
    /// Quantisation method, as the engine names it
    #[arg(long, value_name = "METHOD")]
    quantization: Option<String>,
    /// Share of each GPU's memory that the engine takes, from 0 to 1
    #[arg(long, value_name = "SHARE")]
    gpu_memory: Option<f64>,
    /// Numbers of the GPUs that the engine uses [default: all]
    #[arg(long, value_delimiter = ',', value_name = "N,N")]
    gpus: Option<Vec<u32>>,
    /// Parser of tool calls, as the engine names it
    #[arg(long, value_name = "PARSER")]
    tool_parser: Option<String>,
    /// Parser of reasoning, as the engine names it
    #[arg(long, value_name = "PARSER")]
    reasoning_parser: Option<String>,
    /// Limit of the requests that are sent to the engine at the same time
    #[arg(long, value_name = "REQUESTS")]
    max_in_flight: Option<u32>,
    /// The engine's executable [default: vllm, python3 or llama-server]
    #[arg(long, value_name = "PATH")]
    program: Option<String>,
    /// Environment variable, here and where runs are played, that holds the engine's key
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,
    /// More flags for the engine, passed on unchanged
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<String>,
}

fn engine(text: &str) -> Result<Engine, String> {
    let known = || Engine::VARIANTS.iter().map(Engine::into_str).collect::<Vec<_>>().join(", ");
    text.parse().map_err(|_| format!("there is no such engine; known: {}", known()))
}

impl ModelArgs {
    pub fn config(&self) -> ModelConfig {
        ModelConfig {
            model: self.model.clone(),
            engine: self.engine,
            weights: self.weights.clone(),
            name: self.name.clone(),
            port: self.port,
            advertise: self.advertise.clone(),
            url: self.url.clone(),
            context_length: self.context_length,
            tensor_parallel: self.tensor_parallel,
            quantization: self.quantization.clone(),
            gpu_memory: self.gpu_memory,
            memory_gb: None,
            gpus: self.gpus.clone(),
            tool_parser: self.tool_parser.clone(),
            reasoning_parser: self.reasoning_parser.clone(),
            max_in_flight: self.max_in_flight,
            program: self.program.clone(),
            key_env: self.key_env.clone(),
            flags: self.flags.clone(),
        }
    }
}

#[derive(clap::Args)]
pub struct TimingArgs {
    /// How long an engine may take to start, in seconds
    #[arg(long, default_value_t = 1800, value_name = "SECONDS")]
    health_timeout: u64,
    /// How long to wait for running requests before the worker leaves, in seconds
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    drain: u64,
    /// How long an engine may be unusable before it is restarted, in seconds
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS", value_parser = seconds)]
    patience: f64,
    #[arg(long, default_value_t = 2.0, value_parser = seconds, hide = true)]
    probe_every: f64,
    #[arg(long, default_value_t = 15.0, value_parser = seconds, hide = true)]
    answer_every: f64,
    #[arg(long, default_value_t = 30.0, value_parser = seconds, hide = true)]
    answer_timeout: f64,
    #[arg(long, default_value_t = 1.0, value_parser = seconds, hide = true)]
    first_wait: f64,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "expected seconds, from 0.001 to 86400".to_owned())
}

impl TimingArgs {
    pub fn timing(&self) -> Timing {
        let s = Duration::from_secs_f64;
        Timing {
            probe_every: s(self.probe_every),
            answer_every: s(self.answer_every),
            answer_timeout: s(self.answer_timeout),
            patience: s(self.patience),
            start_limit: Duration::from_secs(self.health_timeout),
            drain_limit: Duration::from_secs(self.drain),
            first_wait: s(self.first_wait),
            ..Timing::default()
        }
    }
}
