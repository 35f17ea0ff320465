//! Steps that play scenarios: what models say is said in the conversation, and whoever it asks is asked by the row. What happens in
//! it follows from their answers, so the answers are all that is kept.

use std::ops::ControlFlow;
use std::sync::Arc;

use domain::chat::ChatRequest;
use domain::message::Message;
use domain::outcome::{Blame, Ending as ConversationEnding, Outcome};
use domain::reward::reward;
use domain::role::{Role, RoleId};
use domain::seed::Seed;
use domain::task::{AdvanceOutcome, Next, Request, Resolution, Task, advance};
use domain::transcript::Transcript;
use domain::verdict::{Verdict, Verification};
use domain::workflow::BuiltInEnd;
use engine::{Case, Conversation, Party};
use serde_json::{Map, Value, json};

use super::asking::OpenRequest;
use super::{Ending, Fold, Slot, StepId};
use crate::datum::Datum;
use crate::limits::CONVERSATION_BYTES;
use crate::plan::{Action, Converse, Expr};

/// A conversation that is being played.
#[derive(Clone)]
pub(super) struct Conversing {
    conversation: Conversation,
    /// Who is asked now.
    asked: Role,
    /// The service that answers in place of the tool simulator.
    service: Option<Arc<str>>,
    /// How many requests were answered.
    answers: u32,
}

impl Conversing {
    /// Who is asked now, as the workflow calls it.
    pub(super) fn asked(&self, converse: &Converse) -> RoleId {
        converse.roles.get(&self.asked).copied().unwrap_or_else(|| self.asked.into())
    }

    pub(super) fn service(&self) -> Option<&str> {
        self.service.as_deref()
    }

    /// Plays on until somebody is asked. False if it has come to its end.
    fn advance(&mut self) -> bool {
        loop {
            let all = |_: &Conversation, _| ControlFlow::Continue(());
            let nobody = |_: &Conversation, _: &Request<Party>| None;
            let AdvanceOutcome::Waiting([request]) = advance(&mut self.conversation, nobody, all) else {
                return false;
            };
            (self.asked, self.service) = (request.to.role, request.to.service.as_deref().map(Arc::from));
            // What comes from a document may be impossible to put into words: then the conversation says what follows.
            let may_fail = self.service.is_none() && matches!(self.asked, Role::ToolSimulator | Role::Judge);
            if !may_fail || self.conversation.ask().is_some() {
                return true;
            }
            if self.conversation.act().is_none() {
                return false;
            }
        }
    }

    fn hear(&mut self, resolution: Resolution) {
        self.answers += 1;
        if let Next::Wait([request]) = self.conversation.next() {
            self.conversation.resolve(&request, resolution);
        }
    }
}

impl Fold {
    pub(super) fn start_conversation(&mut self, id: StepId, converse: &Converse) {
        let case = match self.case(id, converse) {
            Ok(case) => case,
            Err((end, reason)) => return self.fail(id, end, reason),
        };
        if self.charge(CONVERSATION_BYTES) {
            let conversation = Conversation::new(Arc::new(case));
            self.converse_on(id, Conversing { conversation, asked: Role::SimulatedUser, service: None, answers: 0 });
        }
    }

