//! A verdict in parts: one request for each criterion, and one for the whole.
//!
//! The parts begin with the same words, those of the ask that they are made of, and only their last lines differ.

use domain::message::Message;
use serde_json::{Map, Value, json};

use super::Judge;
use domain::chat::{ChatReply, ChatRequest, ReplySchema};

/// Splits the request for a verdict: one request for each criterion, in their order, and the last for the
/// rest.
pub fn per_criterion_requests(judge: &Judge, ask: &ChatRequest) -> Vec<ChatRequest> {
    let schema = judge.reply_schema();
    let fields = &schema["properties"];
    let score = &fields["scores"]["items"]["properties"];
    let mut asks: Vec<ChatRequest> = judge.spec.criteria.iter().map(|c| {
        let order = format!(
            "Score one criterion only: `{}`. Answer with one JSON object and nothing around it: `score` (whole number \
             from 0 to 10) and `rationale` (one to three sentences).",
            c.name
        );
        part(ask, &order, &json!({"score": score["score"], "rationale": score["rationale"]}))
    }).collect();
    let order = "Leave the criteria to others. Answer with one JSON object and nothing around it: `overall`, `rationale` \
                 and `goal_achieved`, as described above.";
    let rest = ["overall", "rationale", "goal_achieved"].map(|name| (name.to_owned(), fields[name].clone()));
    asks.push(part(ask, order, &Value::Object(rest.into_iter().collect())));
    asks
}

fn part(ask: &ChatRequest, order: &str, properties: &Value) -> ChatRequest {
    let mut part = ask.clone();
    // In the last message, not after it: many chat templates refuse two messages of one role in a row.
    if let Some(Message::User { content }) = part.messages.last_mut() {
        content.push_str("\n\n# This time\n\n");
        content.push_str(order);
    }
    let required: Vec<&String> = properties.as_object().map(|fields| fields.keys().collect()).unwrap_or_default();
    let schema =
        json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties});
    part.schema = Some(ReplySchema { name: "verdict_part".into(), schema });
    part
}

/// Merges the replies to the parts into one. A part that cannot be read is returned unchanged, so that it is refused
/// with the reason.
pub fn merge_replies(judge: &Judge, parts: &[ChatReply]) -> ChatReply {
    let usage = parts.iter().map(|part| part.usage).sum();
    let content = match verdict(judge, parts) {
        Ok(verdict) => verdict.to_string(),
        Err(unreadable) => unreadable.content.clone(),
    };
    ChatReply { content, usage, ..ChatReply::default() }
}

fn verdict<'a>(judge: &Judge, parts: &'a [ChatReply]) -> Result<Value, &'a ChatReply> {
    let object = |part: &'a ChatReply| match part.json() {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(part),
    };
    let Some((rest, scores)) = parts.split_last() else { return Ok(Value::Null) };
    let named = |(criterion, part): (&domain::judge::Criterion, &'a ChatReply)| {
        let mut score = Map::from_iter([("criterion".to_owned(), json!(criterion.name))]);
        score.extend(object(part)?);
        Ok(Value::Object(score))
    };
    let scores = judge.spec.criteria.iter().zip(scores).map(named).collect::<Result<Vec<_>, _>>()?;
    let mut verdict = object(rest)?;
    verdict.insert("scores".to_owned(), Value::Array(scores));
    Ok(Value::Object(verdict))
}
