//! What went wrong in an author's code, in one line for the author: the place, the function, and what happened there.

use starlark::codemap::FileSpan;
use starlark::{Error, ErrorKind};

use super::{EXPRESSION, EXPRESSION_FILE};

pub const TOO_MANY_STEPS: &str =
    "the call took more than 1,000,000 steps; each call of a function and each round of a loop is one";
pub const TOO_MUCH_MEMORY: &str = "the call made more than 128 MiB of values";

/// What is wrong in a source, and in which line, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub line: Option<usize>,
    pub message: String,
}

impl Fault {
    pub fn of(error: &Error) -> Self {
        Self { line: error.span().map(line), message: reason(error) }
    }
}

/// `tools.star:8, in refund: Key "o_18" was not found (called from line 20)`. `hook`: the hook that was running.
pub fn explain(error: &Error, hook: Option<&str>) -> String {
    let mut frames = &error.call_stack().frames[..];
    // A function of Starlark's or ours: the author's, who called it, is meant.
    while let Some((last, rest)) = frames.split_last()
        && last.location.is_some()
        && last.location.as_ref() == error.span()
    {
        frames = rest;
    }
    let calls: Vec<&FileSpan> = frames.iter().filter_map(|frame| frame.location.as_ref()).collect();
    let (place, callers) = match (error.span(), calls.split_last()) {
        (None, Some((last, rest))) => (Some(*last), rest),
        (span, _) => (span, &calls[..]),
    };
    let function = frames.last().map(|frame| frame.name.as_str()).filter(|name| !name.contains(EXPRESSION));
    let mut out = String::new();
    match place {
        // The author knows which one it is, and mostly it has one line.
        Some(place) if place.filename() == EXPRESSION_FILE && line(place) == 1 => {}
        Some(place) if place.filename() == EXPRESSION_FILE => out.push_str(&format!("line {}", line(place))),
        Some(place) => out.push_str(&format!("{}:{}", place.filename(), line(place))),
        None => {}
    }
    if let Some(function) = function {
        out.push_str(if out.is_empty() { "in " } else { ", in " });
        out.push_str(function.rsplit('.').next().unwrap_or(function));
    }
    if !out.is_empty() {
        out.push_str(": ");
    }
    if let Some(hook) = hook {
        out.push_str(&format!("the hook `{hook}` failed: "));
    }
    out.push_str(&reason(error));
    // Where a helper fails, what it was called with comes from there.
    let callers: Vec<String> = callers.iter().rev().take(3).map(|caller| line(caller).to_string()).collect();
    if !callers.is_empty() {
        out.push_str(&format!(" (called from line {})", callers.join(", from line ")));
    }
    out
}

pub fn is_placed(error: &Error) -> bool {
    error.span().is_some() || error.call_stack().frames.iter().any(|frame| frame.location.is_some())
}

fn line(place: &FileSpan) -> usize {
    place.resolve_span().begin.line + 1
}

/// What happened, in words that say what to do where Starlark's own do not.
fn reason(error: &Error) -> String {
    let said = format!("{:#}", error.without_diagnostic());
    match error.kind() {
        ErrorKind::StackOverflow(_) => "functions call each other more than 64 deep".to_owned(),
        _ if said.contains("ticks has been exceeded") => TOO_MANY_STEPS.to_owned(),
        _ if said.contains("Heap memory limit") => TOO_MUCH_MEMORY.to_owned(),
        _ => said.trim().replace('\n', " "),
    }
}
