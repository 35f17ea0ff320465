//! What is noted of a conversation beside its events.

use std::collections::BTreeSet;

use domain::event::Answer;
use domain::verdict::Verification;
use engine::conversation::{Caller, State};

use store::steps::Noted;

pub fn of(state: &State) -> Noted {
    let calls = || state.calls.iter().filter(|call| call.caller != Caller::User);
    let known = calls().filter(|call| call.answer != Answer::UnknownTool).map(|call| &call.tool);
    Noted {
        verified: state.verification.as_ref().map(Verification::passed),
        tool_calls: i32::try_from(calls().count()).unwrap_or(i32::MAX),
        tools: known.collect::<BTreeSet<_>>().into_iter().cloned().collect(),
    }
}
