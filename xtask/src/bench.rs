//! The benchmarks of the runtime, each over a PostgreSQL of its own. bench/README.md says how figures are taken.

use anyhow::Result;

use crate::process::run;
use crate::test::e2e;
use crate::{install, places};

const ALL: [&str; 11] =
    ["create", "durable", "latency", "crash", "restart", "errors", "pipelining", "rows", "export", "pages", WEB];
/// What the pages cost in a browser: a script of its own.
const WEB: &str = "web";

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
        let cases: Vec<&str> =
            if self.cases.is_empty() { ALL.to_vec() } else { self.cases.iter().map(String::as_str).collect() };
        // The program embeds the web app.
        let mut node = cases.contains(&WEB).then(e2e::node).transpose()?;
        println!("==> building (the first time takes minutes)");
        let build = ["build", "--profile", "dist", "--package", "server", "--package", "bench", "--bins"];
        run(places::cargo().args(build).env("SQLX_OFFLINE", "true"))?;
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
