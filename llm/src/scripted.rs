//! The `scripted` model: plays each role from the scenario itself. No language model, and it says so.

use engine::{Ask, ChatReply, Conversation, scripted};
use futures::future::{BoxFuture, ready};

use crate::{ChatModel, Failure, ModelError};

pub struct Scripted;

impl ChatModel for Scripted {
    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        conversation: &'a Conversation,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let reply = scripted::reply(ask, conversation).map_err(|reason| ModelError {
            model: scripted::NAME.to_owned(),
            attempts: 1,
            failure: Failure::Unplayable { reason },
        });
        Box::pin(ready(reply))
    }
}
