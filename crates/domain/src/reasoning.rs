//! Reasoning, from whichever of its four sources, into one field.
//!
//! Endpoints return it as `reasoning_content` or `reasoning` (the client reads both), or inside the text between
//! `<think>` or `<reasoning>` tags. A closing tag without an opening one ends reasoning that the chat template opened.

use std::borrow::Cow;

const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<reasoning>", "</reasoning>")];

/// Separates what a model thought from what it said.
pub fn split(content: &str, field: Option<&str>) -> (String, Option<String>) {
    let mut thoughts: Vec<String> =
        field.map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned).into_iter().collect();
    let mut said = Cow::Borrowed(content);
    // Without one there is no tag.
    if content.contains('<') {
        for (open, close) in TAGS {
            said = Cow::Owned(take(&said, open, close, &mut thoughts));
        }
    }
    let reasoning = (!thoughts.is_empty()).then(|| thoughts.join("\n\n"));
    (said.trim().to_owned(), reasoning)
}

fn take(text: &str, open: &str, close: &str, thoughts: &mut Vec<String>) -> String {
    let mut keep = |thought: &str| {
        if !thought.trim().is_empty() {
            thoughts.push(thought.trim().to_owned());
        }
    };
    let mut said = String::new();
    let mut rest = text;
    if let Some(end) = rest.find(close).filter(|end| rest.find(open).is_none_or(|start| start > *end)) {
        keep(&rest[..end]);
        rest = &rest[end + close.len()..];
    }
    while let Some(start) = rest.find(open) {
        said.push_str(&rest[..start]);
        let inside = &rest[start + open.len()..];
        let (thought, after) = inside.split_once(close).unwrap_or((inside, ""));
        keep(thought);
        rest = after;
    }
    said + rest
}

#[cfg(test)]
mod tests {
    use super::split;

    fn check(content: &str, field: Option<&str>, said: &str, thought: Option<&str>) {
        assert_eq!(split(content, field), (said.to_owned(), thought.map(str::to_owned)), "{content:?}");
    }

    #[test]
    fn all_sources_end_in_one_field() {
        check("Hello", None, "Hello", None);
        check("Hello", Some("hm"), "Hello", Some("hm"));
        check("<think>a</think>Hello", None, "Hello", Some("a"));
        check("<reasoning>a</reasoning>\nHello", None, "Hello", Some("a"));
        check("A <think>a</think>B<think>b</think>", Some("f"), "A B", Some("f\n\na\n\nb"));
        check("opened by the template</think>Hello", None, "Hello", Some("opened by the template"));
        check("<think>cut off", None, "", Some("cut off"));
        check("<think></think>Hello", Some("  "), "Hello", None);
    }
}
