//! `groundstate playbook new`: a playbook to start from.

use std::path::Path;
use std::process::ExitCode;

use rust_embed::RustEmbed;

use super::{Project, files};
use crate::output::say;

/// With `PLAYBOOK_NAME` and `JUDGE_NAME` where the names go.
#[derive(RustEmbed)]
#[folder = "scaffold"]
struct Scaffold;

#[derive(clap::Args)]
pub struct NewPlaybookArgs {
    /// Name of the new playbook: lower-case letters, digits and `_`
    name: String,
    #[command(flatten)]
    project: Project,
}

pub fn run(args: &NewPlaybookArgs) -> anyhow::Result<ExitCode> {
    let (name, project) = (args.name.as_str(), args.project.folder.as_path());
    files::refuse("NAME", name, project)?;
    let judge = files::judge(project)?;
    let filled = |text: &str| text.replace("PLAYBOOK_NAME", name).replace("JUDGE_NAME", &judge);
    let mut made = files::shared(project)?;
    for path in Scaffold::iter() {
        let target = match path.split_once('/') {
            Some(("playbook", file)) => format!("playbooks/{name}/{file}"),
            // A scenario's file is called as its id, so that it keeps its name wherever it is kept.
            Some(("scenarios", file)) => format!("scenarios/{name}/{name}_{file}"),
            // What other commands write.
            _ => continue,
        };
        made.insert(target, filled(&files::text::<Scaffold>(&path)?));
    }
    anyhow::ensure!(
        made.contains_key(&format!("playbooks/{name}/playbook.yaml")),
        "this program does not find its templates; debug builds look for them in the folder in which they were built"
    );
    files::write(project, name, &made)?;
    for path in made.keys() {
        say!("wrote {path}");
    }
    say!("{}", next_steps(name, project));
    Ok(ExitCode::SUCCESS)
}

fn next_steps(name: &str, project: &Path) -> String {
    let flag = if project == Path::new(".") { String::new() } else { format!(" --project {}", project.display()) };
    format!(
        "
It can be played as it is. Try:
  groundstate validate{flag}
  groundstate playbook try get_order --playbook {name}{flag} --args '{{\"order_id\": \"ord_1001\"}}'
  groundstate generate --playbook {name}{flag} --n 4
Then change playbooks/{name} and scenarios/{name}, and after each change:
  groundstate playbook check {name}{flag}"
    )
}
