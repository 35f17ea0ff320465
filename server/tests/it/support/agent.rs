//! A model that knows how to solve one scenario, [`HELP`], and its counterparts.

use axum::response::Response;
use domain::persona::Complexity;
use serde_json::{Map, Value, json};
use strum::VariantArray;

use super::endpoint::{calling, message};
use super::library;
use super::play::HELP;

pub const THOUGHT: &str = "Two questions, two tools, and neither needs the other.";
const ANSWER: &str = "Card payments in foreign currencies cost 1.75 %, cash abroad costs 4.00. Call us until 20:00.";

fn last(request: &Value) -> &Value {
    request["messages"].as_array().unwrap().last().unwrap()
}

/// How the agent's part of [`HELP`] is played.
pub fn help(request: &Value) -> Response {
    message(&helps(request))
}

/// What the agent says in [`HELP`].
pub fn helps(request: &Value) -> Value {
    if last(request)["role"] == "tool" {
        return json!({"role": "assistant", "content": ANSWER, "reasoning_content": "I have it all."});
    }
    if request["messages"].to_string().contains(r#""role":"tool""#) {
        return json!({"role": "assistant", "content": "You are welcome."});
    }
    calling(&[("search_help", json!({"query": "paying abroad"})), ("get_opening_hours", json!({}))], THOUGHT)
}

/// Whether the agent is asked in a conversation of [`HELP`].
pub fn is_help(request: &Value) -> bool {
    let library = library();
    let line = library.scenario(HELP).unwrap().script[0].user.as_ref().unwrap();
    let opening = request["messages"][1]["content"].as_str().unwrap();
    Complexity::VARIANTS.iter().any(|complexity| line.at(*complexity) == opening)
}

/// A judge that is content.
pub fn verdict() -> Value {
    let library = library();
    let criteria = &library.judges["default"].spec.criteria;
    let scores: Vec<Value> =
        criteria.iter().map(|c| json!({"criterion": c.name, "score": 8, "rationale": "as it should be"})).collect();
    json!({"scores": scores, "overall": 8, "rationale": "well done", "goal_achieved": true})
}

/// Whether a request is about the customer of [`HANDOVER`](super::play::HANDOVER).
pub fn is_handover(request: &Value) -> bool {
    request.to_string().contains("Tilda Marrowby")
}

/// What the tool `search_help` truthfully answers in [`HELP`].
pub fn search_help() -> Value {
    let world = library().playbooks["retail_bank"].initial_world(&Map::new()).to_json();
    let article = &world["articles"]["art_card_abroad"];
    json!({"articles": [{"article_id": "art_card_abroad", "title": article["title"], "body": article["body"]}]})
}
