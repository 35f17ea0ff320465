//! Calls that a service answers: a real system beside the world, whose answers are taken as they are.

use domain::chat::ChatReply;
use domain::event::{Answer, EventKind};
use domain::fault::FaultKind;
use domain::message::arguments;
use domain::outcome::Blame;
use domain::service::{PastCall, ServiceAnswer, ServiceCall, fingerprint};
use domain::transcript::Call;
use serde_json::{Map, Value};

use super::tool::{answered, unanswered};
use super::{Conversation, NO_USAGE, failed};

impl Conversation {
    /// The service of the pending call's tool, if one answers it.
    pub(super) fn pending_service(&self) -> Option<&str> {
        let call = self.state.acting().pending.front()?;
        Some(self.case.playbook.tool(call.name())?.spec.service()?.0)
    }

    /// The pending call, as it is sent to the service.
    pub(crate) fn service_call(&self) -> Option<ServiceCall> {
        let (_, Ok((tool, arguments))) = self.pending_call()? else { return None };
        let (service, name) = tool.spec.service()?;
        Some(ServiceCall { tool: name.to_owned(), arguments, before: self.calls_of_service(service) })
    }

    /// The calls that the service has answered so far, in their order.
    fn calls_of_service(&self, service: &str) -> Vec<PastCall> {
        let past = |call: &Call| {
            let tool = self.case.playbook.tool(&call.tool)?;
            let (own, name) = tool.spec.service()?;
            if own != service || !reached(call) {
                return None;
            }
            // As they were sent: whatever is no object was sent as an empty one.
            let arguments = match arguments(&call.arguments) {
                Ok(Value::Object(arguments)) => tool.complete(arguments),
                _ => Map::new(),
            };
            let answer = call.fault.is_none().then(|| fingerprint(&call.content));
            Some(PastCall { tool: name.to_owned(), arguments, answer })
        };
        self.state.transcript.calls.iter().filter_map(past).collect()
    }

    pub(super) fn hear_service(&self, answer: &ServiceAnswer) -> Option<EventKind> {
        let (call, Ok((tool, _))) = self.pending_call()? else { return None };
        let content = answer.text();
        if let Some(reason) = self.beyond_limit(content.len()) {
            return Some(failed(Blame::Infrastructure, &reason));
        }
        Some(match answer {
            ServiceAnswer::Refused(_) => answered(call, Answer::Failed, content, NO_USAGE),
            ServiceAnswer::Value(value) => match tool.response_faults(value).as_slice() {
                [] => self.with_fault(tool, answered(call, Answer::Succeeded, content, NO_USAGE)),
                // The call was made, and may have changed something: no answer that the agent could read is true.
                faults => {
                    let faults = faults.join("; ");
                    let reason =
                        format!("the service's answer to `{}` is not what `returns` says: {faults}", call.name());
                    failed(Blame::Infrastructure, &reason)
                }
            },
        })
    }

    /// `scripted` answers in place of a service, with JSON.
    pub(super) fn hear_service_stand_in(&self, reply: &ChatReply) -> Option<EventKind> {
        match reply.json() {
            Ok(value) => self.hear_service(&ServiceAnswer::Value(value)),
            Err(reason) => {
                let (call, _) = self.pending_call()?;
                Some(unanswered(call, format!("the `scripted` template of `{}`: {reason}", call.name())))
            }
        }
    }
}

/// Whether a call came to the service at all.
fn reached(call: &Call) -> bool {
    let refused = call.fault.is_some_and(FaultKind::is_refusal);
    !refused && matches!(call.answer, Answer::Succeeded | Answer::Failed)
}
