//! `groundstate author subagent`.

mod files;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use domain::sub_agent::SubAgent;
use llm::ModelError;

use super::super::models_file;
use super::scenarios::temperature;
use crate::output::say;
use domain::bad_input::BadInput;
use projects::authoring::sub_agent::{Author, SubAgentDraft, draft_sub_agent};
use projects::library::Files;

/// Makes tools, templates, the prompt and the records' schema from a description, and adds them to its playbook. The
/// result is checked first; if there is an error, nothing is written.
#[derive(clap::Args)]
pub struct Subagent {
    /// The description, as YAML
    spec: PathBuf,
    /// Folder that holds playbooks/, scenarios/, personas/ and judges/
    #[arg(long, default_value = ".")]
    project: PathBuf,
    /// Model that writes the prompt and the templates, as `NAME@BASE_URL`, `NAME@BASE_URL@KEY_VARIABLE` or a name of
    /// models.yaml; default: the words of the description are used
    #[arg(long)]
    model: Option<String>,
    /// Limit of the replies, corrections included
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    attempts: u32,
    /// Seed from which all sampling seeds are derived
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    seed: i64,
    /// Sampling temperature, 0 to 2
    #[arg(long, default_value_t = 0.4, value_parser = temperature)]
    temperature: f32,
    /// Longest reply in tokens, reasoning included
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..))]
    max_tokens: u32,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(args: Subagent) -> anyhow::Result<ExitCode> {
    let file = args.spec.display().to_string();
    let text = std::fs::read_to_string(&args.spec);
    let text = text.map_err(|error| BadInput::one(&file, format!("cannot be read: {error}")))?;
    let project = Files::read(&args.project)?;
    let registry = models_file::read(&args.project)?;
    let model = args.model.as_deref().map(|text| models_file::pool(&registry, text)).transpose();
    let model = model.map_err(|error| BadInput::one("--model", error))?;
    let author = model.as_ref().map(|model| Author {
        model,
        attempts: args.attempts,
        seed: args.seed,
        temperature: args.temperature,
        max_tokens: args.max_tokens,
    });
    let drafted = match draft_sub_agent(&project, &file, &text, author).await {
        Ok(drafted) => drafted,
        Err(error) => bail!(match error.downcast::<ModelError>() {
            Ok(refusal) => BadInput::one("--model", refusal.to_string()).into(),
            Err(error) => error,
        }),
    };
    if args.dry_run {
        show(&project, &drafted);
    } else {
        files::write(&args.project, &project, &drafted).context("nothing was written")?;
        report(&args.project, &drafted);
    }
    Ok(ExitCode::SUCCESS)
}

fn report(project: &Path, drafted: &SubAgentDraft) {
    for path in drafted.new.keys() {
        say!("wrote    {path}");
    }
    for path in drafted.changed.keys() {
        say!("added to {path}");
    }
    warnings(drafted);
    if drafted.usage != domain::event::Usage::default() {
        say!("tokens   {} read, {} written", drafted.usage.prompt_tokens, drafted.usage.completion_tokens);
    }
    say!("{}", next_steps(&drafted.spec, project));
}

fn warnings(drafted: &SubAgentDraft) {
    for warning in &drafted.warnings {
        say!("warning: {warning}");
    }
}

fn next_steps(spec: &SubAgent, project: &Path) -> String {
    let flag = if project == Path::new(".") { String::new() } else { format!(" --project {}", project.display()) };
    let tool = spec.capabilities.first().map_or("", |capability| &capability.name);
    format!(
        "
Each tool is answered by a model, and by `scripted` in tests. Read what was written, then try:
  groundstate playbook check {0}{flag}
  groundstate playbook try {tool} --playbook {0}{flag} --args '{{...}}'",
        spec.playbook
    )
}

/// New files whole, and of the others the lines that are new.
fn show(project: &Files, drafted: &SubAgentDraft) {
    for (path, text) in &drafted.new {
        say!("would write {path}:\n{text}");
    }
    for (path, text) in &drafted.changed {
        say!("would add to {path}:");
        let before = project.get(path).map_or("", String::as_str);
        for (number, line) in new_lines(before, text) {
            say!("{number:5} + {line}");
        }
        say!();
    }
    warnings(drafted);
}

/// Lines that were inserted, or stand in the place of others, with their numbers.
fn new_lines<'a>(before: &str, after: &'a str) -> Vec<(usize, &'a str)> {
    let after: Vec<&str> = after.lines().collect();
    let mut old = before.lines().peekable();
    let mut new = Vec::new();
    for (at, line) in after.iter().enumerate() {
        match old.peek() {
            Some(same) if same == line => drop(old.next()),
            other => {
                new.push((at + 1, *line));
                // The old line comes later, or it was changed.
                if other.is_some_and(|other| !after[at..].contains(other)) {
                    old.next();
                }
            }
        }
    }
    new
}
