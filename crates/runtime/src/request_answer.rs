//! The answer to a request, before the task resolves it.

use domain::task::Resolution;
use llm::{Answer, ModelError};
use serde_json::Value;

use crate::local_answers::GivenAnswer;

pub enum RequestAnswer {
    Model(Result<Answer, ModelError>),
    StandIn(Resolution),
    Service(Result<Value, String>),
    Outside(store::Result<GivenAnswer>),
    /// Nobody outside answered soon. The request stays where others find it.
    Parked,
    /// Nothing more may be asked, and nobody waits for this one: its answer is found when the run goes on.
    LeftOpen,
}
