//! A judge that is asked for each criterion by itself, all of them at once.

use engine::{Ask, ChatReply, Conversation, Who, judge};
use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};

use crate::{Answer, ChatModel, ModelError};

/// Asks a model in parts that begin alike, so that it reads the conversation once if it keeps what it has read.
pub struct Apart<M>(pub M);

impl<M: ChatModel> ChatModel for Apart<M> {
    fn at_once(&self, who: &Who, conversation: &Conversation) -> Option<Result<Answer, ModelError>> {
        self.0.at_once(who, conversation)
    }

    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        conversation: &'a Conversation,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        async move {
            let judge = &conversation.case().judge;
            let parts = judge::apart(judge, ask);
            let answers = try_join_all(parts.iter().map(|part| self.0.complete(part, conversation))).await?;
            let sum = |count: fn(&Answer) -> u32| answers.iter().map(count).sum();
            let (replies, attempts) = (sum(|answer| answer.replies), sum(|answer| answer.attempts));
            let parts: Vec<ChatReply> = answers.into_iter().map(|answer| answer.reply).collect();
            Ok(Answer { reply: judge::together(judge, &parts), replies, attempts })
        }
        .boxed()
    }
}
