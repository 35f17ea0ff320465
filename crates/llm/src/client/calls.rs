//! Tool calls, put together from their parts.

use domain::message::ToolCall;
use serde_json::Value;

use super::wire::{CallPart, text};

/// Of so many calls it is told while they come: more would be a flood, not a plan.
const LISTENED: usize = 64;

/// Longest arguments, in bytes, that are JSON without a brace: `null`, a number, a short text.
const LITERAL: usize = 64;

#[derive(Debug, Default)]
pub struct Calls {
    all: Vec<Call>,
    /// So many of the first are known to be complete.
    complete: usize,
    /// Of names, ids and arguments.
    bytes: usize,
}

#[derive(Debug, Default, Clone)]
struct Call {
    index: Option<usize>,
    id: String,
    name: String,
    arguments: String,
    nesting: Nesting,
    /// Whether the arguments are JSON, found out when their last brace came: to parse them with each part that comes would
    /// cost the square of their length.
    is_json: bool,
}

/// How deep in its objects and lists a JSON text is that comes in parts.
#[derive(Debug, Default, Clone)]
struct Nesting {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// Its outermost object has ended.
    ended: bool,
}

impl Calls {
    /// Adds a part to the call with its index, or to the last call when the server sends none.
    pub fn add(&mut self, part: CallPart) {
        self.bytes += part.bytes();
        let known = match part.index {
            Some(index) => self.all.iter().rposition(|call| call.index == Some(index)),
            None => self.all.len().checked_sub(1),
        };
        match known.and_then(|known| self.all.get_mut(known)) {
            Some(call) if !call.is_other_than(&part) => call.extend(part),
            _ => {
                let mut call = Call { index: part.index, ..Call::default() };
                call.extend(part);
                self.all.push(call);
            }
        }
    }

    /// The first calls whose arguments are complete, if there are more than when this was asked last.
    pub fn newly_complete(&mut self) -> Option<Vec<ToolCall>> {
        let known = self.complete;
        let rest = self.all.iter().take(LISTENED).skip(known);
        self.complete += rest.take_while(|call| call.nesting.ended).count();
        let complete = &self.all[..self.complete];
        (self.complete > known).then(|| finished(complete.to_vec()))
    }

    pub const fn count(&self) -> usize {
        self.all.len()
    }

    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn finish(self) -> Vec<ToolCall> {
        finished(self.all)
    }
}

fn finished(calls: Vec<Call>) -> Vec<ToolCall> {
    (0_usize..).zip(calls).map(|(position, call)| call.finish(position)).collect()
}

impl Call {
    /// Whether the part begins another call: some servers send whole calls that all have index 0 or none.
    fn is_other_than(&self, part: &CallPart) -> bool {
        let named = part.function.name.as_ref().is_some_and(|name| !name.is_empty());
        let id = part.id.as_ref().filter(|id| !id.is_empty());
        // vLLM repeats id and name with what is left of the arguments.
        if id.is_some_and(|id| *id == self.id) && part.index.is_some() {
            return false;
        }
        let other_id = id.is_some_and(|id| *id != self.id);
        named && (self.is_json || (other_id && !self.id.is_empty()))
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
            let arguments = text(&arguments);
            let had_ended = self.nesting.ended;
            self.nesting.read(&arguments);
            self.arguments.push_str(&arguments);
            // Blanks after the end change nothing, and other text makes it no JSON.
            if self.nesting.ended && !had_ended || self.arguments.len() <= LITERAL {
                self.is_json = serde_json::from_str::<Value>(&self.arguments).is_ok();
            } else if !arguments.trim().is_empty() {
                self.is_json = false;
            }
        }
    }

    fn finish(self, position: usize) -> ToolCall {
        let id = if self.id.is_empty() { format!("call_{position}") } else { self.id };
        ToolCall::new(id, self.name, self.arguments)
    }
}

impl Nesting {
    fn read(&mut self, part: &str) {
        for byte in part.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.ended = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn part(index: usize, name: Option<&str>, arguments: &str) -> CallPart {
        serde_json::from_value(json!({"index": index, "function": {"name": name, "arguments": arguments}})).unwrap()
    }

    #[test]
    fn a_call_is_complete_with_the_last_brace_of_its_arguments() {
        for arguments in ["{}", r#"{"a": "}", "b": ["{", {"c": "\\"}]}"#, r#"{"quote": "\"}{", "zoë": "é"}"#, "[1, {}]"]
        {
            let mut calls = Calls::default();
            calls.add(part(0, Some("first"), ""));
            for (at, letter) in arguments.char_indices() {
                assert_eq!(calls.newly_complete(), None, "{arguments} up to {at}");
                calls.add(part(0, None, &letter.to_string()));
            }
            let complete = calls.newly_complete().unwrap();
            assert_eq!((complete.len(), complete[0].function.arguments.as_str()), (1, arguments));
            assert_eq!(calls.newly_complete(), None, "it is told once");
        }
    }

    #[test]
    fn long_arguments_in_small_parts_cost_little() {
        let started = std::time::Instant::now();
        let mut calls = Calls::default();
        calls.add(part(0, Some("first"), "{\"a\": \""));
        for _ in 0..250_000 {
            // Some servers repeat the name.
            calls.add(part(0, Some("first"), "word"));
        }
        calls.add(part(0, Some("first"), "\"}"));
        calls.add(part(0, Some("second"), "{}"));
        assert_eq!((calls.count(), calls.bytes() > 2_000_000), (2, true));
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
    }

    #[test]
    fn calls_are_told_in_their_order_and_not_without_end() {
        let mut calls = Calls::default();
        calls.add(part(0, Some("first"), "{"));
        calls.add(part(1, Some("second"), "{}"));
        assert_eq!(calls.newly_complete(), None, "the first is not complete");
        calls.add(part(0, None, "}"));
        assert_eq!(calls.newly_complete().unwrap().len(), 2);
        for index in 2..1_000 {
            calls.add(part(index, Some("more"), "{}"));
            assert_eq!(calls.newly_complete().is_some(), index < LISTENED);
        }
    }
}
