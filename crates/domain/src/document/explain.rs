//! Schema violations in words: what was found, what is expected, which name was likely meant.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::yaml::LocatedValue;
use crate::patch;
use crate::problem::{MOST_PROBLEMS, Problem, did_you_mean};

/// One violation may be several problems: each unknown field is one. Those that are explained, and how many are not.
pub fn violation(error: &ValidationError<'_>, schema: &Value, located: &LocatedValue) -> (Vec<Problem>, usize) {
    let at = error.instance_path().to_string();
    let one = |message: String| (vec![located.problem(&at, message)], 0);
    let found = || shown(error.instance());
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = properties(schema, &error.schema_path().to_string());
            let explained = unexpected.iter().take(MOST_PROBLEMS).map(|name| {
                let hint = did_you_mean(name, known.iter().map(String::as_str));
                located.problem(
                    &patch::join(&at, name),
                    format!("unknown field{hint}; expected one of: {}", known.join(", ")),
                )
            });
            (explained.collect(), unexpected.len().saturating_sub(MOST_PROBLEMS))
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            one(format!("field `{name}` is missing"))
        }
        Kind::Enum { options } => one(not_an_option(error.instance(), options)),
        Kind::Type { kind } => one(format!("expected {}, found {}", expected_type(kind), found())),
        Kind::Pattern { pattern } => one(format!("expected text like /{pattern}/, found {}", found())),
        Kind::Format { format } => one(format!("expected a {format}, found {}", found())),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => nearest_branch(context, schema, located)
            .unwrap_or_else(|| one(format!("fits none of the allowed forms, found {}", found()))),
        _ => one(shortened(error.to_string())),
    }
}

/// Of several allowed forms the author meant the one that fits furthest down.
fn nearest_branch(
    context: &[Vec<ValidationError<'static>>],
    schema: &Value,
    located: &LocatedValue,
) -> Option<(Vec<Problem>, usize)> {
    let depth = |branch: &&Vec<ValidationError<'static>>| {
        branch.iter().map(|e| e.instance_path().to_string().matches('/').count()).max().unwrap_or(0)
    };
    // Enumerations with documented variants come as one constant a branch: list them all.
    let constants: Vec<Value> = context
        .iter()
        .filter_map(|branch| match branch.first()?.kind() {
            Kind::Constant { expected_value } => Some((**expected_value).clone()),
            _ => None,
        })
        .collect();
    if constants.len() == context.len() && !constants.is_empty() {
        let error = context.first()?.first()?;
        let options = Value::Array(constants);
        let at = error.instance_path().to_string();
        return Some((vec![located.problem(&at, not_an_option(error.instance(), &options))], 0));
    }
    let branch = context.iter().filter(|b| !b.iter().any(is_null_branch)).max_by_key(depth)?;
    let mut found = (Vec::new(), 0);
    for error in branch {
        if found.0.len() < MOST_PROBLEMS {
            let (problems, more) = violation(error, schema, located);
            found.0.extend(problems);
            found.1 += more;
        } else {
            found.1 += 1;
        }
    }
    Some(found)
}

fn is_null_branch(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Type { kind: TypeKind::Single(jsonschema::JsonType::Null) })
}

fn not_an_option(found: &Value, options: &Value) -> String {
    let names: Vec<&str> = options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let hint = found.as_str().map(|name| did_you_mean(name, names.iter().copied())).unwrap_or_default();
    format!("expected one of {}, found {}{hint}", names.join(", "), shown(found))
}

fn expected_type(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(many) => many.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(" or "),
    }
}

/// The found value, short.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::Object(map) => return format!("an object with {} fields", map.len()),
        Value::Array(items) => return format!("a list of {}", items.len()),
        Value::String(s) => format!("text `{s}`"),
        Value::Null => "nothing".to_owned(),
        other => format!("{other}"),
    };
    if text.chars().nth(80).is_some() { text.chars().take(80).collect::<String>() + "..." } else { text }
}

/// Cuts a message of the validator, which may contain the whole value.
fn shortened(said: String) -> String {
    const LONGEST: usize = 1_000;
    if said.chars().nth(LONGEST).is_some() { said.chars().take(LONGEST).collect::<String>() + "..." } else { said }
}

/// Names of the properties that the schema object around this keyword knows.
fn properties(schema: &Value, keyword_path: &str) -> Vec<String> {
    let mut at = schema;
    for segment in patch::segments(keyword_path).unwrap_or_default() {
        if segment == "additionalProperties" || segment == "unevaluatedProperties" {
            break;
        }
        let Some(next) = (if segment == "$ref" { Some(at) } else { child(at, &segment) }) else { break };
        at = resolve(schema, next);
    }
    at.get("properties").and_then(Value::as_object).map(|p| p.keys().cloned().collect()).unwrap_or_default()
}

fn child<'a>(value: &'a Value, segment: &str) -> Option<&'a Value> {
    match value {
        Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
        other => other.get(segment),
    }
}

fn resolve<'a>(schema: &'a Value, at: &'a Value) -> &'a Value {
    at.get("$ref").and_then(Value::as_str).and_then(|r| schema.pointer(r.trim_start_matches('#'))).unwrap_or(at)
}
