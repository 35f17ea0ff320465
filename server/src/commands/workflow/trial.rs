//! `groundstate workflow try`

use std::process::ExitCode;

use ::rows::jsonl;
use domain::bad_input::BadInput;
use domain::text;
use serde_json::{Map, Value};
use workflow::{RowEvent, RowEventKind, play_sample};

use super::{Project, find, read};
use crate::output::say;

/// Letters of a line of a reply that are shown: vectors have thousands of numbers.
const LONGEST_LINE: usize = 1_000;

#[derive(clap::Args)]
pub struct TrialArgs {
    /// The workflow
    name: String,
    /// The input row, as JSON
    #[arg(long, value_name = "JSON", conflicts_with = "sample")]
    input: Option<String>,
    /// The sample of the document to play, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
    /// Seed from which everything random is derived
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    seed: i64,
    #[command(flatten)]
    project: Project,
}

pub fn run(args: &TrialArgs) -> anyhow::Result<ExitCode> {
    let (_, compiled) = read(&args.project.folder)?;
    let workflow = find(compiled, &args.name)?;
    let input: Map<String, Value> = match &args.input {
        Some(text) => jsonl::row(text).map_err(|message| BadInput::one("--input", message))?,
        None => {
            let sample = workflow.spec.samples.get(args.sample as usize - 1);
            let missing =
                || BadInput::one("--sample", format!("the workflow has no sample {}; give an --input", args.sample));
            sample.ok_or_else(missing)?.input.clone()
        }
    };
    let report = play_sample(&workflow, &input, args.seed).map_err(|e| BadInput::one("--input", e.to_string()))?;
    report.events.iter().for_each(show);
    let ending = &report.ending;
    let reason = if ending.reason.is_empty() { String::new() } else { format!(": {}", ending.reason) };
    say!("{} as `{}`{reason}", if ending.success { "accepted" } else { "ended" }, ending.name);
    if let Some(output) = &report.output {
        say!("{}", serde_json::to_string_pretty(output)?);
    }
    for (name, value) in &report.metrics {
        match value {
            Ok(value) => say!("{name} = {value}"),
            Err(reason) => say!("{name} fails: {reason}"),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show(event: &RowEvent) {
    match &event.event {
        RowEventKind::Replied(reply) | RowEventKind::CutOff(reply) => {
            say!("{}", reply.at.step);
            reply.content.lines().for_each(|line| say!("    {}", text::cut(line, LONGEST_LINE)));
            for call in &reply.tool_calls {
                say!("    calls {}({})", call.name(), call.function.arguments);
            }
        }
        RowEventKind::Found { at, passages } => {
            say!("{}\n    {} found", at.step, passages.as_array().map_or(0, Vec::len));
        }
        RowEventKind::Called { at, answer } => {
            say!("{}\n    {}", at.step, text::cut(&answer.to_string(), LONGEST_LINE));
        }
        RowEventKind::Lost { at, reason } => say!("{}\n    no answer: {reason}", at.step),
        RowEventKind::Started | RowEventKind::Item(_) | RowEventKind::Ended(_) => {}
    }
}
