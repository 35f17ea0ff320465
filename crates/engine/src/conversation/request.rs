//! Which request is which: the same question at the same place is the same request.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use domain::role::{Role, RoleId};
use domain::task::{Request, RequestId};

use super::{Conversation, Party};

/// How usage and metrics name services: they are no model, and cost no tokens.
static SERVICE: LazyLock<RoleId> = LazyLock::new(|| RoleId::named("service"));

impl Conversation {
    /// The request to this role at this place. The first pending call is what a tool simulator answers.
    pub(crate) fn request(&self, who: Party) -> Request<Party> {
        match who.role {
            Role::ToolSimulator => {
                let call = self.state.acting().pending.front().map(|call| call.id.as_str()).unwrap_or_default();
                self.request_of_call(who, call)
            }
            Role::Judge => {
                let judge = who.judge;
                self.request_at(who, judge)
            }
            Role::SimulatedUser | Role::Agent | Role::StateManager => {
                self.request_at(who, self.state.transcript.next_seq)
            }
        }
    }

    pub(super) fn request_of_call(&self, who: Party, call: &str) -> Request<Party> {
        self.request_at(who, call)
    }

    fn request_at(&self, who: Party, place: impl Hash) -> Request<Party> {
        let mut id = DefaultHasher::new();
        (who.role, self.state.transcript.refused().len(), place).hash(&mut id);
        let role = if who.service.is_some() { *SERVICE } else { who.role.into() };
        Request { id: RequestId(id.finish()), role, to: who }
    }
}
