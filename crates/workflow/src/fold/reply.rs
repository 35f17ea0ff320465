//! What an answer means.

use domain::chat::ChatReply;
use domain::message::Message;
use domain::reasoning;
use domain::task::Resolution;
use domain::workflow::BuiltInEnd;
use serde_json::Value;

use super::asking::OpenRequest;
use super::{Ending, Fold, StepId};
use crate::datum::Datum;
use crate::plan::{Action, Ask, Expr, ReplyShape};

impl Fold {
    /// Takes the answer to an open request, and does all that follows.
    pub fn resolve(&mut self, request: u64, resolution: &Resolution) {
        let Some(open) = self.open.remove(&request) else { return };
        if self.charge(size(resolution)) {
            match resolution {
                _ if self.conversing(open.step).is_some() => self.conversation_answered(open, resolution),
                Resolution::Reply(reply) if self.task_of(open).is_some() => self.encoded(open, reply),
                Resolution::Unusable { reason, .. } if self.task_of(open).is_some() => {
                    self.refuse_encoded(open, reason);
                }
                Resolution::Reply(reply) => self.replied(open, reply),
                Resolution::Unusable { reply, reason } => self.cut_off(open, reply, reason),
                Resolution::Lost { reason } => self.result(open, Err(Ending::lost(reason.clone()))),
                Resolution::Message(answer) if self.tool_of(open.step).is_some() => self.tool_answered(open, answer),
                Resolution::Message(found) => self.found(open, found),
            }
            self.settle();
        }
    }

    /// The beginning of a reply that still comes: the items of it that are whole can be used.
    pub fn hear(&mut self, request: u64, text: &str) {
        let Some(open) = self.open.get(&request).copied() else { return };
        let Some(ask) = self.ask_of(open.step).filter(|ask| ask.n.is_none()) else { return };
        let Some(split) = ask.split.as_ref() else { return };
        let known = self.sample(open).map_or(0, |sample| sample.partial.len());
        // After an item that does not fit, the whole reply will be refused.
        let new = split.so_far(text).into_iter().skip(known).map_while(|item| ask.fitting(item).ok());
        let new: Vec<Datum> = new.map(Datum::from).collect();
        let Some(sample) = self.sample_mut(open).filter(|_| !new.is_empty()) else { return };
        sample.partial.extend(new);
        self.feed_subscribed(open.step);
        self.settle();
    }

    fn replied(&mut self, open: OpenRequest, reply: &ChatReply) {
        let Some(ask) = self.ask_of(open.step) else { return };
        if !reply.tool_calls.is_empty() && self.may_call(open) {
            return self.tools_called(open, reply);
        }
        let usable = usable(ask, reply);
        match usable {
            Ok(value) => self.answered(open, reply, value),
            Err(unusable) => self.not_used(open, reply, unusable),
        }
    }

    /// A reply that did not come to its end: the items that are whole count, if it has any.
    fn cut_off(&mut self, open: OpenRequest, reply: &ChatReply, reason: &str) {
        let Some(ask) = self.ask_of(open.step) else { return };
        // A classifier is cut off on purpose: nothing behind its first words is wanted. What is said beside a call is no label.
        let choices = ask.choices.as_ref().filter(|_| reply.tool_calls.is_empty());
        if let Some(Ok(chosen)) = choices.map(|choices| choices.pick(&reply.content, true)) {
            let chosen = Value::from(chosen).into();
            return self.answered(open, reply, chosen);
        }
        let items = ask.split.as_ref().map(|split| split.complete(&reply.content)).unwrap_or_default();
        match ask.items(items) {
            Ok(Value::Array(items)) if items.is_empty() => self.refuse(open, reply, reason),
            Ok(items) => self.result(open, Ok(items.into())),
            Err(unusable) => self.not_used(open, reply, unusable),
        }
    }

    fn not_used(&mut self, open: OpenRequest, reply: &ChatReply, why: Unusable) {
        match why {
            Unusable::TooMany(reason) => self.result(open, Err(Ending::failed(BuiltInEnd::TooManyItems, reason))),
            Unusable::Wrong(reason) => self.refuse(open, reply, &reason),
        }
    }

    fn answered(&mut self, open: OpenRequest, reply: &ChatReply, value: Datum) {
        let has_tools = self.ask_of(open.step).is_some_and(|ask| !ask.tools.is_empty());
        let value = if has_tools { self.with_messages(open, reply, &value) } else { value };
        self.result(open, Ok(value));
    }

    /// Asks again with the reason, or does without.
    fn refuse(&mut self, open: OpenRequest, reply: &ChatReply, reason: &str) {
        let Some(repairs) = self.ask_of(open.step).map(|ask| ask.repairs) else { return };
        let Some(sample) = self.sample_mut(open) else { return };
        sample.replies += 1;
        if sample.refused >= repairs {
            let reason = format!("the reply cannot be used: {reason}");
            return self.result(open, Err(Ending::failed(BuiltInEnd::InvalidReply, reason)));
        }
        sample.refused += 1;
        sample.exchange.push(spoken(&reply.content));
        let content =
            format!("This reply cannot be used: {reason}. Reply again, with nothing else than what was asked for.");
        sample.exchange.push(Message::User { content });
        self.open_request(open.step, open.sample, open.attempt + 1);
    }

    fn found(&mut self, open: OpenRequest, found: &Value) {
        if found.is_array() {
            self.result(open, Ok(found.clone().into()));
        } else {
            let reason = format!("the index did not answer with a list: {found}");
            self.result(open, Err(Ending::failed(BuiltInEnd::FailedSearch, reason)));
        }
    }

