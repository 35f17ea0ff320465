//! Calls of registered tools, by steps and by models.

use domain::workflow::BuiltInEnd;
use serde_json::Value;

use super::agent::error;
use super::asking::{Asking, OpenRequest, Sample, Who};
use super::{Ending, Fold, Slot, StepId};
use crate::datum::Datum;
use crate::limits::MOST_TOOL_BYTES;
use crate::plan::{Action, ToolCall};

impl Fold {
    pub(super) fn start_tool(&mut self, id: StepId, call: &ToolCall) {
        let message = match self.evaluate(id.scope, &call.message) {
            Ok(message) => message,
            Err(reason) => return self.fail(id, BuiltInEnd::FailedCode, reason),
        };
        if message.json().to_string().len() > MOST_TOOL_BYTES {
            if call.by_model {
                let told = error_message(&self.plan(id).name, &format!("is sent more than {MOST_TOOL_BYTES} bytes"));
                return self.done(id, told);
            }
            return self.fail(
                id,
                BuiltInEnd::TooLarge,
                format!("more than {MOST_TOOL_BYTES} bytes are sent to a tool"),
            );
        }
        let asking = Asking { who: Who::Tool { message }, samples: vec![Sample::default()], is_stream: false };
        *self.slot_mut(id) = Slot::Asking(Box::new(asking));
        self.open_request(id, 0, 0);
    }

    pub(super) fn tool_of(&self, id: StepId) -> Option<&ToolCall> {
        match &self.plan(id).action {
            Action::Tool(call) => Some(call),
            _ => None,
        }
    }

    /// `answer`: `{value}`, or `{error}` in words.
    pub(super) fn tool_answered(&mut self, open: OpenRequest, answer: &Value) {
        let Some(call) = self.tool_of(open.step) else { return };
        let value = match usable(call, answer) {
            Ok(value) => Ok(Datum::from(value)),
            Err(reason) if call.by_model => Ok(error_message(&self.plan(open.step).name, &reason)),
            Err(reason) => Err(Ending::failed(BuiltInEnd::FailedTool, format!("`{}` {reason}", call.name))),
        };
        self.result(open, value);
    }
}

/// A failed call as the model reads it. `tool`: the name that the model knows.
fn error_message(tool: &str, reason: &str) -> Datum {
    Value::from(error(&format!("`{tool}` {reason}"))).into()
}

fn usable(call: &ToolCall, answer: &Value) -> Result<Value, String> {
    if let Some(reason) = answer.get("error") {
        return Err(reason.as_str().unwrap_or("failed").to_owned());
    }
    let mut value = answer.get("value").cloned().unwrap_or_default();
    if let Some(shape) = &call.shape {
        shape.check(&value).map_err(|reason| format!("answered with what does not fit: {reason}"))?;
        shape.of.complete(&mut value);
    }
    Ok(value)
}
