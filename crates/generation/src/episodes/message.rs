//! A message of the agent that a client sends, as the reply of a model that it stands for.

use std::sync::Arc;

use domain::api::FieldError;
use domain::api::episodes::{AgentMessage, MessageTokens};
use domain::chat::ChatReply;
use domain::message::ToolCall;
use domain::sampling::{HIGHEST_LOGPROB, SampledTokens, Sampling};
use llm::limits::{LONGEST_POLICY, MOST_CALLS, MOST_COMPLETION_TOKENS, MOST_PROMPT_TOKENS, MOST_REPLY_BYTES};

/// Why a message cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    #[error("{}", .0.detail)]
    Invalid(FieldError),
    #[error("the message has {0} bytes, at most {most} are read", most = MOST_REPLY_BYTES)]
    TooLarge(usize),
}

impl MessageError {
    fn at(pointer: &str, detail: String) -> Self {
        Self::Invalid(FieldError::at(pointer, detail))
    }
}

/// The reply, and the turn that it answers if that was said.
///
/// # Errors
/// It is no message of an agent, or larger than those of models may be.
pub fn reply(message: AgentMessage) -> Result<(Option<u32>, ChatReply), MessageError> {
    let AgentMessage { turn, role, content, reasoning_content, tool_calls, usage, tokens } = message;
    if role.is_some_and(|role| role != "assistant") {
        let detail = "must be `assistant`: only the agent's messages are sent";
        return Err(MessageError::at("/role", detail.to_owned()));
    }
    let calls = tool_calls.unwrap_or_default().into_iter().map(|call| ToolCall {
        id: call.id,
        kind: call.kind,
        function: call.function,
    });
    let reply = ChatReply {
        content: content.unwrap_or_default(),
        reasoning: reasoning_content,
        tool_calls: calls.collect(),
        usage: usage.unwrap_or_default(),
        sampling: tokens.map(sampling).transpose()?,
    };
    check_size(&reply)?;
    Ok((turn, reply))
}

/// # Errors
/// The message is larger than those of models may be.
pub fn check_size(reply: &ChatReply) -> Result<(), MessageError> {
    let calls = &reply.tool_calls;
    if calls.len() > MOST_CALLS {
        let detail = format!("has {} calls, at most {MOST_CALLS} are read", calls.len());
        return Err(MessageError::at("/tool_calls", detail));
    }
    let called = calls.iter().map(|call| call.function.name.len() + call.function.arguments.len()).sum::<usize>();
    let bytes = called + reply.content.len() + reply.reasoning.as_ref().map_or(0, String::len);
    if bytes > MOST_REPLY_BYTES {
        return Err(MessageError::TooLarge(bytes));
    }
    Ok(())
}

/// What a client says of its tokens is refused where an endpoint's would be dropped: it can be sent again.
fn sampling(tokens: MessageTokens) -> Result<Sampling, MessageError> {
    let MessageTokens { prompt_token_ids, token_ids, logprobs, policy } = tokens;
    let wrong = |field: &str, detail: String| Err(MessageError::at(&format!("/tokens/{field}"), detail));
    if token_ids.is_empty() || token_ids.len() > MOST_COMPLETION_TOKENS {
        return wrong("token_ids", format!("must have 1 to {MOST_COMPLETION_TOKENS} ids"));
    }
    if logprobs.len() != token_ids.len() {
        return wrong("logprobs", format!("has {} numbers for {} token ids", logprobs.len(), token_ids.len()));
    }
    if let Some(number) = logprobs.iter().find(|number| !number.is_finite() || **number > HIGHEST_LOGPROB) {
        return wrong("logprobs", format!("{number} is not the logarithm of a probability"));
    }
    if prompt_token_ids.as_ref().is_some_and(|prompt| prompt.len() > MOST_PROMPT_TOKENS) {
        return wrong("prompt_token_ids", format!("must have at most {MOST_PROMPT_TOKENS} ids"));
    }
    let policy = policy.unwrap_or_default();
    if policy.chars().count() > LONGEST_POLICY || policy.contains(char::is_control) {
        return wrong("policy", format!("must have at most {LONGEST_POLICY} characters, and no control characters"));
    }
    let prompt = prompt_token_ids.filter(|prompt| !prompt.is_empty());
    let tokens = SampledTokens { shared: 0, prompt, completion: token_ids, logprobs, policy };
    Ok(Sampling::Tokens(Arc::new(tokens)))
}

#[cfg(test)]
mod tests {
    use domain::event::Usage;

    use super::*;

    fn read(tokens: MessageTokens) -> Result<Option<Sampling>, MessageError> {
        let message =
            AgentMessage { content: Some("Hello".to_owned()), tokens: Some(tokens), ..AgentMessage::default() };
        reply(message).map(|(_, reply)| reply.sampling)
    }

    fn tokens() -> MessageTokens {
        MessageTokens {
            prompt_token_ids: Some(vec![1, 2]),
            token_ids: vec![3, 4],
            logprobs: vec![-0.5, 0.0],
            policy: Some("step 3".to_owned()),
        }
    }

    #[test]
    fn tokens_are_taken_as_they_are_sent() {
        let sampled = read(tokens()).unwrap().unwrap();
        let expected = SampledTokens {
            shared: 0,
            prompt: Some(vec![1, 2]),
            completion: vec![3, 4],
            logprobs: vec![-0.5, 0.0],
            policy: "step 3".to_owned(),
        };
        assert_eq!(**sampled.tokens().unwrap(), expected);
        let none = reply(AgentMessage { usage: Some(Usage::default()), ..AgentMessage::default() }).unwrap();
        assert!(none.1.sampling.is_none());
    }

    #[test]
    fn tokens_that_cannot_be_of_a_reply_are_refused() {
        let wrong = [
            MessageTokens { token_ids: Vec::new(), logprobs: Vec::new(), ..tokens() },
            MessageTokens { logprobs: vec![-0.5], ..tokens() },
            MessageTokens { logprobs: vec![-0.5, 0.5], ..tokens() },
            MessageTokens { logprobs: vec![-0.5, f32::NAN], ..tokens() },
            MessageTokens { policy: Some("a\nb".to_owned()), ..tokens() },
            MessageTokens { policy: Some("x".repeat(LONGEST_POLICY + 1)), ..tokens() },
            MessageTokens { prompt_token_ids: Some(vec![0; MOST_PROMPT_TOKENS + 1]), ..tokens() },
        ];
        for tokens in wrong {
            assert!(matches!(read(tokens), Err(MessageError::Invalid(_))));
        }
    }

    #[test]
    fn what_is_no_message_of_an_agent_is_refused() {
        let tool =
            AgentMessage { role: Some("tool".to_owned()), content: Some("{}".to_owned()), ..AgentMessage::default() };
        assert!(matches!(reply(tool), Err(MessageError::Invalid(_))));
        let long = AgentMessage { content: Some("x".repeat(MOST_REPLY_BYTES + 1)), ..AgentMessage::default() };
        assert!(matches!(reply(long), Err(MessageError::TooLarge(_))));
    }
}
