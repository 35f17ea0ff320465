//! `groundstate workflow import`: a draft of a workflow from a graph that is there already.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use domain::Problem;
use domain::bad_input::BadInput;
use projects::library::workflows;
use workflow::Surroundings;
use workflow::langgraph::{self, Draft, MOST_BYTES, Report};

use super::{Project, folder};
use crate::output::say;

#[derive(clap::Subcommand)]
pub enum Import {
    /// Import a graph of LangGraph; its nodes and edges become steps that you fill in
    Langgraph(LanggraphArgs),
}

#[derive(clap::Args)]
pub struct LanggraphArgs {
    /// The graph as `graph.get_graph()` draws it: the JSON of `to_json()`, or what `draw_mermaid()` gives
    file: PathBuf,
    /// Name of the new workflow: lower-case letters, digits and `_`; default: that of the file
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    project: Project,
}

pub fn run(import: &Import) -> anyhow::Result<ExitCode> {
    let Import::Langgraph(args) = import;
    let project = &args.project.folder;
    let name = args.name.clone().unwrap_or_else(|| name_of(&args.file));
    let folder = folder::free("--name", &name, project)?;
    let shown = args.file.display().to_string();
    let text = read(&args.file)?;
    let draft = langgraph::draft(&shown, &text, &name).map_err(|problem| BadInput(vec![problem]))?;
    let faults = faults(&name, &draft);
    if !faults.is_empty() {
        bail!(BadInput(faults));
    }
    folder::write(&folder, draft.files.iter().map(|(name, text)| (name.as_str(), text.clone())))?;
    report(&name, project, &draft.report);
    Ok(ExitCode::SUCCESS)
}

/// What the file is called, as a name.
fn name_of(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    stem.chars().map(|c| if matches!(c, '-' | ' ' | '.') { '_' } else { c }).collect()
}

fn read(path: &Path) -> anyhow::Result<String> {
    let problem = |message: String| BadInput::one(path.display().to_string(), message);
    let file = File::open(path).map_err(|error| problem(error.to_string()))?;
    let mut text = String::new();
    // One byte more tells that it is too long.
    file.take(MOST_BYTES as u64 + 1).read_to_string(&mut text).map_err(|error| problem(error.to_string()))?;
    Ok(text)
}

/// What `workflow check` would refuse: such a draft helps nobody.
fn faults(name: &str, draft: &Draft) -> Vec<Problem> {
    let folder = format!("{}/{name}", workflows::FOLDER);
    match workflow::compile(&folder, &draft.files, Surroundings::NONE) {
        Ok(compiled) => workflows::sample_problems(&Arc::new(compiled)),
        Err(problems) => problems,
    }
}

fn report(name: &str, project: &Path, report: &Report) {
    say!("\nmade of the graph:");
    let width = report.made.iter().map(|(drawn, _)| drawn.chars().count()).max().unwrap_or_default().min(48);
    for (drawn, step) in &report.made {
        say!("  {drawn:width$}  {step}");
    }
    say!("not taken over:");
    report.lost.iter().for_each(|lost| say!("  {lost}"));
    let flag = if project == Path::new(".") { String::new() } else { format!(" --project {}", project.display()) };
    say!("\nfill it in   grep -rn 'Fill in' {}", project.join(workflows::FOLDER).join(name).display());
    say!("check it     groundstate workflow check {name}{flag}");
    say!("try it       groundstate workflow try {name}{flag}");
}
