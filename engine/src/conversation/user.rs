//! The simulated user's turn.

use domain::event::EventKind;
use domain::outcome::{Blame, Ending};
use domain::role::Role;

use super::Conversation;
use crate::chat::ChatReply;
use crate::{gate, reasoning};

/// What the simulated user writes when there is nothing more to say.
pub const END: &str = "[END]";

impl Conversation {
    pub(super) fn hear_user(&self, reply: &ChatReply) -> Vec<EventKind> {
        let (said, _) = reasoning::split(&reply.content, None);
        let ended = said.contains(END);
        let content = said.replace(END, "").trim().to_owned();
        if let Some(reason) = gate::refusal(&self.case, &self.state.messages, &content, ended) {
            return self.refuse(Role::SimulatedUser, reply, reason, Blame::SimulatedUser);
        }
        let mut kinds = vec![EventKind::UserSpoke { content, ended, usage: reply.usage }];
        if ended {
            kinds.push(EventKind::Ended { ending: Ending::UserEnded });
        }
        kinds
    }
}
