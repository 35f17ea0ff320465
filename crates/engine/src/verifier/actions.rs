//! The calls that had to be made, and those that had to be left.

use domain::expectation::{ActionPattern, ExpectedOutcome};
use domain::transcript::Call;
use domain::verdict::{Check, Rule};
use serde_json::{Map, Value};

use super::check;
use crate::playbook::Playbook;
use crate::world::Node;

/// A call that a tool answered, with its arguments as the tool got them: with the defaults of those that were left out.
struct Made<'a> {
    tool: &'a str,
    arguments: Map<String, Value>,
}

pub fn verify(expected: &ExpectedOutcome, calls: &[Call], playbook: &Playbook) -> Vec<Check> {
    let patterns = || expected.actions.iter().chain(&expected.forbidden);
    let calls = calls.iter().filter(|call| call.answer.succeeded() && patterns().any(|own| own.tool == call.tool));
    let calls: Vec<Made<'_>> =
        calls.map(|call| Made { tool: &call.tool, arguments: playbook.arguments_of(call) }).collect();
    let made = assign(&expected.actions, &calls);
    let actions = expected.actions.iter().zip(&made);
    let mut checks: Vec<Check> = actions
        .map(|(pattern, call)| {
            check(Rule::ExpectedAction, call.is_some(), &described(pattern), "was not called with success")
        })
        .collect();
    let complete = made.iter().all(Option::is_some);
    if expected.actions_in_order && complete && expected.actions.len() > 1 {
        let order: Vec<String> = expected.actions.iter().map(|pattern| format!("`{}`", pattern.tool)).collect();
        let what = format!("the order {}", order.join(", "));
        checks.push(check(Rule::ExpectedAction, in_order(&expected.actions, &calls), &what, "was not kept"));
    }
    checks.extend(expected.forbidden.iter().map(|pattern| {
        let done = calls.iter().any(|call| matches(pattern, call));
        check(Rule::ForbiddenAction, !done, &described(pattern), "was called with success")
    }));
    checks
}

/// For each pattern a call of its own, as far as there are any (augmenting paths, so that a general pattern does not
/// take the call that a narrow one needs).
fn assign(patterns: &[ActionPattern], calls: &[Made<'_>]) -> Vec<Option<usize>> {
    let mut taken_by: Vec<Option<usize>> = vec![None; calls.len()];
    for pattern in 0..patterns.len() {
        let mut seen = vec![false; calls.len()];
        augment(pattern, patterns, calls, &mut seen, &mut taken_by);
    }
    let mut made = vec![None; patterns.len()];
    for (call, pattern) in taken_by.into_iter().enumerate() {
        if let Some(pattern) = pattern {
            made[pattern] = Some(call);
        }
    }
    made
}

fn augment(
    pattern: usize,
    patterns: &[ActionPattern],
    calls: &[Made<'_>],
    seen: &mut [bool],
    taken_by: &mut [Option<usize>],
) -> bool {
    for call in 0..calls.len() {
        if seen[call] || !matches(&patterns[pattern], &calls[call]) {
            continue;
        }
        seen[call] = true;
        if taken_by[call].is_none_or(|other| augment(other, patterns, calls, seen, taken_by)) {
            taken_by[call] = Some(pattern);
            return true;
        }
    }
    false
}

/// Whether some calls match the patterns one after the other.
fn in_order(patterns: &[ActionPattern], calls: &[Made<'_>]) -> bool {
    let mut calls = calls.iter();
    patterns.iter().all(|pattern| calls.any(|call| matches(pattern, call)))
}

fn matches(pattern: &ActionPattern, call: &Made<'_>) -> bool {
    call.tool == pattern.tool
        && pattern
            .args
            .iter()
            .all(|(name, value)| call.arguments.get(name).is_some_and(|found| Node::from(found) == Node::from(value)))
}

fn described(pattern: &ActionPattern) -> String {
    if pattern.args.is_empty() {
        format!("`{}`", pattern.tool)
    } else {
        format!("`{}` with {}", pattern.tool, Value::Object(pattern.args.clone()))
    }
}

#[cfg(test)]
mod tests {
    use domain::event::Answer;
    use domain::transcript::Caller;
    use serde_json::json;

    use super::*;

    fn call(tool: &str, args: Value, answer: Answer) -> Call {
        Call {
            seq: 0,
            id: String::new(),
            tool: tool.into(),
            arguments: args.to_string(),
            caller: Caller::Agent,
            turn: 1,
            answer,
            content: String::new(),
            patch: Vec::new(),
            fault: None,
            note: None,
        }
    }

    fn failures(expected: Value, calls: &[Call]) -> Vec<String> {
        let expected: ExpectedOutcome = serde_json::from_value(expected).expect("an outcome");
        verify(&expected, calls, &crate::testing::playbook())
            .into_iter()
            .filter(|check| !check.passed)
            .map(|check| check.detail)
            .collect()
    }

    #[test]
    fn each_action_needs_a_call_of_its_own() {
        let calls =
            [call("pay", json!({"to": "a"}), Answer::Succeeded), call("pay", json!({"to": "b"}), Answer::Succeeded)];
        // The general pattern leaves the call that the narrow one needs.
        assert_eq!(
            failures(json!({"actions": [{"tool": "pay"}, {"tool": "pay", "args": {"to": "a"}}]}), &calls),
            [""; 0]
        );
        assert_eq!(
            failures(json!({"actions": [{"tool": "pay"}, {"tool": "pay"}, {"tool": "pay"}]}), &calls),
            ["`pay` was not called with success"]
        );
    }

    #[test]
    fn numbers_are_canonical_and_failed_calls_do_not_count() {
        let calls = [call("pay", json!({"amount": 198.0}), Answer::Succeeded), call("log", json!({}), Answer::Failed)];
        assert_eq!(failures(json!({"actions": [{"tool": "pay", "args": {"amount": 198}}]}), &calls), [""; 0]);
        assert_eq!(failures(json!({"actions": [{"tool": "log"}]}), &calls), ["`log` was not called with success"]);
        assert_eq!(failures(json!({"forbidden": [{"tool": "log"}]}), &calls), [""; 0]);
    }

    #[test]
    fn order_counts_only_where_it_is_asked_for() {
        let calls = [call("pay", json!({}), Answer::Succeeded), call("check", json!({}), Answer::Succeeded)];
        let expected =
            |in_order| json!({"actions": [{"tool": "check"}, {"tool": "pay"}], "actions_in_order": in_order});
        assert_eq!(failures(expected(false), &calls), [""; 0]);
        assert_eq!(failures(expected(true), &calls), ["the order `check`, `pay` was not kept"]);
    }
}
