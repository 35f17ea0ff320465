//! Changes a value in a YAML text where it stands, so that comments, order and layout stay.

use domain::document;
use domain::patch::{join, segments};
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
    let start = start_of(text, before.line(pointer))?;
    let (at, length) = key_in(&text[start..], &key)?;
    let (at, begins) = (start + at, start + at + length);
    let written = inline_yaml(value);
    let ends = [flow_end(&text[begins..]), block_end(&text[begins..])];
    let inline = ends.into_iter().flatten().map(|end| format!("{}{written}{}", &text[..begins], &text[begins + end..]));
    let block = || {
        let field = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
        let indent = at - start;
        let lines = document::compact(&field).trim_end().replace('\n', &format!("\n{}", " ".repeat(indent)));
        format!("{}{lines}\n{}", &text[..at], &text[end_of_block(text, start, indent)..])
    };
    inline.chain(std::iter::once_with(block)).find(|changed| reads_as(changed, &expected))
}

/// The text with a value of other content: what is the same in both stays as it is written. `None` as of [`set`].
pub fn change(text: &str, pointer: &str, before: &Value, after: &Value) -> Option<String> {
    if before == after {
        return Some(text.to_owned());
    }
    if let (Value::Object(old), Value::Object(new)) = (before, after)
        && let Some(changed) = change_fields(text, pointer, old, new)
    {
        return Some(changed);
    }
    set(text, pointer, after)
}

fn change_fields(text: &str, pointer: &str, old: &Map<String, Value>, new: &Map<String, Value>) -> Option<String> {
    let mut gone = old.keys().filter(|key| !new.contains_key(*key));
    let text = gone.try_fold(text.to_owned(), |text, key| remove(&text, &join(pointer, key)))?;
    new.iter().try_fold(text, |text, (key, value)| {
        let pointer = join(pointer, key);
        old.get(key).map_or_else(|| set(&text, &pointer, value), |old| change(&text, &pointer, old, value))
    })
}

/// The text without a field, or an item of a list, that has lines of its own; `None` if it cannot be taken out safely.
pub fn remove(text: &str, pointer: &str) -> Option<String> {
    let before = document::value("", text).ok()?;
    let (parent, _) = pointer.rsplit_once('/')?;
    let key = segments(pointer)?.pop()?;
    let mut expected = before.value.clone();
    match expected.pointer_mut(parent)? {
        Value::Object(fields) => drop(fields.remove(&key)?),
        Value::Array(items) => {
            let item = key.parse().ok().filter(|item| *item < items.len())?;
            items.remove(item);
        }
        _ => return None,
    }
    let start = start_of(text, before.line(pointer))?;
    let indent = text[start..].len() - text[start..].trim_start_matches(' ').len();
    let rest = &text[end_of_block(text, start, indent)..];
    // Of the empty lines around it, those before it stay.
    let changed = format!("{}{}", &text[..start], rest.trim_start_matches('\n'));
    reads_as(&changed, &expected).then_some(changed)
}

fn reads_as(text: &str, expected: &Value) -> bool {
    document::value("", text).is_ok_and(|read| read.value == *expected)
}

/// Where a line, counted from 1, begins.
fn start_of(text: &str, line: usize) -> Option<usize> {
    Some(text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum())
}

/// Where the lines end that belong to what begins at `start`, in a column: deeper ones, and the items of its list. Empty
/// lines after them belong to nobody.
fn end_of_block(text: &str, start: usize, column: usize) -> usize {
    let mut lines = text[start..].split_inclusive('\n');
    let mut at = start + lines.next().map_or(0, str::len);
    let mut end = at;
    for line in lines {
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        let is_key = !text[start..].trim_start_matches(' ').starts_with("- ");
        let within = indent > column || indent == column && is_key && words.starts_with("- ");
        at += line.len();
        if within && !words.trim().is_empty() {
            end = at;
        } else if !words.trim().is_empty() {
            break;
        }
    }
    end
}

fn added(text: &str, pointer: &str, value: &Value) -> Option<String> {
    let key = segments(pointer)?.pop()?;
    let (parent, _) = pointer.rsplit_once('/')?;
    document::append(text, parent, &Value::Object(Map::from_iter([(key, value.clone())]))).ok()
}

