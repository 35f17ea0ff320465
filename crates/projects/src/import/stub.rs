//! The functions of a draft whose tools are code.

use serde_json::{Map, Value};

/// The source of a function that is still to be written.
pub fn stub(name: &str, parameters: &Value) -> String {
    let required: Vec<&str> =
        parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let names = parameters["properties"].as_object().into_iter().flat_map(Map::keys);
    let (own, others): (Vec<&String>, Vec<&String>) = names.partition(|name| is_identifier(name));
    let (needed, optional): (Vec<&String>, Vec<&String>) =
        own.into_iter().partition(|own| required.contains(&own.as_str()));
    let mut all = vec!["world".to_owned(), "ctx".to_owned()];
    all.extend(needed.into_iter().cloned());
    all.extend(optional.into_iter().map(|name| format!("{name} = None")));
    if !others.is_empty() {
        all.push("**rest".to_owned());
    }
    format!("def {name}({}):\n    fail(\"{name} is not written yet\")\n", all.join(", "))
}

/// Whether a parameter of a function can have this name.
fn is_identifier(name: &str) -> bool {
    const RESERVED: [&str; 33] = [
        "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
        "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "load", "nonlocal", "not", "or",
        "pass", "raise", "return", "try", "while", "with", "yield",
    ];
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !RESERVED.contains(&name)
}
