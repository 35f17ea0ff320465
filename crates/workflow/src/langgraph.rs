//! A graph of LangGraph, as its own drawing shows it, as the draft of a workflow: nodes and edges become steps that
//! somebody fills in.

mod drawing;
mod files;
mod graph;
mod json;
mod mermaid;
mod names;
mod regions;
mod report;
mod steps;

use domain::Problem;

use crate::collection::Files;
use crate::limits::MOST_STEPS;
use graph::Graph;
pub use report::Report;

/// Bytes of a drawing: one with the most nodes and edges has some 200,000.
pub const MOST_BYTES: usize = 1 << 20;
/// Nodes of a drawing, which become at least as many steps.
pub const MOST_NODES: usize = MOST_STEPS;
/// Edges of a drawing.
pub const MOST_EDGES: usize = 2_000;
/// A label of an edge, in bytes.
const LONGEST_LABEL: usize = 200;
/// Loops within each other. Cycles that are nested deeper share one loop.
const MOST_LEVELS: usize = 4;

/// The files of a workflow that is to be filled in, and what they were made of.
#[derive(Debug)]
pub struct Draft {
    pub files: Files,
    pub report: Report,
}

/// Reads `graph.get_graph().to_json()` or `draw_mermaid()`. `file` is only a name for messages.
///
/// # Errors
/// What is wrong with the drawing, with its place.
pub fn draft(file: &str, text: &str, name: &str) -> Result<Draft, Problem> {
    if text.len() > MOST_BYTES {
        return Err(Problem::new(file, 0, "", format!("is longer than {MOST_BYTES} bytes")));
    }
    let is_json = text.trim_start().starts_with(['{', '[']);
    let drawing = if is_json { json::read(file, text)? } else { mermaid::read(file, text)? };
    let graph = Graph::new(&drawing).map_err(|message| Problem::new(file, 0, "", message))?;
    let (parts, report) = steps::build(&graph, &drawing);
    let count = steps::count(&parts.steps);
    if count > MOST_STEPS {
        let message = format!(
            "becomes {count} steps, choices and loops included, and a workflow has at most {MOST_STEPS}; draw a part of it"
        );
        return Err(Problem::new(file, 0, "", message));
    }
    Ok(Draft { files: files::write(name, &parts), report })
}

#[cfg(test)]
mod tests;
