//! What is sent and what is answered, where it is JSON.

use domain::patch::join;
use serde_json::{Value, json};

use crate::import::schema::{Document, Fault};
use domain::text;

pub struct Body {
    pub schema: Value,
    pub required: bool,
}

pub struct Answer {
    pub schema: Value,
    pub examples: Vec<Value>,
}

/// # Errors
/// A body that is not JSON cannot be written by an agent.
pub fn of_request(document: Document<'_>, operation: &Value, at: &str) -> Result<Option<Body>, Fault> {
    let Some(request) = operation.get("requestBody") else { return Ok(None) };
    let (request, at) = document.follow(request, &join(at, "requestBody"))?;
    let Some((media, kind)) = json(request).or_else(|| form(request)) else {
        return match kinds(request) {
            None => Ok(None),
            Some(kinds) => Err(Fault::Unfit(format!("its body is {kinds}, not JSON"))),
        };
    };
    let at = join(&join(&join(&at, "content"), kind), "schema");
    let schema = match media.get("schema") {
        Some(schema) => document.schema(schema, &at, "readOnly")?,
        None => json!({"type": "object"}),
    };
    Ok(Some(Body { schema, required: request["required"] == true }))
}

/// The answer when all went well. An operation that answers nothing answers an empty object.
///
/// # Errors
/// An answer that is not JSON cannot be told to an agent.
pub fn of_answer(document: Document<'_>, operation: &Value, at: &str) -> Result<Answer, Fault> {
    let nothing = || Answer { schema: json!({"type": "object", "additionalProperties": false}), examples: Vec::new() };
    let Some(responses) = operation.get("responses").and_then(Value::as_object) else { return Ok(nothing()) };
    let good = responses.iter().filter(|(code, _)| code.starts_with('2')).min_by_key(|(code, _)| code.to_uppercase());
    let Some((code, response)) = good.or_else(|| responses.get_key_value("default")) else { return Ok(nothing()) };
    let (response, at) = document.follow(response, &join(&join(at, "responses"), code))?;
    let Some((media, kind)) = json(response) else {
        return match kinds(response) {
            None => Ok(nothing()),
            Some(kinds) => Err(Fault::Unfit(format!("it answers {kinds}, not JSON"))),
        };
    };
    let at = join(&join(&join(&at, "content"), kind), "schema");
    let schema = match media.get("schema") {
        Some(schema) => document.schema(schema, &at, "writeOnly")?,
        None => json!({}),
    };
    Ok(Answer { examples: examples(media, &schema), schema })
}

/// The JSON in what is sent or answered, with the name of its media type.
pub fn json(holder: &Value) -> Option<(&Value, &str)> {
    media(holder, |kind| kind == "application/json")
        .or_else(|| media(holder, |kind| kind.ends_with("+json") || kind == "text/json"))
        .or_else(|| media(holder, |kind| matches!(kind, "*/*" | "application/*")))
}

/// A form holds names and values, as an object does.
fn form(holder: &Value) -> Option<(&Value, &str)> {
    media(holder, |kind| kind == "application/x-www-form-urlencoded")
}

fn media(holder: &Value, wanted: impl Fn(&str) -> bool) -> Option<(&Value, &str)> {
    let content = holder.get("content")?.as_object()?;
    let essence = |kind: &str| kind.split(';').next().unwrap_or(kind).trim().to_lowercase();
    content.iter().find(|(kind, _)| wanted(&essence(kind))).map(|(kind, media)| (media, kind.as_str()))
}

/// The names of its media types; nothing if it holds nothing.
fn kinds(holder: &Value) -> Option<String> {
    let content = holder.get("content")?.as_object().filter(|content| !content.is_empty())?;
    Some(text::line(&content.keys().cloned().collect::<Vec<_>>().join(" or ")))
}

fn examples(media: &Value, schema: &Value) -> Vec<Value> {
    let named = media.get("examples").and_then(Value::as_object);
    let named = named.into_iter().flat_map(|examples| examples.values()).filter_map(|example| example.get("value"));
    let own = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
    media.get("example").into_iter().chain(named).chain(own).cloned().collect()
}
