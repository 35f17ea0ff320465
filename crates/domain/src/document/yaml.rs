//! YAML to JSON values with the line of every field. Strict where YAML is generous: one document, no anchors (an alias
//! bomb is a few bytes long), no duplicate keys, no NaN, bounded depth and size.

use std::collections::HashMap;
use std::fmt::Write;

use saphyr::Scalar;
use saphyr_parser::{Event, Parser, Span};
use serde_json::{Map, Value};

use crate::patch;
use crate::problem::Problem;

/// Largest text that is read, in bytes.
pub const MAX_BYTES: usize = 64 << 20;
const MAX_DEPTH: usize = 64;

/// A value with the places of its fields in the text.
#[derive(Debug, Clone)]
pub struct Located {
    pub file: String,
    pub value: Value,
    /// JSON pointer -> 1-based line.
    lines: HashMap<String, usize>,
}

impl Located {
    /// Line of the field at this pointer, or of the nearest field around it.
    pub fn line(&self, pointer: &str) -> usize {
        let mut at = pointer;
        loop {
            if let Some(line) = self.lines.get(at) {
                return *line;
            }
            match at.rfind('/') {
                Some(cut) => at = &at[..cut],
                None => return 0,
            }
        }
    }

    /// The JSON pointer of a field that a [`Problem`] names.
    pub fn pointer(&self, field: &str) -> Option<&str> {
        self.lines.keys().map(String::as_str).find(|pointer| dotted(pointer) == field)
    }

    pub fn problem(&self, pointer: &str, message: impl Into<String>) -> Problem {
        Problem::new(&self.file, self.line(pointer), dotted(pointer), message)
    }
}

/// `/tools/2/simulate` as people write it: `tools[2].simulate`.
fn dotted(pointer: &str) -> String {
    let mut out = String::new();
    for segment in patch::segments(pointer).unwrap_or_default() {
        if segment.parse::<usize>().is_ok() {
            let _ = write!(out, "[{segment}]");
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&segment);
        }
    }
    out
}

pub fn read(file: &str, text: &str) -> Result<Located, Problem> {
    if text.len() > MAX_BYTES {
        return Err(Problem::new(file, 0, "", format!("is {} bytes long; at most {MAX_BYTES} are read", text.len())));
    }
    let mut reader = Reader { events: Parser::new_from_str(text), lines: HashMap::new() };
    let value =
        reader.document().map_err(|(line, field, message)| Problem::new(file, line, dotted(&field), message))?;
    Ok(Located { file: file.to_owned(), value, lines: reader.lines })
}

/// Line, pointer, message.
type Failure = (usize, String, String);

struct Reader<'a> {
    events: Parser<'a, saphyr_parser::StrInput<'a>>,
    lines: HashMap<String, usize>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Failure> {
        match self.events.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(e)) => Err((e.marker().line(), String::new(), format!("is not valid YAML: {}", e.info()))),
            None => Err((0, String::new(), "ends too early".to_owned())),
        }
    }

    fn document(&mut self) -> Result<Value, Failure> {
        let mut value = Value::Null;
        let mut documents = 0;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(value),
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        return Err((
                            span.start.line(),
                            String::new(),
                            "holds a second document; one file is one document".into(),
                        ));
                    }
                    let (event, span) = self.next()?;
                    value = self.node(event, span, "", 0)?;
                }
                _ => {}
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, pointer: &str, depth: usize) -> Result<Value, Failure> {
        let line = span.start.line();
        self.lines.entry(pointer.to_owned()).or_insert(line);
        let fail = |message: String| Err((line, pointer.to_owned(), message));
        if depth > MAX_DEPTH {
            return fail(format!("is nested deeper than {MAX_DEPTH} levels"));
        }
        match event {
            Event::Alias(_) => fail("is an alias; write the value out (anchors and aliases are not read)".into()),
            Event::Scalar(text, style, _, tag) => {
                match Scalar::parse_from_cow_and_metadata(text, style, tag.as_ref()) {
                    Some(scalar) => scalar_value(scalar).or_else(fail),
                    None => fail("has a tag that does not fit its value".into()),
                }
            }
            Event::SequenceStart(..) => self.sequence(pointer, depth),
            Event::MappingStart(..) => self.mapping(pointer, depth),
            other => fail(format!("is not valid YAML: unexpected {other:?}")),
        }
    }

    fn sequence(&mut self, pointer: &str, depth: usize) -> Result<Value, Failure> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                return Ok(Value::Array(items));
            }
            let item = self.node(event, span, &format!("{pointer}/{}", items.len()), depth + 1)?;
            items.push(item);
        }
    }

    fn mapping(&mut self, pointer: &str, depth: usize) -> Result<Value, Failure> {
        let mut map = Map::new();
        loop {
            let (event, span) = self.next()?;
            let line = span.start.line();
            let key = match event {
                Event::MappingEnd => return Ok(Value::Object(map)),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err((line, pointer.to_owned(), "has a key that is not a plain text".into())),
            };
            let child = patch::join(pointer, &key);
            if map.contains_key(&key) {
                return Err((line, child, "is given twice".into()));
            }
            self.lines.insert(child.clone(), line);
            let (event, span) = self.next()?;
            let value = self.node(event, span, &child, depth + 1)?;
            map.insert(key, value);
        }
    }
}

fn scalar_value(scalar: Scalar<'_>) -> Result<Value, String> {
    Ok(match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(b) => b.into(),
        Scalar::Integer(i) => i.into(),
        Scalar::FloatingPoint(f) => {
            let number = serde_json::Number::from_f64(f.into_inner()).ok_or("is not a finite number")?;
            Value::Number(number)
        }
        Scalar::String(s) => s.into_owned().into(),
    })
}