    /// # Errors
    /// How the row ends, and the reason.
    fn case(&self, id: StepId, converse: &Converse) -> Result<Case, (BuiltInEnd, String)> {
        let value = |of: &Expr| self.evaluate(id.scope, of).map_err(|reason| (BuiltInEnd::FailedCode, reason));
        let scenario = value(&converse.scenario)?;
        let scenario = scenario.json().as_str().ok_or((BuiltInEnd::FailedCode, "`scenario` is no text".to_owned()))?;
        let persona = converse.persona.as_ref().map(value).transpose()?;
        let persona = match persona.as_ref().map(Datum::json) {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name.as_str()),
            Some(_) => return Err((BuiltInEnd::FailedCode, "`persona` is neither a text nor `None`".to_owned())),
        };
        let cases = self.scopes[id.scope].workflow.cases.as_ref();
        let cases = cases.ok_or((BuiltInEnd::InvalidScenario, "the workflow has no scenarios".to_owned()))?;
        let purpose = format!("{}/conversation", self.address(id));
        let seed = Seed::new(self.seed.sampling(&purpose), scenario, 0);
        cases.drawn(scenario, persona, seed).map_err(|reason| (BuiltInEnd::InvalidScenario, reason))
    }

    pub(super) fn conversing(&self, id: StepId) -> Option<&Conversing> {
        match self.slot(id) {
            Slot::Conversing(own) => Some(own),
            _ => None,
        }
    }

    /// Whether a request is one of a conversation.
    pub fn is_of_conversation(&self, request: u64) -> bool {
        self.open.get(&request).is_some_and(|open| self.conversing(open.step).is_some())
    }

    fn converse_on(&mut self, id: StepId, mut own: Conversing) {
        if own.advance() {
            let answers = own.answers;
            *self.slot_mut(id) = Slot::Conversing(Arc::new(own));
            self.open_request(id, 0, answers);
        } else {
            let value = value(&own.conversation);
            if self.charge(value.to_string().len()) {
                self.done(id, value.into());
            }
        }
    }

    pub(super) fn conversation_answered(&mut self, open: OpenRequest, resolution: &Resolution) {
        let id = open.step;
        if let Resolution::Lost { reason } = resolution {
            let reason = format!("{}: {reason}", self.address(id));
            return self.end(id, Ending::lost(reason));
        }
        let Slot::Conversing(own) = std::mem::replace(self.slot_mut(id), Slot::Ended) else { return };
        let mut own = Arc::unwrap_or_clone(own);
        own.hear(resolution.clone());
        self.converse_on(id, own);
    }

    /// What a conversation asks a model.
    pub(super) fn conversation_prompt(&self, id: StepId, own: &Conversing) -> Option<ChatRequest> {
        let Action::Converse(converse) = &self.plan(id).action else { return None };
        if own.service.is_some() {
            return None;
        }
        Some(ChatRequest { role: own.asked(converse), ..own.conversation.ask()? })
    }

    /// What a conversation asks a service: `{conversation, call}`.
    pub(super) fn conversation_message(&self, id: StepId, own: &Conversing) -> Option<Value> {
        let Next::Wait([request]) = own.conversation.next() else { return None };
        let call = own.conversation.message(&request).filter(|_| own.service.is_some())?;
        Some(json!({"conversation": self.address(id).to_string(), "call": call}))
    }

    /// What `scripted` says in a conversation.
    pub fn scripted(&self, request: u64) -> Option<Resolution> {
        let own = self.conversing(self.open.get(&request)?.step)?;
        match own.conversation.next() {
            Next::Wait([request]) => Some(own.conversation.stand_in(&request)),
            Next::Act | Next::Done => None,
        }
    }
}

/// What a conversation that has ended gives.
fn value(conversation: &Conversation) -> Value {
    let (case, transcript) = (conversation.case(), &conversation.state().transcript);
    let (blame, reason) = match conversation.outcome() {
        Some(Outcome::Accepted) => (None, ""),
        Some(Outcome::Failed { blame, reason }) => (Some(*blame), reason.as_str()),
        None => (Some(Blame::Infrastructure), "it did not come to an end"),
    };
    let verified = transcript.verification.as_ref().map(Verification::passed);
    let (messages, tools) = heard(conversation, transcript);
    let verdict = transcript.verdict();
    json!({
        "scenario": case.scenario.id,
        "playbook": case.playbook.spec.name,
        "persona": case.persona.profile,
        "complexity": case.complexity.to_string(),
        "accepted": blame.is_none(),
        "verified": verified,
        "reward": reward(blame, verified.unwrap_or_default()),
        "blame": blame.map(|blame| blame.to_string()),
        "reason": reason,
        "ending": transcript.ending().map(ConversationEnding::into_str),
        "scores": verdict.as_ref().map(scores),
        "overall": verdict.as_ref().map(|verdict| verdict.overall),
        "turns": transcript.user_turns,
        "tool_calls": transcript.agent_calls().count(),
        "messages": messages,
        "tools": tools,
    })
}

fn scores(verdict: &Verdict) -> Map<String, Value> {
    verdict.scores.iter().map(|score| (score.criterion.clone(), score.score.into())).collect()
}

/// The agent's messages and tools, as exports have them: the last word is the agent's.
fn heard(conversation: &Conversation, transcript: &Transcript) -> (Vec<Message>, Vec<Arc<Value>>) {
    let Some(frame) = transcript.agents.first() else { return (Vec::new(), Vec::new()) };
    let mut messages = conversation.messages(frame);
    while matches!(messages.last(), Some(Message::User { .. })) {
        messages.pop();
    }
    (messages, conversation.functions(frame))
}
