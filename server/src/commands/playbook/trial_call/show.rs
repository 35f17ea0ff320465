//! A call's answer as people read it.

use crate::output::say;
use domain::patch::PatchOp;
use engine::World;
use engine::trial_call::Reply;
use serde_json::Value;

use crate::commands::playbook::paint::Paint;
use projects::documents::trial::reason;

pub struct Show(Paint);

impl Show {
    pub fn on_stdout() -> Self {
        Self(Paint::of_stdout())
    }

    pub fn note(&self, text: &str) {
        say!("{} {text}\n", self.0.yellow("note:"));
    }

    /// What the tool's function printed.
    pub fn printed(&self, lines: &[String]) {
        for line in lines {
            say!("{} {line}", self.0.yellow("printed:"));
        }
    }

    /// `before` is the world that the call was made on.
    pub fn reply(&self, tool: &str, reply: &Reply, before: &World) {
        let paint = self.0;
        let said = |how: &str| say!("{} {how}", paint.bold(tool));
        match reply {
            Reply::Answered { content, patch } => {
                said(&format!("{}:", paint.green("answered")));
                say!("{}", indented(&pretty(content)));
                self.changes(patch, before);
            }
            Reply::Ended => said("ends the conversation; the agent reads nothing"),
            Reply::Refused { content, why } => {
                said(&format!("{}; the agent reads:", paint.yellow("refused")));
                say!("{}", indented(content));
                say!("why: {}; nothing was changed", reason(why));
            }
            Reply::Broken { content, why } => {
                said(&format!("{}; the agent reads:", paint.red("is broken")));
                say!("{}", indented(content));
                say!("why, for you:\n{}", indented(why.trim_end()));
            }
            Reply::Asks { prompt } => {
                said("is answered by a model (--tool-simulator), which would read:");
                say!("{}", indented(prompt.trim_end()));
            }
        }
    }

    fn changes(&self, patch: &[PatchOp], before: &World) {
        if patch.is_empty() {
            say!("changed nothing");
            return;
        }
        say!("changed:");
        for op in patch {
            let old = before.get(op.path()).map(|node| node.to_json().to_string()).unwrap_or_default();
            let line = match op {
                PatchOp::Add { path, value } => format!("{} {path} {value}", self.0.green("add    ")),
                PatchOp::Replace { path, value } => format!("{} {path} {old} -> {value}", self.0.yellow("replace")),
                PatchOp::Remove { path } => format!("{} {path} {old}", self.0.red("remove ")),
            };
            say!("  {line}");
        }
    }
}

/// JSON over several lines; any other text as it is.
fn pretty(content: &str) -> String {
    let value: Option<Value> = serde_json::from_str(content).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| content.to_owned())
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| if line.is_empty() { String::new() } else { format!("  {line}") })
        .collect::<Vec<_>>()
        .join("\n")
}
