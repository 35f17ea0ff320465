//! What a JSON Schema finds wrong with a value, in words for whoever wrote the value.

use jsonschema::Validator;
use jsonschema::error::{ValidationError, ValidationErrorKind};
use serde_json::Value;

/// Forms within forms that are explained.
const MAX_DEPTH: usize = 4;

/// Each with its place, where it is not the whole value.
pub fn of(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|e| describe_error(&e)).collect()
}

pub fn describe_error(error: &ValidationError<'_>) -> String {
    let (at, said) = (error.instance_path().to_string(), explained(error, error.to_string()));
    if at.is_empty() { said } else { format!("{at}: {said}") }
}

/// Says of a value that fits none of several forms what keeps it from the nearest; otherwise what was said.
pub fn explained(error: &ValidationError<'_>, said: String) -> String {
    nearest(error, MAX_DEPTH).unwrap_or(said)
}

fn nearest(error: &ValidationError<'_>, depth: usize) -> Option<String> {
    let at = error.instance_path().to_string();
    let (forms, keyword) = match error.kind() {
        ValidationErrorKind::AnyOf { context } => (context, "anyOf"),
        ValidationErrorKind::OneOfNotValid { context } => (context, "oneOf"),
        _ => return None,
    };
    // A form of another type is farther away than one in which something is missing.
    let distance = |faults: &Vec<ValidationError<'static>>| {
        let other_type = |e: &ValidationError<'static>| {
            matches!(e.kind(), ValidationErrorKind::Type { .. }) && e.instance_path().to_string() == at
        };
        (faults.iter().any(other_type), faults.len())
    };
    let (i, faults) = forms.iter().enumerate().min_by_key(|(_, faults)| distance(faults)).filter(|_| depth > 0)?;
    let told = faults.iter().map(|e| {
        let said = nearest(e, depth - 1).unwrap_or_else(|| e.to_string());
        match e.instance_path().to_string().strip_prefix(&at) {
            None | Some("") => said,
            Some(within) => format!("{within}: {said}"),
        }
    });
    let told: Vec<String> = told.collect();
    Some(format!(
        "fits none of the {} forms of `{keyword}`; form {} is nearest, but {}",
        forms.len(),
        i + 1,
        told.join("; ")
    ))
}
