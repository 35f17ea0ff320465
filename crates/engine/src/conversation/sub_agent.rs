//! Sub-agents: a call that another agent takes over, with its own prompt and tools, on the same world.

use domain::event::{Answer, EventKind};
use domain::message::ToolCall;
use domain::transcript::Frame;

use super::tool::{answered, json_arguments};
use super::{Conversation, NO_USAGE};
use crate::playbook::{Agent, Tool};

impl Conversation {
    /// What the playbook says of the agent that a frame is; `None` for the user.
    pub(super) fn agent(&self, frame: &Frame) -> Option<Agent<'_>> {
        self.case.playbook.who_calls(&frame.caller, self.case.variant.as_deref())
    }

    pub(super) fn delegate(&self, call: &ToolCall, tool: &Tool) -> EventKind {
        let depth = self.case.limits().depth;
        if self.state.transcript.agents.len() > depth as usize {
            let content = format!("Error: `{}` is not available here: do it with your other tools", tool.spec.name);
            return answered(call, Answer::Failed, content, NO_USAGE);
        }
        let task = json_arguments(call).get("task").and_then(|task| task.as_str().map(str::to_owned));
        let (call_id, agent) = (call.id.clone(), tool.spec.name.clone());
        EventKind::Delegated { call_id, agent, task: task.unwrap_or_default() }
    }

    /// The last word of a sub-agent answers the call that started it.
    pub(super) fn return_from_sub_agent(&self, content: &str) -> Option<EventKind> {
        Some(answered(self.delegated_call()?, Answer::Succeeded, content.to_owned(), NO_USAGE))
    }

    /// What it changed so far stays changed.
    pub(super) fn give_up_on_sub_agent(&self, name: &str) -> Option<EventKind> {
        let content = format!("Error: `{name}` did not come to an end");
        Some(answered(self.delegated_call()?, Answer::Failed, content, NO_USAGE))
    }

    fn delegated_call(&self) -> Option<&ToolCall> {
        self.state.transcript.agents.iter().rev().nth(1)?.pending.front()
    }
}
