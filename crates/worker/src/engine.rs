//! How each engine is started: its command line, from what the configuration says.
//!
//! An engine is made to call its model by the name that the pool has for it. Were it to answer for another model, its
//! answers would be taken for that model's.

mod llama_server;
mod sglang;
mod vllm;

use std::net::IpAddr;

use domain::api::workers::Engine;

use super::config::ModelConfig;

/// A command line, and what goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub program: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub key: KeyTo,
}

/// How the engine learns its key. Never by its command line, which everybody on the machine can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyTo {
    /// By an environment variable of this name.
    Env(&'static str),
    /// By a YAML file that this flag names, under this field.
    File { flag: &'static str, field: &'static str },
}

/// Where an engine is to listen, and on which GPUs it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub host: IpAddr,
    pub port: u16,
    /// Those that it sees; every one if nothing is said.
    pub gpus: Option<Vec<u32>>,
    /// Share of a GPU's memory, if the place decides.
    pub gpu_memory: Option<f64>,
}

/// None for an engine that somebody else runs.
pub fn launch(config: &ModelConfig, place: &Place) -> Option<Launch> {
    let mut launch = match config.engine {
        Engine::Vllm => vllm::launch(config, place),
        Engine::Sglang => sglang::launch(config, place),
        Engine::LlamaServer => llama_server::launch(config, place),
        Engine::External => return None,
    };
    launch.args.extend(config.flags.iter().cloned());
    if let Some(gpus) = &place.gpus {
        let gpus: Vec<String> = gpus.iter().map(u32::to_string).collect();
        // Else CUDA numbers the fastest first, and the driver by the bus: the numbers that people see are the driver's.
        launch.env.push(("CUDA_DEVICE_ORDER".to_owned(), "PCI_BUS_ID".to_owned()));
        launch.env.push(("CUDA_VISIBLE_DEVICES".to_owned(), gpus.join(",")));
    }
    Some(launch)
}

impl Launch {
    /// The line that a person would type, who has the key in this variable.
    pub fn line(&self, key_env: Option<&str>) -> String {
        let mut words: Vec<String> = self.env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
        let mut key = None;
        match (self.key, key_env) {
            (KeyTo::Env(name), Some(variable)) => words.push(format!("{name}=\"${variable}\"")),
            (KeyTo::File { flag, field }, Some(variable)) => {
                key = Some(format!("{flag} <(echo \"{field}: ${variable}\")"));
            }
            (_, None) => {}
        }
        words.push(quoted(&self.program));
        words.extend(self.args.iter().map(|arg| quoted(arg)));
        words.extend(key);
        words.join(" ")
    }
}

fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}

/// Puts arguments together.
#[derive(Default)]
struct Args(Vec<String>);

impl Args {
    fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn flag(mut self, flag: &str) -> Self {
        self.0.push(flag.to_owned());
        self
    }

    fn with(mut self, flag: &str, value: impl ToString) -> Self {
        self.0.extend([flag.to_owned(), value.to_string()]);
        self
    }

    /// Nothing, if there is no value.
    fn maybe(self, flag: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(flag, value),
            None => self,
        }
    }

    fn launch(self, program: Option<&str>, usual: &str, key: KeyTo) -> Launch {
        Launch { program: program.unwrap_or(usual).to_owned(), args: self.0, env: Vec::new(), key }
    }
}

#[cfg(test)]
mod tests;
