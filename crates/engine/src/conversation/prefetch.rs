//! Requests that may be asked before their turn: parallel calls of tools that only read, also those of a reply that still
//! comes, and the other judges of a panel. They do not depend on each other's answers. If a request turns out to be
//! another one when its turn comes, the answer that was prefetched is never used.

use domain::chat::{ChatReply, ChatRequest};
use domain::message::ToolCall;
use domain::playbook::Simulate;
use domain::role::Role;

use domain::task::Request;

use super::{Conversation, Party, Phase};
use crate::playbook::Tool;

/// A request with what the model is asked.
type Prefetch = (Request<Party>, ChatRequest);

impl Conversation {
    /// The requests that follow the present one, in their order.
    pub(crate) fn requests_ahead(&self) -> Vec<Prefetch> {
        match &self.state.phase {
            Phase::Tool => self.reads_ahead(),
            Phase::Judge => self.judges_ahead(),
            _ => Vec::new(),
        }
    }

    /// The requests that follow if a reply that still comes begins with these calls.
    pub(crate) fn requests_after(&self, calls: &[ToolCall]) -> Vec<Prefetch> {
        let simulated = |call: &ToolCall| self.case.playbook.tool(call.name()).is_some_and(is_simulated_read);
        if !matches!(self.state.phase, Phase::Agent | Phase::User) || !calls.iter().any(simulated) {
            return Vec::new();
        }
        let mut heard = self.clone();
        heard.hear(ChatReply { tool_calls: calls.to_vec(), ..ChatReply::default() });
        let first = heard.asked_party().filter(|who| who.role == Role::ToolSimulator);
        let first = first.and_then(|who| Some((heard.request(who), heard.ask()?)));
        first.into_iter().chain(heard.requests_ahead()).collect()
    }

    /// Whether the reply that is waited for may have calls that can be asked before it has ended.
    pub(crate) fn may_call_simulated_reads(&self) -> bool {
        matches!(self.state.phase, Phase::Agent | Phase::User) && self.case.playbook.tools.iter().any(is_simulated_read)
    }

    /// Up to the first call that may change the world, or that something else than a model or code answers.
    fn reads_ahead(&self) -> Vec<Prefetch> {
        // Which call meets a fault depends on those before it.
        if !self.case.faults.is_empty() || !self.state.transcript.refused().is_empty() {
            return Vec::new();
        }
        let mut asks = Vec::new();
        for (place, call) in self.state.acting().pending.iter().enumerate() {
            let Some((tool, arguments)) = self.checked(call).ok().filter(|(tool, _)| tool.writes.is_empty()) else {
                break;
            };
            match tool.simulate() {
                Simulate::Model if place > 0 => {
                    let who = Party { role: Role::ToolSimulator, sub_agent: None, judge: 0, service: None };
                    let asked = self.ask_tool_simulator(tool, &arguments, &call.id).ok();
                    asks.extend(asked.map(|ask| (self.request_of_call(who, &call.id), ask)));
                }
                Simulate::Model | Simulate::Code | Simulate::Constant => {}
                Simulate::Agent | Simulate::Service | Simulate::Terminal => break,
            }
        }
        asks
    }

    fn judges_ahead(&self) -> Vec<Prefetch> {
        if !self.state.transcript.refused().is_empty() {
            return Vec::new();
        }
        let others = self.state.transcript.verdicts.len() + 1..self.case.judges;
        others
            .filter_map(|judge| {
                let who = Party { role: Role::Judge, sub_agent: None, judge, service: None };
                Some((self.request(who), self.ask_judge(judge).ok()?))
            })
            .collect()
    }
}

fn is_simulated_read(tool: &Tool) -> bool {
    tool.simulate() == Simulate::Model && tool.writes.is_empty()
}
