//! From the text of a YAML file to a typed document, or to everything that is wrong with it at once.

mod append;
mod compact;
mod explain;
mod write;
mod yaml;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::problem::{MOST_PROBLEMS, Problem, and_more};
pub use append::append;
pub use compact::compact;
pub use write::text;
pub use yaml::LocatedValue;

/// Reads one document. `file` is only a name for messages.
///
/// # Errors
/// All problems of the text: a syntax error alone (nothing after it can be trusted), else every field that the schema
/// of `T` refuses.
pub fn parse<T: DeserializeOwned + JsonSchema>(file: &str, text: &str) -> Result<T, Vec<Problem>> {
    located(file, text).map(|(document, _)| document)
}

/// Like [`parse`], with the place of every field, for checks that come later.
pub fn located<T: DeserializeOwned + JsonSchema>(file: &str, text: &str) -> Result<(T, LocatedValue), Vec<Problem>> {
    let located = value(file, text)?;
    let schema = schema::<T>();
    let problems = against_schema(&schema, &located);
    if !problems.is_empty() {
        return Err(problems);
    }
    match serde_json::from_value(located.value.clone()) {
        Ok(document) => Ok((document, located)),
        Err(e) => Err(vec![Problem::new(file, 0, "", e.to_string())]),
    }
}

/// The JSON Schema of a document, with what its fields mean.
pub fn schema<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// Reads YAML that has no type of its own, such as a JSON Schema or records.
pub fn value(file: &str, text: &str) -> Result<LocatedValue, Vec<Problem>> {
    yaml::read(file, text).map_err(|problem| vec![problem])
}

/// Checks a value against a JSON Schema and says for each violation where it stands in the text.
fn against_schema(schema: &Value, located: &LocatedValue) -> Vec<Problem> {
    let validator = match jsonschema::draft202012::options().should_validate_formats(true).build(schema) {
        Ok(validator) => validator,
        Err(e) => return vec![located.problem("", format!("its schema does not compile: {e}"))],
    };
    let (mut problems, mut more) = (Vec::new(), 0);
    for error in validator.iter_errors(&located.value) {
        if problems.len() < MOST_PROBLEMS {
            let (found, others) = explain::violation(&error, schema, located);
            problems.extend(found);
            more += others;
        } else {
            more += 1;
        }
    }
    problems.sort();
    problems.dedup();
    more += problems.len().saturating_sub(MOST_PROBLEMS);
    problems.truncate(MOST_PROBLEMS);
    // The last, whatever its place in the order of problems would be.
    problems.extend((more > 0).then(|| located.problem("", and_more(more))));
    problems
}

#[cfg(test)]
mod tests;
