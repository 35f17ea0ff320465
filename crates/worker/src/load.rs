//! How busy an engine is, read from its metrics. Each engine has names of its own, which change between versions: what
//! is not there is not known, and nothing more.

use std::time::Instant;

use domain::api::workers::WorkerLoad;

/// What the metrics of an engine said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    pub load: WorkerLoad,
    /// Tokens that it has written since it was started: while the number grows, it works.
    pub tokens: Option<f64>,
}

impl Sample {
    /// Requests that it has not answered yet.
    pub fn busy(&self) -> Option<u32> {
        let WorkerLoad { running, waiting, .. } = self.load;
        running.map(|running| running.saturating_add(waiting.unwrap_or(0)))
    }
}

/// Names of one meaning; of several engines, or of several versions of one.
const RUNNING: &[&str] = &["vllm:num_requests_running", "sglang:num_running_reqs", "llamacpp:requests_processing"];
const WAITING: &[&str] = &["vllm:num_requests_waiting", "sglang:num_queue_reqs", "llamacpp:requests_deferred"];
const KV_CACHE: &[&str] =
    &["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage", "llamacpp:kv_cache_usage_ratio"];
const TOKENS: &[&str] =
    &["vllm:generation_tokens_total", "sglang:generation_tokens_total", "llamacpp:tokens_predicted_total"];
/// Prompt tokens that were asked for, and those of them that were there; vLLM renamed them.
const CACHE: &[[&str; 2]] = &[
    ["vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"],
    ["vllm:gpu_prefix_cache_queries_total", "vllm:gpu_prefix_cache_hits_total"],
];
const HIT_RATE: &[&str] = &["sglang:cache_hit_rate", "vllm:gpu_prefix_cache_hit_rate"];
const RATE: &[&str] = &["sglang:gen_throughput"];

/// Reads the text of an engine's metrics (Prometheus' exposition format).
pub fn read(text: &str) -> Sample {
    let first = |names: &[&str], of: fn(&str, &str) -> Option<f64>| names.iter().find_map(|name| of(text, name));
    let hits = CACHE.iter().find_map(|[asked, found]| {
        let asked = sum(text, asked).filter(|asked| *asked > 0.0)?;
        Some(sum(text, found)? / asked)
    });
    Sample {
        load: WorkerLoad {
            running: first(RUNNING, sum).map(count),
            waiting: first(WAITING, sum).map(count),
            prefix_cache_hits: hits.or_else(|| first(HIT_RATE, largest)).map(share),
            kv_cache: first(KV_CACHE, largest).map(share),
            tokens_per_second: first(RATE, sum).filter(|rate| *rate >= 0.0),
        },
        tokens: first(TOKENS, sum),
    }
}

/// Counts from one heartbeat to the next.
#[derive(Default)]
pub struct Rate(Option<(f64, Instant)>);

impl Rate {
    /// The load with the tokens of a second, if the engine counts tokens and does not say itself.
    pub fn update(&mut self, sample: &Sample, now: Instant) -> WorkerLoad {
        let mut load = sample.load.clone();
        let before = std::mem::replace(&mut self.0, sample.tokens.map(|tokens| (tokens, now)));
        if let (None, Some((before, then)), Some(tokens)) = (load.tokens_per_second, before, sample.tokens) {
            let seconds = now.duration_since(then).as_secs_f64();
            // An engine that was started anew begins at nothing.
            load.tokens_per_second = (seconds > 0.0 && tokens >= before).then(|| (tokens - before) / seconds);
        }
        load
    }
}

/// An engine may count in several parts (data parallel): what they count is added.
fn sum(text: &str, name: &str) -> Option<f64> {
    values(text, name).reduce(|a, b| a + b)
}

/// A share of each part: the fullest is what matters.
fn largest(text: &str, name: &str) -> Option<f64> {
    values(text, name).reduce(f64::max)
}

fn values(text: &str, name: &str) -> impl Iterator<Item = f64> {
    text.lines().filter_map(move |line| {
        let rest = line.strip_prefix(name)?;
        let rest = match rest.strip_prefix('{') {
            Some(labels) => labels.rsplit_once('}')?.1,
            None => rest.starts_with(char::is_whitespace).then_some(rest)?,
        };
        let value: f64 = rest.split_whitespace().next()?.parse().ok()?;
        value.is_finite().then_some(value)
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates, which is what is wanted")]
fn count(value: f64) -> u32 {
    value.round() as u32
}

fn share(value: f64) -> f64 {
    value.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