    /// One sample of a step is settled. The step is when all are.
    pub(super) fn result(&mut self, open: OpenRequest, result: Result<Datum, Ending>) {
        if let Some(sample) = self.sample_mut(open) {
            sample.result = Some(result);
        }
        let id = open.step;
        let Some(asking) = self.asking(id) else { return };
        let Some(results) = asking.samples.iter().map(|sample| sample.result.as_ref()).collect::<Option<Vec<_>>>()
        else {
            return;
        };
        let results = results.into_iter().cloned().collect();
        match self.joined(id, results) {
            Ok(value) => self.done(id, value),
            Err(ending) => {
                let reason = format!("{}: {}", self.address(id), ending.reason);
                self.end(id, Ending { reason, ..ending });
            }
        }
    }

    /// The value of a step, from the results of all its requests.
    fn joined(&self, id: StepId, results: Vec<Result<Datum, Ending>>) -> Result<Datum, Ending> {
        let together = || results.iter().cloned().collect::<Result<Vec<Datum>, Ending>>();
        match &self.plan(id).action {
            Action::Ask(ask) => {
                let otherwise = ask.otherwise.as_ref();
                let values = results.into_iter().map(|result| self.or_otherwise(id, result, otherwise));
                let values = values.collect::<Result<Vec<Datum>, Ending>>()?;
                if ask.n.is_none() {
                    return Ok(only(values));
                }
                Ok(Value::Array(values.iter().map(|value| value.json().clone()).collect()).into())
            }
            Action::Embed(embed) => {
                let value = together().and_then(|batches| self.vectors(id, embed, &batches));
                self.or_otherwise(id, value, embed.otherwise.as_ref())
            }
            Action::Rerank(rerank) => {
                let value = together().and_then(|ranked| self.ranked_documents(id, rerank, &only(ranked)));
                self.or_otherwise(id, value, rerank.otherwise.as_ref())
            }
            Action::Tool(call) => self.or_otherwise(id, together().map(only), call.otherwise.as_ref()),
            _ => together().map(only),
        }
    }

    /// What is lost may come when the row is played again; all else that fails has a substitute, if the document names one.
    fn or_otherwise(
        &self,
        id: StepId,
        result: Result<Datum, Ending>,
        otherwise: Option<&Expr>,
    ) -> Result<Datum, Ending> {
        match (result, otherwise) {
            (Err(ending), Some(otherwise)) if !ending.is_lost => {
                self.evaluate(id.scope, otherwise).map_err(|reason| Ending::failed(BuiltInEnd::FailedCode, reason))
            }
            (result, _) => result,
        }
    }
}

fn only(mut values: Vec<Datum>) -> Datum {
    values.pop().unwrap_or_else(|| Value::Null.into())
}

impl ReplyShape {
    /// # Errors
    /// Why a value does not fit the schema.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        match self.validator.iter_errors(value).next() {
            Some(error) if error.instance_path().to_string().is_empty() => Err(error.to_string()),
            Some(error) => Err(format!("{error} (at {})", error.instance_path())),
            None => Ok(()),
        }
    }
}

enum Unusable {
    /// It may be asked again.
    Wrong(String),
    TooMany(String),
}

impl Ask {
    /// A value that the reply gives, with all keys that it may have.
    fn fitting(&self, mut value: Value) -> Result<Value, String> {
        if let Some(shape) = &self.schema {
            shape.check(&value)?;
            shape.of.complete(&mut value);
        }
        Ok(value)
    }

    fn items(&self, items: Vec<Value>) -> Result<Value, Unusable> {
        if items.len() > self.most {
            return Err(Unusable::TooMany(format!("the reply has {} items; at most {}", items.len(), self.most)));
        }
        items.into_iter().map(|item| self.fitting(item)).collect::<Result<_, _>>().map_err(Unusable::Wrong)
    }
}

/// What a reply gives.
fn usable(ask: &Ask, reply: &ChatReply) -> Result<Datum, Unusable> {
    if let Some(split) = &ask.split {
        let items = split.whole(&reply.content).map_err(Unusable::Wrong)?;
        return ask.items(items).map(Datum::from);
    }
    if ask.schema.is_some() {
        return reply.json().and_then(|value| ask.fitting(value)).map(Datum::from).map_err(Unusable::Wrong);
    }
    if let Some(choices) = &ask.choices {
        let chosen = choices.pick(&reply.content, false).map_err(Unusable::Wrong)?;
        return Ok(Value::from(chosen).into());
    }
    let (said, _) = reasoning::split(&reply.content, None);
    if said.is_empty() { Err(Unusable::Wrong("it is empty".to_owned())) } else { Ok(Value::from(said).into()) }
}

pub(super) fn spoken(content: &str) -> Message {
    Message::Assistant { content: content.to_owned(), reasoning_content: None, tool_calls: Vec::new() }
}

/// What an answer takes of the memory of a row, in bytes.
fn size(resolution: &Resolution) -> usize {
    let reply = |reply: &ChatReply| {
        let calls = reply.tool_calls.iter().map(|call| call.function.arguments.len() + call.function.name.len());
        reply.content.len() + calls.sum::<usize>()
    };
    match resolution {
        Resolution::Reply(own) | Resolution::Unusable { reply: own, .. } => reply(own),
        Resolution::Lost { reason } => reason.len(),
        Resolution::Message(value) => value.to_string().len(),
    }
}
