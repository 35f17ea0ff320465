//! The benchmarks of the runtime, each over a PostgreSQL of its own. bench/README.md says how figures are taken.

use anyhow::Result;

use crate::process::run;
use crate::{install, places};

const ALL: [&str; 9] = ["durable", "latency", "crash", "restart", "errors", "pipelining", "rows", "export", "pages"];

#[derive(clap::Args)]
pub struct Bench {
    /// Which; default: all
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(ALL))]
    cases: Vec<String>,
    /// How many conversations each plays; default: as in bench/README.md
    #[arg(long)]
    n: Option<u32>,
}

impl Bench {
    pub fn run(self) -> Result<()> {
        install::postgres()?;
        println!("==> building (the first time takes minutes)");
        let build = ["build", "--release", "--package", "server", "--package", "bench", "--bins"];
        run(places::cargo().args(build).env("SQLX_OFFLINE", "true"))?;
        let programs = places::target_dir().join("release");
        let cases: Vec<&str> =
            if self.cases.is_empty() { ALL.to_vec() } else { self.cases.iter().map(String::as_str).collect() };
        for case in cases {
            println!("==> {case}\n\n| what | measured |\n| --- | --- |");
            let mut command = std::process::Command::new(programs.join("runtime"));
            command.arg("--programs").arg(&programs).arg(case).env_remove("DATABASE_URL");
            // Errors that are expected would each read the stack.
            command.env_remove("RUST_BACKTRACE");
            if let Some(n) = self.n {
                command.args(["--n", &n.to_string()]);
            }
            run(&mut command)?;
            println!();
        }
        Ok(())
    }
}
