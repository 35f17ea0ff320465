//! What the runtime does with real processes and a real, durable PostgreSQL: throughput, concurrency, crashes, errors.
//! `cargo xtask bench` builds what it needs and runs it; bench/README.md says how each figure is taken.

mod api;
mod cases;
mod crash;
mod create;
mod episodes;
mod export;
mod hosts;
mod neighbours;
mod pages;
mod pipelining;
mod program;
mod rows_alike;
mod soak;
mod workflows;

use std::path::{Path, PathBuf};

use anyhow::bail;
use bench::machine;
use bench::rows::Renamed;
use clap::{Parser, Subcommand};
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Parser)]
struct Flags {
    /// Folder of the built programs
    #[arg(long)]
    programs: PathBuf,
    #[command(subcommand)]
    case: Case,
}

#[derive(Subcommand, Clone)]
enum Case {
    /// Conversations that cost no wait: what the program and PostgreSQL take
    Durable {
        #[arg(long, default_value_t = 20_000)]
        n: u32,
        #[arg(long, default_value_t = 512)]
        concurrency: u32,
    },
    /// Very many conversations at once with a slow model
    Latency {
        #[arg(long, default_value_t = 49_600)]
        n: u32,
        #[arg(long, default_value_t = 12_400)]
        concurrency: u32,
        #[arg(long, default_value_t = 2000.0)]
        median_ms: f64,
    },
    /// Three players, of which one is killed every two seconds, beside three that live
    Crash {
        #[arg(long, default_value_t = 20_000)]
        n: u32,
    },
    /// PostgreSQL is restarted in immediate mode in the middle, twice
    Restart {
        #[arg(long, default_value_t = 20_000)]
        n: u32,
    },
    /// A very long run is stored
    Create {
        #[arg(long, default_value_t = 1_000_000)]
        n: u32,
    },
    /// The same run in a database of ten thousand conversations and in one of a million
    Rows {
        #[arg(long, default_value_t = 10_000)]
        n: u32,
        #[arg(long, default_value_t = 98)]
        copies: i32,
        #[arg(long, default_value_t = 512)]
        concurrency: u32,
    },
    /// A million rows of a dataset through a workflow that most of them leave at its first step, and a run over 25 million that is
    /// only stored
    Funnel(workflows::Funnel),
    /// Two partners who answer at once talk until they agree, as Matrix measures its own overhead
    Talks(workflows::Talks),
    /// Lists, filters and facets of a million conversations, over HTTP: of one run, or of a project of many
    Pages {
        #[arg(long, default_value_t = 1)]
        runs: u32,
        /// Conversations of each run that are played
        #[arg(long, default_value_t = 10_000)]
        n: u32,
        /// How often they are copied behind themselves
        #[arg(long, default_value_t = 99)]
        copies: i32,
        /// Requests of each kind
        #[arg(long, default_value_t = 200)]
        requests: usize,
    },
    /// Episodes over HTTP, whose agents answer at once
    Episodes(episodes::Flags),
    /// Judges, and parallel calls of tools, asked one after another and at once
    Pipelining {
        #[arg(long, default_value_t = 320)]
        n: u32,
    },
    /// A run of very many conversations as canonical JSONL
    Export {
        #[arg(long, default_value_t = 10_000)]
        n: u32,
        #[arg(long, default_value_t = 19)]
        copies: i32,
    },
    /// The rows of the shipped scenarios, by these programs and by others: the same but for ids and times
    RowsAlike {
        /// Folder of the other programs, which are those of today
        #[arg(long, value_name = "DIR")]
        with: PathBuf,
        #[arg(long, default_value_t = 720)]
        n: u32,
        /// A field that has another name in the rows of the other programs (repeat the flag)
        #[arg(long, value_name = "OLD=NEW")]
        renamed: Vec<Renamed>,
    },
    /// Processes on hosts of their own (network namespaces, made by root): links that are cut, lossy and slow, wrong clocks,
    /// and a database whose standby takes over
    Hosts {
        #[arg(long, default_value_t = 14_000)]
        n: u32,
        #[arg(long, default_value_t = 300.0)]
        median_ms: f64,
        /// How long each disturbance lasts
        #[arg(long, default_value_t = 30)]
        seconds: u64,
    },
    /// Runs one after another for hours, jobs of every kind beside them, and a process killed every minute
    Soak(soak::Flags),
    /// A project whose members do their worst, and the pages and the run of another one beside it
    Neighbours {
        /// Conversations of each run that is ordered
        #[arg(long, default_value_t = 2_000_000)]
        n: u32,
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// An endpoint of whose answers 30 % are errors
    Errors {
        #[arg(long, default_value_t = 1_000)]
        n: u32,
    },
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut ended = signal(SignalKind::terminate())?;
    // Dropping a case ends the processes that it started and removes its files.
    tokio::select! {
        done = case(Flags::parse()) => done,
        _ = ctrl_c() => bail!("interrupted"),
        _ = ended.recv() => bail!("terminated"),
    }
}

async fn case(flags: Flags) -> anyhow::Result<()> {
    let place = program::Place::new(flags.programs.clone())?;
    match flags.case {
        Case::Durable { n, concurrency } => cases::durable(&place, n, concurrency).await,
        Case::Latency { n, concurrency, median_ms } => cases::latency(&place, n, concurrency, median_ms).await,
        Case::Crash { n } => crash::players(&place, n).await,
        Case::Restart { n } => crash::database(&place, n).await,
        Case::Create { n } => create::case(&place, n).await,
        Case::Funnel(own) => {
            let place = program::Place::of(flags.programs, Path::new("."), &["workflows"])?;
            workflows::funnel(&place, &own).await
        }
        Case::Talks(own) => {
            let place = program::Place::of(flags.programs, Path::new("bench"), &["workflows"])?;
            workflows::talks(&place, &own).await
        }
        Case::Rows { n, copies, concurrency } => cases::rows(&place, n, copies, concurrency).await,
        Case::Pages { runs, n, copies, requests } => {
            pages::pages(&place, &pages::Size { runs, n, copies }, requests).await
        }
        Case::Episodes(flags) => episodes::case(&place, &flags).await,
        Case::Pipelining { n } => pipelining::case(&place, n).await,
        Case::Export { n, copies } => export::case(&place, n, copies).await,
        Case::RowsAlike { with, n, renamed } => rows_alike::case(flags.programs, with, n, &renamed).await,
        Case::Errors { n } => cases::errors(&place, n).await,
        Case::Hosts { n, median_ms, seconds } => hosts::case(&place, n, median_ms, seconds).await,
        Case::Soak(flags) => soak::case(&place, &flags).await,
        Case::Neighbours { n, seconds } => neighbours::case(flags.programs, seconds, n).await,
    }
}
