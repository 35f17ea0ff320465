//! The benchmarks of the runtime, each over a PostgreSQL of its own. bench/README.md says how figures are taken.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::process::run;
use crate::test::e2e;
use crate::{install, places};

const ALL: [&str; 15] = [
    "create",
    "durable",
    "latency",
    "crash",
    "restart",
    "errors",
    "pipelining",
    "episodes",
    "rows",
    "funnel",
    "talks",
    "export",
    "pages",
    "neighbours",
    WEB,
];
/// What the pages cost in a browser: a script of its own.
const WEB: &str = "web";
/// Compares programs instead of measuring them: only on demand.
const ROWS_ALIKE: &str = "rows-alike";
/// Needs root, and network namespaces: only on demand.
const HOSTS: &str = "hosts";
/// Takes hours: only on demand.
const SOAK: &str = "soak";

#[derive(clap::Args)]
pub struct Bench {
    /// Which; default: all but rows-alike, hosts and soak
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(ALL.into_iter().chain([ROWS_ALIKE, HOSTS, SOAK])))]
    cases: Vec<String>,
    /// With rows-alike: folder of a built `groundstate` (repeat the flag); the second one defaults to the one of this checkout
    #[arg(long, value_name = "DIR", num_args = 1)]
    programs: Vec<PathBuf>,
    /// With rows-alike: a field that has another name in the rows of the second program (repeat the flag)
    #[arg(long, value_name = "OLD=NEW", requires = "programs")]
    renamed: Vec<String>,
    /// How many conversations each plays; default: as in bench/README.md
    #[arg(long)]
    n: Option<u32>,
    /// With soak: no run is begun after so many minutes
    #[arg(long)]
    minutes: Option<u64>,
}

impl Bench {
    pub fn run(self) -> Result<()> {
        ensure!(
            self.cases.iter().any(|case| case == ROWS_ALIKE) != self.programs.is_empty() && self.programs.len() <= 2,
            "rows-alike takes one or two --programs, and the other cases take none"
        );
        install::postgres()?;
        let cases: Vec<&str> =
            if self.cases.is_empty() { ALL.to_vec() } else { self.cases.iter().map(String::as_str).collect() };
        // The program embeds the web app.
        let mut node = cases.contains(&WEB).then(e2e::node).transpose()?;
        println!("==> building (the first time takes minutes)");
        let build = ["build", "--profile", "dist", "--package", "bench", "--bins"];
        let are_both_built = self.programs.len() == 2 && cases == [ROWS_ALIKE];
        let server = if are_both_built { &[][..] } else { &["--package", "server"] };
        run(places::cargo().args(build).args(server).env("SQLX_OFFLINE", "true"))?;
        let programs = places::target_dir().join("dist");
        for case in cases {
            println!("==> {case}\n");
            if let Some(node) = node.as_mut().filter(|_| case == WEB) {
                let conversations = self.n.map(|n| ("CONVERSATIONS", n.to_string()));
                run(node
                    .arg("e2e/budget.mjs")
                    .env("GROUNDSTATE_BIN", programs.join("groundstate"))
                    .envs(conversations))?;
                continue;
            }
            println!("| what | measured |\n| --- | --- |");
            let compared = self.programs.first().filter(|_| case == ROWS_ALIKE);
            let mut command = Command::new(programs.join("runtime"));
            command.arg("--programs").arg(compared.unwrap_or(&programs)).arg(case).env_remove("DATABASE_URL");
            if compared.is_some() {
                command.arg("--with").arg(self.programs.get(1).unwrap_or(&programs));
                command.args(self.renamed.iter().flat_map(|renamed| ["--renamed", renamed]));
            }
            // Errors that are expected would each read the stack.
            command.env_remove("RUST_BACKTRACE");
            if let Some(n) = self.n {
                command.args(["--n", &n.to_string()]);
            }
            if let Some(minutes) = self.minutes.filter(|_| case == SOAK) {
                command.args(["--minutes", &minutes.to_string()]);
            }
            run(&mut command)?;
            println!();
        }
        Ok(())
    }
}
