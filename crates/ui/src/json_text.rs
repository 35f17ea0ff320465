//! JSON as people read it.

use serde::de::IgnoredAny;

const INDENT: &str = "  ";

/// Lays JSON text out over lines. Text that is not JSON comes back as it is.
///
/// Only white space between tokens changes: parsing and printing would round large numbers and drop repeated keys,
/// and a reader of a conversation must see what the model wrote.
pub fn layout(text: &str) -> String {
    // The parser also limits the depth, and with it how far a line is indented.
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0;
    let mut chars = text.chars().filter(not_between_tokens()).peekable();
    let mut strings = InString::default();
    while let Some(c) = chars.next() {
        if strings.holds(c) {
            out.push(c);
            continue;
        }
        match c {
            '{' | '[' => {
                out.push(c);
                if let Some(close) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(c),
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&INDENT.repeat(depth));
}

/// Keeps every character but the white space outside of strings.
fn not_between_tokens() -> impl FnMut(&char) -> bool {
    let mut strings = InString::default();
    move |&c| strings.holds(c) || !c.is_ascii_whitespace()
}

/// Whether a reader of valid JSON stands inside a string.
#[derive(Default)]
struct InString {
    inside: bool,
    escaped: bool,
}

impl InString {
    /// Takes the next character; true if it belongs to a string, its quotes included.
    fn holds(&mut self, c: char) -> bool {
        match (self.inside, self.escaped, c) {
            (true, true, _) => self.escaped = false,
            (true, false, '\\') => self.escaped = true,
            (true, false, '"') => {
                self.inside = false;
                return true;
            }
            (false, _, '"') => self.inside = true,
            _ => {}
        }
        self.inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_takes_a_line_per_member() {
        let text = r#"{"id":"c1","items":[1,{"a":true}],"empty":{ },"none":[]}"#;
        let expected = r#"{
  "id": "c1",
  "items": [
    1,
    {
      "a": true
    }
  ],
  "empty": {},
  "none": []
}"#;
        assert_eq!(layout(text), expected);
    }

    #[test]
    fn tokens_stay_as_they_were_written() {
        for token in ["12345678901234567890123.10", r#""a, \"b\": {c}\\""#, "1e400", r#""\u0041 ü""#] {
            assert_eq!(layout(&format!("[ {token} ]")), format!("[\n  {token}\n]"));
        }
    }

    #[test]
    fn what_is_already_laid_out_stays() {
        let text = "{\n  \"a\": [\n    1\n  ]\n}";
        assert_eq!(layout(text), text);
    }

    #[test]
    fn other_text_stays() {
        let deep = "[".repeat(1000);
        for text in ["", "Error: no card 7", "{broken", "{} trailing", deep.as_str()] {
            assert_eq!(layout(text), text);
        }
    }
}
