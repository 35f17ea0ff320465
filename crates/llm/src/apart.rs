//! A judge that is asked for each criterion by itself, all of them at once.

use domain::event::Usage;
use engine::{Ask, ChatReply, Conversation, Who, judge};
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};

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
            // Also when one has no answer: what the others say was asked for, and is paid for.
            let answers = join_all(parts.iter().map(|part| self.0.complete(part, conversation))).await;
            together(answers).map(|(parts, replies, attempts)| Answer {
                reply: judge::together(judge, &parts),
                replies,
                attempts,
            })
        }
        .boxed()
    }
}

/// All replies with how many they are and how many requests they took, or the first error with what the others cost.
fn together(answers: Vec<Result<Answer, ModelError>>) -> Result<(Vec<ChatReply>, u32, u32), ModelError> {
    let (mut parts, mut lost) = (Vec::new(), None);
    let (mut replies, mut attempts, mut usage) = (0, 0, Usage::default());
    for answer in answers {
        match answer {
            Ok(answer) => {
                (replies, attempts) = (replies + answer.replies, attempts + answer.attempts);
                usage += answer.reply.usage;
                parts.push(answer.reply);
            }
            Err(error) => {
                attempts += error.attempts;
                lost.get_or_insert(error);
            }
        }
    }
    match lost {
        None => Ok((parts, replies, attempts)),
        Some(error) => Err(ModelError { attempts, replies, usage, ..error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;

    fn reply(tokens: u64) -> Answer {
        let usage = Usage { prompt_tokens: tokens, ..Usage::default() };
        Answer { reply: ChatReply { usage, ..ChatReply::default() }, replies: 1, attempts: 2 }
    }

    fn error(failure: Failure) -> ModelError {
        ModelError { model: "m".into(), attempts: 5, failure, replies: 0, usage: Usage::default() }
    }

    #[test]
    fn what_the_other_parts_cost_is_known_when_one_is_lost() {
        let all = together(vec![Ok(reply(3)), Ok(reply(4))]).unwrap();
        assert_eq!((all.0.len(), all.1, all.2), (2, 2, 4));
        let lost = [Ok(reply(3)), Err(error(Failure::CutStream)), Ok(reply(4)), Err(error(Failure::NoWorker))];
        let lost = together(lost.into()).unwrap_err();
        assert_eq!((lost.replies, lost.attempts, lost.usage.prompt_tokens), (2, 14, 7));
        assert_eq!(lost.failure, Failure::CutStream);
    }
}
