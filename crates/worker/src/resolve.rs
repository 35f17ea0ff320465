//! From what people configured to workers that can be started: ports, addresses, names and keys.

use std::net::{IpAddr, Ipv4Addr, TcpListener};

use domain::api::workers::{Engine, WorkerJoin};
use reqwest::Url;

use super::config::{ModelConfig, ModelConfigError};
use super::engine::{self, Place};
use super::placement::Placement;
use super::{Worker, is_program, name};

/// What is on this machine, and what is only asked for.
pub struct Machine<'a> {
    pub host: &'a str,
    /// Nothing will be started: whether ports, keys and programs are there does not matter.
    pub dry_run: bool,
}

/// # Errors
/// All that is missing on this machine.
pub fn workers(
    models: &[ModelConfig],
    placed: &[Placement],
    machine: &Machine<'_>,
) -> Result<Vec<Worker>, Vec<ModelConfigError>> {
    // Each port is held until all are chosen: two models must not be given the same.
    let mut held = Vec::new();
    let (mut workers, mut unfit) = (Vec::new(), Vec::new());
    for (number, (config, place)) in models.iter().zip(placed).enumerate() {
        match worker(config, place, machine, &mut held) {
            Ok(worker) => workers.push(worker),
            Err((field, why)) => unfit.push(ModelConfigError { model: number, field, why }),
        }
    }
    if unfit.is_empty() { Ok(workers) } else { Err(unfit) }
}

type Fault = (&'static str, String);

fn worker(
    config: &ModelConfig,
    placed: &Placement,
    machine: &Machine<'_>,
    held: &mut Vec<TcpListener>,
) -> Result<Worker, Fault> {
    let key = key(config, machine)?;
    let (url, local, launch) = match (config.engine, &config.url) {
        (Engine::External, Some(url)) => {
            let local = parsed("url", url)?;
            (config.advertise.clone().unwrap_or_else(|| url.clone()), local, None)
        }
        _ => {
            let port = port(config, machine, held)?;
            let local = format!("http://127.0.0.1:{port}/v1");
            let url = config.advertise.clone().unwrap_or_else(|| local.clone());
            let place = Place {
                host: listen(&parsed("advertise", &url)?),
                port,
                gpus: placed.gpus.clone(),
                gpu_memory: placed.share,
            };
            let launch = engine::launch(config, &place);
            if let Some(launch) = launch.as_ref().filter(|launch| !machine.dry_run && !is_program(&launch.program)) {
                let why = format!("`{}` is not installed; install it, or name its executable", launch.program);
                return Err(("program", why));
            }
            (url, parsed("port", &local)?, launch)
        }
    };
    let place = local.port_or_known_default().map_or_else(String::new, |port| port.to_string());
    let join = WorkerJoin {
        name: config.name.clone().unwrap_or_else(|| name::of(machine.host, &config.model, &place)),
        model: config.model.clone(),
        served_as: None,
        url,
        engine: config.engine,
        max_in_flight: config.max_in_flight,
        key_env: config.key_env.clone(),
    };
    Ok(Worker { join, launch, local, key, gpus: placed.gpus.clone() })
}

fn key(config: &ModelConfig, machine: &Machine<'_>) -> Result<Option<String>, Fault> {
    let Some(variable) = &config.key_env else { return Ok(None) };
    if !WorkerJoin::is_key_of_engine(variable) {
        let names = WorkerJoin::KEYS;
        return Err((
            "key_env",
            format!("players never send {variable} to an engine; choose a name that begins with {names}"),
        ));
    }
    if machine.dry_run {
        return Ok(None);
    }
    let key = std::env::var(variable).ok().filter(|key| !key.trim().is_empty());
    let missing =
        || ("key_env", format!("the environment variable {variable}, which must hold the key, is not set or empty"));
    key.map(Some).ok_or_else(missing)
}

fn port(config: &ModelConfig, machine: &Machine<'_>, held: &mut Vec<TcpListener>) -> Result<u16, Fault> {
    if let Some(port) = config.port.filter(|_| machine.dry_run) {
        return Ok(port);
    }
    let wanted = config.port.unwrap_or(0);
    let taken = |error: std::io::Error| match config.port {
        Some(port) => {
            ("port", format!("port {port} is in use ({error}); choose another, or leave it out to take a free one"))
        }
        None => ("port", format!("there is no free port: {error}")),
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)).map_err(taken)?;
    let port = listener.local_addr().map_err(taken)?.port();
    held.push(listener);
    Ok(port)
}

/// Only as far as players must reach it.
fn listen(advertised: &Url) -> IpAddr {
    let local = matches!(advertised.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if local { Ipv4Addr::LOCALHOST.into() } else { Ipv4Addr::UNSPECIFIED.into() }
}

fn parsed(field: &'static str, url: &str) -> Result<Url, Fault> {
    url.parse().map_err(|fault| (field, format!("`{url}` is not a URL: {fault}")))
}
