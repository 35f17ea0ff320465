//! A document in a reply: YAML, or JSON, which is YAML too.

use domain::{document, untrusted};
use serde_json::{Map, Value};

use domain::reasoning;

/// Longest reply that is read, in bytes: several times the longest scenario that people wrote.
pub const MAX_BYTES: usize = 64 << 10;

/// # Errors
/// Why the reply holds no document, in words for the model.
pub fn document(reply: &str) -> Result<Map<String, Value>, String> {
    if reply.len() > MAX_BYTES {
        return Err(format!("the reply is {} bytes long; at most {MAX_BYTES} are read", reply.len()));
    }
    let (said, _) = reasoning::split(reply, None);
    let located = document::value("the document", unfenced(&said))
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    untrusted::check(&located.value)?;
    match located.value {
        Value::Object(map) => Ok(map),
        _ => Err("the reply is no document: answer with one YAML document and nothing else".to_owned()),
    }
}

/// What stands between the first two fences, or all of it. Models explain what they write, asked or not.
fn unfenced(text: &str) -> &str {
    let fence = |text: &str| text.starts_with("```").then_some(0).or_else(|| text.find("\n```").map(|at| at + 1));
    let Some(start) = fence(text) else { return text };
    let Some((_, inside)) = text[start..].split_once('\n') else { return text };
    fence(inside).map_or(inside, |end| &inside[..end])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_with_or_without_a_fence() {
        let expected = json!({"id": "a", "steps": ["```", 1]});
        for reply in [
            "id: a\nsteps:\n  - \"```\"\n  - 1\n",
            "{\"id\": \"a\", \"steps\": [\"```\", 1]}",
            "Here it is:\n```yaml\nid: a\nsteps: [\"```\", 1]\n```\nI hope it helps!",
            "```\nid: a\nsteps: [\"```\", 1]",
            "<think>id: b</think>\n```json\n{\"id\": \"a\", \"steps\": [\"```\", 1]}\n```",
        ] {
            assert_eq!(document(reply).map(Value::Object).as_ref(), Ok(&expected), "{reply}");
        }
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let deep = format!("a: {}{}", "[".repeat(100), "]".repeat(100));
        let replies = [
            "",
            "Sure! I would love to.",
            "- a\n- b",
            "a: 1\na: 2",
            "a: &x [1]\nb: *x",
            "a: \"\\0\"",
            "a: [",
            "a: .inf",
            &deep,
        ];
        let said = replies.map(|reply| document(reply).unwrap_err()).join("\n");
        insta::assert_snapshot!(said, @"
        the reply is no document: answer with one YAML document and nothing else
        the reply is no document: answer with one YAML document and nothing else
        the reply is no document: answer with one YAML document and nothing else
        the document:2: a: is given twice
        the document:2: b: is an alias; write the value out (anchors and aliases are not read)
        a text holds the character U+0000
        the document:2: is not valid YAML: while parsing a node, did not find expected node content
        the document:1: a: is not a finite number
        the document:1: a[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: is nested deeper than 64 levels
        ");
        assert!(document(&"x".repeat(MAX_BYTES + 1)).unwrap_err().starts_with("the reply is 65537 bytes long"));
    }
}
