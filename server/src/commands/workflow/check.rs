//! `groundstate workflow check`

use std::process::ExitCode;

use domain::bad_input::BadInput;
use domain::text::counted;
use workflow::{Workflow, play_sample};

use super::{Project, find, read};
use crate::output::say;

#[derive(clap::Args)]
pub struct CheckArgs {
    /// Workflows to check; default: all
    names: Vec<String>,
    #[command(flatten)]
    project: Project,
}

pub fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let (_, compiled) = read(&args.project.folder)?;
    let chosen: Vec<_> = if args.names.is_empty() {
        let (workflows, problems) = compiled;
        if !problems.is_empty() {
            return Err(BadInput(problems).into());
        }
        workflows.into_values().collect()
    } else {
        let find = |name: &String| find(compiled.clone(), name);
        args.names.iter().map(find).collect::<anyhow::Result<_>>()?
    };
    let mut problems = Vec::new();
    for workflow in &chosen {
        problems.extend(projects::library::workflows::sample_problems(workflow));
        describe(workflow);
    }
    if problems.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(BadInput(problems).into()) }
}

fn describe(workflow: &std::sync::Arc<Workflow>) {
    let roles: Vec<String> = workflow.all_roles().into_iter().collect();
    let replies = |sample: &domain::workflow::Sample| {
        let report = play_sample(workflow, &sample.input, 1);
        report.map_or(0, |report| report.events.len().saturating_sub(2))
    };
    let replies: usize = workflow.spec.samples.iter().map(replies).sum();
    say!("{}", workflow.spec.name);
    say!("  takes    {}", workflow.input);
    say!("  gives    {}", workflow.output_type);
    say!("  asks     {}", roles.join(", "));
    say!("  samples  {}, {} to stand-ins", counted(workflow.spec.samples.len(), "sample"), counted(replies, "request"));
}
