//! The conversation as an endpoint that plays the agent wrote and read it. Its own words and the ids of its calls are sent back as
//! they came, so that whoever records the requests sees one conversation.

use domain::chat::ChatReply;
use domain::message::Message;

#[derive(Default)]
pub struct Dialogue {
    messages: Vec<Message>,
    /// The last message of the endpoint, as long as it is unknown whether the episode accepted it.
    said: Option<Message>,
    /// Why its last reply was refused.
    refused: Option<String>,
}

impl Dialogue {
    /// Takes what followed the endpoint's last reply: all that there is before the first one.
    pub fn receive(&mut self, followed: Vec<Message>, refused: Option<String>) {
        self.refused = refused;
        if self.refused.is_some() && self.said.is_some() {
            return;
        }
        let Some(own) = self.said.take() else {
            self.messages = followed;
            return;
        };
        // The first is what it said, as it is kept.
        let mut followed = followed.into_iter();
        let ids: Vec<(String, String)> = match (followed.next(), &own) {
            (Some(Message::Assistant { tool_calls: kept, .. }), Message::Assistant { tool_calls, .. }) => {
                kept.into_iter().zip(tool_calls).map(|(kept, own)| (kept.id, own.id.clone())).collect()
            }
            _ => Vec::new(),
        };
        self.messages.push(own);
        self.messages.extend(followed.map(|message| match message {
            Message::Tool { tool_call_id, content } => {
                let own = ids.iter().find(|(kept, own)| *kept == tool_call_id && !own.is_empty());
                let tool_call_id = own.map_or(tool_call_id.clone(), |(_, own)| own.clone());
                Message::Tool { tool_call_id, content }
            }
            other => other,
        }));
    }

    /// Notes what the endpoint says.
    pub fn reply(&mut self, reply: &ChatReply) {
        self.said = Some(Message::Assistant {
            content: reply.content.clone(),
            reasoning_content: reply.reasoning.clone(),
            tool_calls: reply.tool_calls.clone(),
        });
    }

    /// The messages that the endpoint is asked with.
    pub fn messages(&self) -> Vec<Message> {
        let mut all = self.messages.clone();
        if let Some(reason) = &self.refused {
            all.extend(self.said.clone());
            all.push(Message::User { content: format!("That was refused: {reason}. Try again.") });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use domain::message::ToolCall;

    use super::*;

    fn user(content: &str) -> Message {
        Message::User { content: content.to_owned() }
    }

    fn calling(id: &str) -> ChatReply {
        let call = ToolCall::new(id.to_owned(), "find_customer".to_owned(), "{}".to_owned());
        ChatReply { tool_calls: vec![call], ..ChatReply::default() }
    }

    /// As it is kept, or as it is sent back.
    fn called(id: &str) -> Vec<Message> {
        let call =
            Message::Assistant { content: String::new(), reasoning_content: None, tool_calls: calling(id).tool_calls };
        vec![call, Message::Tool { tool_call_id: id.to_owned(), content: "none".to_owned() }]
    }

    #[test]
    fn calls_are_sent_back_with_the_ids_that_they_came_with() {
        for (own, shown) in [("mine", "mine"), ("", "")] {
            let mut dialogue = Dialogue::default();
            dialogue.receive(vec![user("Hello")], None);
            dialogue.reply(&calling(own));
            dialogue.receive(called("call_1"), None);
            let messages = dialogue.messages();
            let [Message::User { .. }, Message::Assistant { tool_calls, .. }, Message::Tool { tool_call_id, .. }] =
                &messages[..]
            else {
                panic!("{messages:?}")
            };
            assert_eq!(tool_calls[0].id, shown);
            // A call without an id is answered under the one that it got.
            assert_eq!(tool_call_id, if own.is_empty() { "call_1" } else { own });
        }
    }

    #[test]
    fn a_reply_that_was_refused_is_shown_with_the_reason() {
        let mut dialogue = Dialogue::default();
        dialogue.receive(vec![user("Hello")], None);
        dialogue.reply(&ChatReply::default());
        dialogue.receive(Vec::new(), Some("the message is empty".to_owned()));
        let messages = dialogue.messages();
        assert_eq!(messages.len(), 3, "{messages:?}");
        assert_eq!(messages[2], user("That was refused: the message is empty. Try again."));
        // The next message of the endpoint replaces both.
        dialogue.reply(&calling("mine"));
        dialogue.receive(called("call_1"), None);
        assert_eq!(dialogue.messages(), [vec![user("Hello")], called("mine")].concat());
    }
}
