//! Tool calls, put together from their parts.

use domain::message::ToolCall;
use serde_json::Value;

use super::wire::{CallPart, text};

#[derive(Debug, Default)]
pub struct Calls(Vec<Call>);

#[derive(Debug, Default)]
struct Call {
    index: Option<usize>,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    /// Adds a part to the call with its index, or to the last call when the server sends none.
    pub fn add(&mut self, part: CallPart) {
        let known = match part.index {
            Some(index) => self.0.iter().rposition(|call| call.index == Some(index)),
            None => self.0.len().checked_sub(1),
        };
        match known.and_then(|known| self.0.get_mut(known)) {
            Some(call) if !call.is_other_than(&part) => call.extend(part),
            _ => {
                let mut call = Call { index: part.index, ..Call::default() };
                call.extend(part);
                self.0.push(call);
            }
        }
    }

    pub fn finish(self) -> Vec<ToolCall> {
        let calls = self.0.into_iter().enumerate();
        calls
            .map(|(position, call)| {
                let id = match call.id.as_str() {
                    "" => format!("call_{position}"),
                    _ => call.id,
                };
                ToolCall::new(id, call.name, call.arguments)
            })
            .collect()
    }
}

impl Call {
    /// Whether the part begins another call: some servers send whole calls that all have index 0 or none.
    fn is_other_than(&self, part: &CallPart) -> bool {
        let named = part.function.name.as_ref().is_some_and(|name| !name.is_empty());
        let other_id = part.id.as_ref().is_some_and(|id| !id.is_empty() && *id != self.id);
        let complete = serde_json::from_str::<Value>(&self.arguments).is_ok();
        named && (complete || (other_id && !self.id.is_empty()))
    }

    fn extend(&mut self, part: CallPart) {
        if let Some(id) = part.id.filter(|id| !id.is_empty()) {
            self.id = id;
        }
        // Some servers repeat the name in every part.
        if let Some(name) = part.function.name.filter(|name| *name != self.name) {
            self.name.push_str(&name);
        }
        if let Some(arguments) = part.function.arguments.filter(|value| !value.is_null()) {
            self.arguments.push_str(&text(&arguments));
        }
    }
}
