//! Changes a value in a YAML text where it stands, so that comments, order and layout stay.

use domain::document;
use domain::patch::segments;
use serde_json::{Map, Value};

/// The text with another value at a pointer; `None` if it is written in a way that cannot be changed safely. The result has
/// been read again: nothing else in it has changed.
pub fn set(text: &str, pointer: &str, value: &Value) -> Option<String> {
    let before = document::value("", text).ok()?;
    let Some(present) = before.value.pointer(pointer) else { return added(text, pointer, value) };
    if present == value {
        return Some(text.to_owned());
    }
    let mut expected = before.value.clone();
    *expected.pointer_mut(pointer)? = value.clone();
    let key = segments(pointer)?.pop()?;
    let line = before.line(pointer);
    let start = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum::<usize>();
    let begins = start + after_key(&text[start..], &key)?;
    let written = written(value);
    let ends = [flow_end(&text[begins..]), block_end(&text[begins..])];
    let changed =
        ends.into_iter().flatten().map(|end| format!("{}{written}{}", &text[..begins], &text[begins + end..]));
    changed.into_iter().find(|changed| document::value("", changed).is_ok_and(|after| after.value == expected))
}

fn added(text: &str, pointer: &str, value: &Value) -> Option<String> {
    let key = segments(pointer)?.pop()?;
    let (parent, _) = pointer.rsplit_once('/')?;
    document::append(text, parent, &Value::Object(Map::from_iter([(key, value.clone())]))).ok()
}

/// Where the value of a key begins: after its colon and the spaces that follow.
fn after_key(text: &str, key: &str) -> Option<usize> {
    let forms = [format!("\"{key}\":"), format!("'{key}':"), format!("{key}:")];
    let is_start = |at: usize| at == 0 || text[..at].ends_with([' ', '{', ',', '\n']);
    let found = forms.iter().filter_map(|form| {
        let mut places = text.match_indices(form.as_str()).map(|(at, _)| at);
        places.find(|at| is_start(*at)).map(|at| at + form.len())
    });
    let colon = found.min()?;
    Some(colon + text[colon..].len() - text[colon..].trim_start_matches(' ').len())
}

/// A value between brackets, to its own bracket or to what follows it.
fn flow_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '{' => depth += 1,
            ']' | '}' if depth <= 1 => return Some(at + depth),
            ']' | '}' => depth -= 1,
            ',' | '\n' if depth == 0 => return Some(text[..at].trim_end().len()),
            '#' if depth == 0 && text[..at].ends_with(' ') => return Some(text[..at].trim_end().len()),
            _ => {}
        }
    }
    (depth == 0).then(|| text.trim_end().len())
}

/// A value that has the rest of its line, but for a comment.
fn block_end(text: &str) -> Option<usize> {
    let line = text.lines().next()?;
    let value = line.find(" #").map_or(line, |at| &line[..at]);
    Some(value.trim_end().len())
}

/// On one line, as people write it.
fn written(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let field = |(key, value): (&String, &Value)| format!("{}: {}", name(key), written(value));
            format!("{{{}}}", map.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A key; what would read as a number is quoted.
fn name(key: &str) -> String {
    if key.starts_with(|c: char| c.is_ascii_alphabetic()) { key.to_owned() } else { Value::from(key).to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "\
# Who this is
traits:
  patience: 0.7 # before the intent
  verbosity:   0.3
emotions:
  trust: [0.5, 0.7] # a range
demographics:
  age: {\"25_39\": 0.7, \"40_59\": 0.3} # two
";

    #[test]
    fn only_the_value_changes() {
        let changed = set(TEXT, "/traits/patience", &json!(0.25)).unwrap();
        assert_eq!(changed, TEXT.replace("0.7 # before", "0.25 # before"));
        let changed = set(TEXT, "/traits/verbosity", &json!(1.0)).unwrap();
        assert_eq!(changed, TEXT.replace("  0.3\n", "  1.0\n"));
        let changed = set(TEXT, "/emotions/trust", &json!([0.1, 0.2])).unwrap();
        assert_eq!(changed, TEXT.replace("[0.5, 0.7]", "[0.1, 0.2]"));
        let changed = set(TEXT, "/demographics/age", &json!({"25_39": 1.0})).unwrap();
        assert_eq!(changed, TEXT.replace("{\"25_39\": 0.7, \"40_59\": 0.3}", "{\"25_39\": 1.0}"));
    }

    #[test]
    fn a_field_on_a_line_with_others_is_found() {
        let text = "traits: {patience: 0.7, verbosity: 0.3}\n";
        assert_eq!(set(text, "/traits/verbosity", &json!(0.5)).unwrap(), "traits: {patience: 0.7, verbosity: 0.5}\n");
        assert_eq!(set(text, "/traits/patience", &json!(0.5)).unwrap(), "traits: {patience: 0.5, verbosity: 0.3}\n");
    }

    #[test]
    fn a_field_that_is_missing_is_added() {
        let changed = set(TEXT, "/traits/slang", &json!(0.5)).unwrap();
        assert_eq!(document::value("", &changed).unwrap().value["traits"]["slang"], json!(0.5));
        assert!(changed.contains("# before the intent"));
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        assert_eq!(set("traits: [", "/traits/patience", &json!(1)), None);
    }
}
