//! The simulated user's turn.

use domain::event::EventKind;
use domain::playbook::UserStyle;
use domain::role::Role;

use super::{Conversation, refused};
use crate::{json_turn, user_gate};
use domain::chat::ChatReply;
use domain::reasoning;

/// What the simulated user writes when there is nothing more to say.
pub const END: &str = "[END]";

impl Conversation {
    pub(super) fn hear_user(&self, mut reply: ChatReply) -> EventKind {
        // What is said beside calls would be said before their answers are known.
        if !reply.tool_calls.is_empty() && !self.case.playbook.spec.user_tools.is_empty() {
            let tool_calls = self.numbered(std::mem::take(&mut reply.tool_calls));
            return EventKind::UserActed { tool_calls, usage: reply.usage };
        }
        let (content, ended) = match self.written_by_user(&reply) {
            Ok(written) => written,
            Err(reason) => return refused(Role::SimulatedUser, &reply, reason),
        };
        if let Some(reason) = user_gate::refusal(&self.case, &self.state, &content, ended) {
            return refused(Role::SimulatedUser, &reply, reason);
        }
        let walked_out = ended && user_gate::has_had_enough(&self.case, &self.state);
        EventKind::UserSpoke { content, ended, walked_out, usage: reply.usage }
    }

    /// What it says, and whether it has nothing more to say.
    fn written_by_user(&self, reply: &ChatReply) -> Result<(String, bool), String> {
        match self.case.user_style {
            UserStyle::Text => {
                let (said, _) = reasoning::split(&reply.content, None);
                Ok((said.replace(END, "").trim().to_owned(), said.contains(END)))
            }
            UserStyle::Json => json_turn::parse_user(reply),
        }
    }
}