/// Where a key begins, and how far behind it its value: after the colon and the spaces that follow.
fn key_in(text: &str, key: &str) -> Option<(usize, usize)> {
    let forms = [format!("\"{key}\":"), format!("'{key}':"), format!("{key}:")];
    let is_start = |at: usize| at == 0 || text[..at].ends_with([' ', '{', ',', '\n']);
    let found = forms.iter().filter_map(|form| {
        let mut places = text.match_indices(form.as_str()).map(|(at, _)| at);
        places.find(|at| is_start(*at)).map(|at| (at, form.len()))
    });
    let (at, length) = found.min()?;
    let behind = &text[at + length..];
    Some((at, length + behind.len() - behind.trim_start_matches(' ').len()))
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
fn inline_yaml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(inline_yaml).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let field = |(key, value): (&String, &Value)| format!("{}: {}", name(key), inline_yaml(value));
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

    const TOOLS: &str = "\
tools:
  # The first one.
  - name: find
    description: >-
      Finds
      things.
    parameters:
      type: object
      properties:
        id: {type: string, description: Which} # the key
    writes: []

  - name: last
    uses:
    - find
";

    #[test]
    fn a_value_of_several_lines_is_written_anew() {
        let changed = set(TOOLS, "/tools/0/description", &json!("Finds nothing")).unwrap();
        assert_eq!(changed, TOOLS.replace(">-\n      Finds\n      things.\n", "Finds nothing\n"));
        let changed = set(TOOLS, "/tools/1/uses", &json!(["find", "last"])).unwrap();
        assert_eq!(changed, TOOLS.replace("uses:\n    - find\n", "uses: [find, last]\n"));
        let changed = set(TOOLS, "/tools/0/name", &json!("seek")).unwrap();
        assert_eq!(changed, TOOLS.replace("name: find", "name: \"seek\""));
    }

    #[test]
    fn only_what_differs_within_a_value_changes() {
        let before = json!({"type": "object", "properties": {"id": {"type": "string", "description": "Which"}}});
        let mut after = before.clone();
        after["properties"]["id"]["description"] = json!("Which one");
        after["required"] = json!(["id"]);
        let changed = change(TOOLS, "/tools/0/parameters", &before, &after).unwrap();
        assert!(changed.contains("        id: {type: string, description: \"Which one\"} # the key\n"), "{changed}");
        assert_eq!(document::value("", &changed).unwrap().value["tools"][0]["parameters"], after);
        assert!(changed.contains("# The first one."));
    }

    #[test]
    fn an_item_is_taken_out_with_its_lines() {
        let changed = remove(TOOLS, "/tools/1").unwrap();
        assert_eq!(changed, TOOLS[..TOOLS.find("  - name: last").unwrap()]);
        let changed = remove(TOOLS, "/tools/0").unwrap();
        assert_eq!(changed, "tools:\n  # The first one.\n  - name: last\n    uses:\n    - find\n");
        // An empty list would be no list any more.
        assert_eq!(remove(&changed, "/tools/0"), None);
        assert_eq!(remove(TOOLS, "/tools/2"), None);
    }

    #[test]
    fn a_field_is_taken_out_with_its_lines() {
        let changed = remove(TOOLS, "/tools/0/description").unwrap();
        assert_eq!(changed, TOOLS.replace("    description: >-\n      Finds\n      things.\n", ""));
        // The lines of the item's mark, and of a neighbour between the same brackets, are not its own.
        assert_eq!(remove(TOOLS, "/tools/0/name"), None);
        assert_eq!(remove(TOOLS, "/tools/0/parameters/properties/id/type"), None);
        let tool = document::value("", TOOLS).unwrap().value["tools"][0].clone();
        let mut less = tool.clone();
        less["parameters"]["properties"]["id"].as_object_mut().unwrap().remove("type");
        let changed = change(TOOLS, "/tools/0", &tool, &less).unwrap();
        assert!(changed.contains("        id: {description: \"Which\"} # the key\n"), "{changed}");
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        assert_eq!(set("traits: [", "/traits/patience", &json!(1)), None);
    }
}
