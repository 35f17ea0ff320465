//! Showing a scenario to a model, and reading its vote.

use domain::message::Message;
use domain::persona::Profile;
use domain::review::{Answer, Question};
use domain::role::Role;
use domain::scenario::Scenario;
use domain::seed::Seed;
use serde::Deserialize;
use serde_json::{Value, json};
use strum::VariantArray;

use crate::boundary::boundary;
use crate::playbook::Playbook;
use crate::templates;
use crate::templates::rfc3339;
use domain::chat::{ChatReply, ChatRequest, ReplySchema};

const PROMPT: &str = include_str!("prompts/scenario_review.md.j2");
/// The longest initial world that is shown whole, in bytes of JSON; of a larger one only the scenario's own records are.
const LARGEST_WORLD: usize = 64 << 10;
/// The longest reason that is kept, in characters.
const LONGEST_REASON: usize = 500;

/// Asks one model all questions about a scenario; `personas` are those who may play its user.
///
/// # Errors
/// The prompt cannot be rendered: the documents are too large for it.
pub fn ask(playbook: &Playbook, scenario: &Scenario, personas: &[&Profile]) -> Result<ChatRequest, String> {
    Ok(ChatRequest {
        role: Role::Judge.into(),
        messages: vec![Message::User { content: prompt(playbook, scenario, personas)? }],
        tools: Vec::new(),
        schema: Some(ReplySchema { name: "review".into(), schema: reply_schema() }),
        // A review that is made again should say the same.
        temperature: 0.0,
        max_tokens: Role::Judge.default_max_tokens(),
        seed: Seed::new(0, &scenario.id, 0).sampling("review"),
    })
}

/// The same ask after a reply that could not be read, with the reason.
pub fn ask_again(mut ask: ChatRequest, reply: &ChatReply, reason: &str) -> ChatRequest {
    if !reply.content.is_empty() {
        let content = reply.content.clone();
        ask.messages.push(Message::Assistant { content, reasoning_content: None, tool_calls: Vec::new() });
    }
    ask.messages.push(Message::User { content: format!("That was refused: {reason}. Try again.") });
    ask
}

/// A model's answers, in the order of the questions.
///
/// # Errors
/// Why the reply is no vote: words for the model that is asked again.
pub fn read(reply: &ChatReply) -> Result<Vec<Answer>, String> {
    let reply: Reply = serde_json::from_value(reply.json()?).map_err(|e| e.to_string())?;
    Question::VARIANTS.iter().map(|question| answer(&reply, *question)).collect()
}

fn answer(reply: &Reply, question: Question) -> Result<Answer, String> {
    let name = question.into_str();
    let mut found = reply.answers.iter().filter(|answer| answer.question == question);
    let answer = match (found.next(), found.next()) {
        (Some(answer), None) => answer,
        (Some(_), Some(_)) => return Err(format!("`{name}` is answered twice")),
        (None, _) => return Err(format!("`{name}` is not answered")),
    };
    let reason = one_line(&answer.reason);
    if reason.is_empty() && !answer.passed {
        return Err(format!("`{name}` is answered with no and without a reason"));
    }
    Ok(Answer { question, passed: answer.passed, reason })
}

/// A reason as it stands in a finding: on a terminal, in a report, in a list.
pub fn one_line(reason: &str) -> String {
    let words: Vec<&str> =
        reason.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    words.join(" ").chars().take(LONGEST_REASON).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    answers: Vec<QuestionReply>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionReply {
    question: Question,
    passed: bool,
    reason: String,
}

fn reply_schema() -> Value {
    let names = Question::VARIANTS.iter().map(Question::into_str).collect::<Vec<_>>();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["answers"],
        "properties": {
            "answers": {
                "type": "array",
                "minItems": names.len(),
                "maxItems": names.len(),
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["question", "passed", "reason"],
                    "properties": {
                        "question": {"type": "string", "enum": names},
                        "passed": {"type": "boolean"},
                        "reason": {"type": "string"}
                    }
                }
            }
        }
    })
}

/// The material is JSON, in which no text can end its own line, between lines that hold its own hash: nothing in it can
/// pretend to stand outside.
fn prompt(playbook: &Playbook, scenario: &Scenario, personas: &[&Profile]) -> Result<String, String> {
    let business = pretty(&business(playbook));
    let (records, cut) = records(playbook, scenario);
    let case = pretty(&case(playbook, scenario, &records, personas));
    let questions = Question::VARIANTS.iter().map(|question| json!({"name": question, "asks": question.asks()}));
    let questions: Vec<Value> = questions.collect();
    templates::render_text(
        PROMPT,
        &json!({
            "boundary": boundary("", &[&business, &case]),
            "business": business, "case": case, "cut": cut, "questions": questions,
        }),
    )
}

fn business(playbook: &Playbook) -> Value {
    let spec = &playbook.spec;
    let tools = |tools: &[domain::playbook::Tool]| -> Vec<Value> {
        let tool = |tool: &domain::playbook::Tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
        tools.iter().map(tool).collect()
    };
    json!({
        "title": spec.title, "description": spec.description, "policy": playbook.policy, "guardrails": spec.guardrails,
        "tools": tools(&spec.tools), "user_tools": tools(&spec.user_tools),
    })
}

/// The initial world, or what the scenario adds to it; and whether something was left out.
fn records(playbook: &Playbook, scenario: &Scenario) -> (Value, bool) {
    let world = playbook.initial_world(&scenario.system_facts).to_json();
    let large = world.to_string().len() > LARGEST_WORLD;
    (if large { Value::Object(scenario.system_facts.clone()) } else { world }, large)
}

fn case(playbook: &Playbook, scenario: &Scenario, records: &Value, personas: &[&Profile]) -> Value {
    let personas: Vec<Value> =
        personas.iter().map(|profile| json!({"name": profile.name, "description": profile.description})).collect();
    json!({
        "id": scenario.id, "intent": scenario.intent, "description": scenario.description,
        "now": rfc3339(scenario.clock.unwrap_or(playbook.spec.clock)),
        "user_goal": scenario.user_goal, "user_facts": scenario.user_facts, "user_request": scenario.user_request,
        "user_mistakes": scenario.user_mistakes, "records": records, "expected_outcome": scenario.expected_outcome,
        "faults": scenario.faults, "script": scenario.script, "personas": personas,
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
