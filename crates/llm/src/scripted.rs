//! The `scripted` model: plays each role from the scenario itself. No language model, and it says so.

use domain::event::Usage;
use domain::role::Role;
use engine::{Ask, Conversation, Who, scripted};
use futures::future::{BoxFuture, ready};

use crate::{Answer, ChatModel, Failure, ModelError};

pub struct Scripted;

impl ChatModel for Scripted {
    fn at_once(&self, who: &Who, conversation: &Conversation) -> Option<Result<Answer, ModelError>> {
        Some(answer(who.role, conversation))
    }

    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        conversation: &'a Conversation,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(ready(answer(ask.role, conversation)))
    }
}

fn answer(role: Role, conversation: &Conversation) -> Result<Answer, ModelError> {
    let reply = scripted::reply(role, conversation).map_err(|reason| ModelError {
        model: scripted::NAME.to_owned(),
        attempts: 1,
        failure: Failure::Unplayable { reason },
        replies: 0,
        usage: Usage::default(),
    });
    Ok(Answer { reply: reply?, replies: 1, attempts: 1 })
}
