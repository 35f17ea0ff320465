//! What a row takes from the events themselves: the fold of a conversation does not keep it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use domain::event::{Event, EventKind, Fork, Usage};
use domain::patch::Patch;
use domain::persona::{Complexity, Persona};
use domain::role::Role;

pub struct Told {
    pub persona: Arc<Persona>,
    pub complexity: Complexity,
    /// Tokens by role, refused attempts included: they were paid for.
    pub usage: BTreeMap<Cow<'static, str>, Usage>,
    /// All changes of the world, in order.
    pub patches: Vec<Patch>,
    /// The events of the agents' turns, in order, and where the agent stands among the fan-outs.
    turns: Vec<(u32, Vec<Fork>)>,
}

impl Told {
    /// By its first event, whose persona it takes; `None` if it is no beginning.
    pub fn begin(first: &mut Event) -> Option<Self> {
        let EventKind::Started { persona, complexity, .. } = &mut first.kind else { return None };
        Some(Self {
            persona: Arc::new(mem::take(persona)),
            complexity: *complexity,
            patches: Vec::new(),
            usage: Role::ALL.into_iter().map(|role| (role.as_str().into(), Usage::default())).collect(),
            turns: Vec::new(),
        })
    }

    pub fn hear(&mut self, event: &Event) {
        let (role, usage) = match &event.kind {
            EventKind::UserSpoke { usage, .. } | EventKind::UserActed { usage, .. } => (Role::SimulatedUser, usage),
            EventKind::AgentSpoke { usage, .. } => {
                self.turns.push((event.seq, event.ancestry.clone()));
                (Role::Agent, usage)
            }
            EventKind::ToolSimulated { usage, .. } => (Role::ToolSimulator, usage),
            EventKind::Judged { usage, .. } => (Role::Judge, usage),
            EventKind::Refused { role, usage, .. } => (*role, usage),
            EventKind::ToolAnswered { usage, patch, .. } if patch.is_empty() => (Role::ToolSimulator, usage),
            EventKind::ToolAnswered { usage, patch, .. } => {
                self.patches.push(patch.clone());
                (Role::StateManager, usage)
            }
            _ => return,
        };
        let sum = self.usage.entry(role.as_str().into()).or_default();
        sum.prompt_tokens += usage.prompt_tokens;
        sum.completion_tokens += usage.completion_tokens;
    }

    /// The events of an agent's turns, in order. The path is the agent's place among the fan-outs.
    pub fn turns(&self, path: &[Fork]) -> Vec<u32> {
        self.turns.iter().filter(|(_, at)| at == path).map(|(seq, _)| *seq).collect()
    }
}
