//! Rows of workflows, with stand-ins: what they become, whatever the order of replies, wherever a process dies.
#![expect(clippy::unwrap_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

mod agent_loop;
mod choices;
mod cuts;
mod ends;
mod language;
mod limits;
mod order;
mod support;
mod tools;
mod vectors;

use domain::seed::Seed;
use domain::task::{Next, Request, Resolution, Task};
use serde_json::{Value, json};
use workflow::{Responder, Row};

use support::{compiled, finish, input};

fn begin(yaml: &str, functions: &str, row: &Value) -> Row {
    Row::begin(&compiled(yaml, functions), &input(row), Seed::new(1, "test", 0)).unwrap()
}

/// How a row ended, its output, and what was asked, in order.
fn play(yaml: &str, functions: &str, row: &Value) -> String {
    let mut row = begin(yaml, functions, row);
    let events = finish(&mut row, |_| 0);
    let ending = row.ending().unwrap();
    let output = row.output().map_or_else(|| ending.reason.clone(), |output| json!(output).to_string());
    format!("{}: {output} after {} events", ending.name, events.len())
}

/// The open requests, each with the answer of its stand-in.
fn answers(row: &Row) -> Vec<(Request<Responder>, Resolution)> {
    match row.next() {
        Next::Wait(requests) => requests.into_iter().map(|r| (r.clone(), row.stand_in(&r))).collect(),
        _ => Vec::new(),
    }
}

const ECHO: &str = "def echo(request): return request['prompt']\n";
