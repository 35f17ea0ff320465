//! What will be asked next if nothing comes in between: parallel calls of tools that only read, also those of a reply that
//! still comes, and the other judges of a panel. They do not depend on each other's answers, so they may be asked at
//! once. An ask that turns out to be another one when its turn comes was asked in vain; it is never used.

use domain::message::ToolCall;
use domain::playbook::Simulate;
use domain::role::Role;

use super::{Conversation, Next, Phase, Who};
use crate::chat::{Ask, ChatReply};

impl Conversation {
    /// The asks that follow the present one, in their order.
    pub fn ahead(&self) -> Vec<(Who, Ask)> {
        match &self.state.phase {
            Phase::Tool => self.reads_ahead(),
            Phase::Judge => self.judges_ahead(),
            _ => Vec::new(),
        }
    }

    /// The asks that follow if a reply that still comes begins with these calls.
    pub fn ahead_of(&self, calls: &[ToolCall]) -> Vec<(Who, Ask)> {
        let simulated = |call: &ToolCall| {
            let tool = self.case.playbook.tool(call.name());
            tool.is_some_and(|tool| tool.simulate() == Simulate::Model && tool.writes.is_empty())
        };
        if !matches!(self.state.phase, Phase::Agent | Phase::User) || !calls.iter().any(simulated) {
            return Vec::new();
        }
        let mut heard = self.clone();
        heard.hear(ChatReply { tool_calls: calls.to_vec(), ..ChatReply::default() });
        let first = match heard.next() {
            Next::Ask(who) if who.role == Role::ToolSimulator => heard.ask().map(|ask| (who, ask)),
            _ => None,
        };
        first.into_iter().chain(heard.ahead()).collect()
    }

    /// Up to the first call that may change the world, or that something else than a model or code answers.
    fn reads_ahead(&self) -> Vec<(Who, Ask)> {
        // Which call meets a fault depends on those before it.
        if !self.case.faults.is_empty() || !self.state.refused.is_empty() {
            return Vec::new();
        }
        let mut asks = Vec::new();
        for (place, call) in self.state.acting().pending.iter().enumerate() {
            let Some((tool, arguments)) = self.checked(call).ok().filter(|(tool, _)| tool.writes.is_empty()) else {
                break;
            };
            match tool.simulate() {
                Simulate::Model if place > 0 => {
                    let who = Who { role: Role::ToolSimulator, sub_agent: None, judge: 0 };
                    asks.extend(self.ask_tool_simulator(tool, &arguments, &call.id).ok().map(|ask| (who, ask)));
                }
                Simulate::Model | Simulate::Code | Simulate::Constant => {}
                Simulate::Agent | Simulate::Terminal => break,
            }
        }
        asks
    }

    fn judges_ahead(&self) -> Vec<(Who, Ask)> {
        if !self.state.refused.is_empty() {
            return Vec::new();
        }
        let others = self.state.verdicts.len() + 1..self.case.judges;
        others
            .filter_map(|judge| Some((Who { role: Role::Judge, sub_agent: None, judge }, self.ask_judge(judge).ok()?)))
            .collect()
    }
}
