//! YAML to JSON values with the line of every field. Strict where YAML is generous: one document, no anchors (an alias
//! bomb is a few bytes long), no duplicate keys, no NaN, bounded depth and size.

mod places;

use saphyr::Scalar;
use saphyr_parser::{Event, Parser, Span};
use serde_json::{Map, Value};

use crate::limits::{MOST_DOCUMENT_BYTES, MOST_DOCUMENT_LEVELS, MOST_DOCUMENT_VALUES};
use crate::patch;
use crate::problem::Problem;
use places::{Place, dotted};

/// A value with the places of its fields in the text.
#[derive(Debug, Clone)]
pub struct LocatedValue {
    pub file: String,
    pub value: Value,
    places: Place,
}

impl LocatedValue {
    /// Line of the field at this pointer, or of the nearest field around it.
    pub fn line(&self, pointer: &str) -> usize {
        self.places.line(&self.value, pointer)
    }

    /// The JSON pointer of a field that a [`Problem`] names.
    pub fn pointer(&self, field: &str) -> Option<String> {
        places::pointer(&self.value, field)
    }

    pub fn problem(&self, pointer: &str, message: impl Into<String>) -> Problem {
        Problem::new(&self.file, self.line(pointer), dotted(pointer), message)
    }
}

pub fn read(file: &str, text: &str) -> Result<LocatedValue, Problem> {
    if text.len() > MOST_DOCUMENT_BYTES {
        let message = format!("is {} bytes long; at most {MOST_DOCUMENT_BYTES} are read", text.len());
        return Err(Problem::new(file, 0, "", message));
    }
    let mut reader = Reader { events: Parser::new_from_str(text), path: Vec::new(), values: 0 };
    match reader.document() {
        Ok((value, places)) => Ok(LocatedValue { file: file.to_owned(), value, places }),
        Err((line, message)) => Err(Problem::new(file, line, dotted(&reader.pointer()), message)),
    }
}

/// Line and message; the place is where the reader stands.
type Failure = (usize, String);

struct Reader<'a> {
    events: Parser<'a, saphyr_parser::StrInput<'a>>,
    /// The way to the value that is being read. A pointer is made of it only for a message: to make one for each value
    /// would cost the square of a document with long keys.
    path: Vec<Step>,
    /// Values that were read.
    values: usize,
}

enum Step {
    Item(usize),
    Key(String),
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Failure> {
        match self.events.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(e)) => {
                self.path.clear();
                Err((e.marker().line(), format!("is not valid YAML: {}", e.info())))
            }
            None => {
                self.path.clear();
                Err((0, "ends too early".to_owned()))
            }
        }
    }

    fn pointer(&self) -> String {
        self.path.iter().fold(String::new(), |pointer, step| match step {
            Step::Item(place) => patch::join(&pointer, &place.to_string()),
            Step::Key(key) => patch::join(&pointer, key),
        })
    }

    fn document(&mut self) -> Result<(Value, Place), Failure> {
        let mut read = (Value::Null, Place::default());
        let mut documents = 0;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(read),
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        return Err((span.start.line(), "holds a second document; one file is one document".into()));
                    }
                    let (event, span) = self.next()?;
                    let line = span.start.line();
                    read = self.node(event, line, line)?;
                }
                _ => {}
            }
        }
    }

    /// `named`: the line that is said of it, which for a field is the line of its key.
    fn node(&mut self, event: Event<'a>, line: usize, named: usize) -> Result<(Value, Place), Failure> {
        let fail = |message: String| Err((line, message));
        if self.path.len() > MOST_DOCUMENT_LEVELS {
            return fail(format!("is nested deeper than {MOST_DOCUMENT_LEVELS} levels"));
        }
        self.values += 1;
        if self.values > MOST_DOCUMENT_VALUES {
            return fail(format!("is one value too many: a document holds at most {MOST_DOCUMENT_VALUES}"));
        }
        match event {
            Event::Alias(_) => fail("is an alias; write the value out (anchors and aliases are not read)".into()),
            Event::Scalar(text, style, _, tag) => {
                match Scalar::parse_from_cow_and_metadata(text, style, tag.as_ref()) {
                    Some(scalar) => scalar_value(scalar).map(|value| (value, Place::at(named))).or_else(fail),
                    None => fail("has a tag that does not fit its value".into()),
                }
            }
            Event::SequenceStart(..) => self.sequence(named),
            Event::MappingStart(..) => self.mapping(named),
            other => fail(format!("is not valid YAML: unexpected {other:?}")),
        }
    }

    fn sequence(&mut self, named: usize) -> Result<(Value, Place), Failure> {
        let (mut items, mut places) = (Vec::new(), Vec::new());
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                return Ok((Value::Array(items), Place::around(named, places)));
            }
            let line = span.start.line();
            self.path.push(Step::Item(items.len()));
            let (item, place) = self.node(event, line, line)?;
            self.path.pop();
            items.push(item);
            places.push(place);
        }
    }

    fn mapping(&mut self, named: usize) -> Result<(Value, Place), Failure> {
        let (mut map, mut places) = (Map::new(), Vec::new());
        loop {
            let (event, span) = self.next()?;
            let line = span.start.line();
            let key = match event {
                Event::MappingEnd => return Ok((Value::Object(map), Place::around(named, places))),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err((line, "has a key that is not a plain text".into())),
            };
            let is_twice = map.contains_key(&key);
            self.path.push(Step::Key(key));
            if is_twice {
                return Err((line, "is given twice".into()));
            }
            let (event, span) = self.next()?;
            let (value, place) = self.node(event, span.start.line(), line)?;
            if let Some(Step::Key(key)) = self.path.pop() {
                map.insert(key, value);
                places.push(place);
            }
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
