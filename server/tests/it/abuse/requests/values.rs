//! Values for requests: those that fit the schema with names that exist, and now and then one that nobody expects.

use std::collections::BTreeMap;

use proptest::prelude::RngExt;
use proptest::test_runner::TestRng;
use serde_json::{Map, Value, json};

use super::operations::Operation;

/// Values of each kind that are remembered.
const MOST_KNOWN: usize = 6;
/// Letters of a value in an address.
const MOST_IN_ADDRESS: usize = 1_000;
/// Schemas within schemas that are followed.
const DEEPEST: usize = 8;

/// Texts that have broken programs.
const ODD_TEXTS: [&str; 18] = [
    "",
    " ",
    "..",
    "../../etc/passwd",
    "\u{0}",
    "a\u{0}b",
    "'; DROP TABLE runs;--",
    "<script>alert(1)</script>",
    "\u{202e}abc",
    "💥",
    "-1",
    "9223372036854775808",
    "1e400",
    "null",
    "00000000-0000-0000-0000-000000000000",
    "{{ 7 * 7 }}",
    "%",
    "\r\nx: y",
];

/// What is there to ask about.
pub struct Known {
    /// What was there from the beginning: by the name of the parameter, such as `run`, and of the documents by their folder.
    given: BTreeMap<String, String>,
    /// What was told by answers.
    told: BTreeMap<String, Vec<String>>,
    /// `runs` -> `run`, as in `/runs/{run}`.
    parameter_of: BTreeMap<String, String>,
    /// Whether values may be what nobody expects: if they always were, few requests would come far.
    pub is_odd: bool,
}

impl Known {
    pub fn of(operations: &[Operation], run: &str) -> Self {
        let mut parameter_of = BTreeMap::new();
        for operation in operations {
            let segments: Vec<&str> = operation.path.split('/').collect();
            for pair in segments.windows(2) {
                if let (false, Some(name)) = (pair[0].starts_with('{'), parameter(pair[1])) {
                    parameter_of.insert(pair[0].to_owned(), name.to_owned());
                }
            }
        }
        let given = [
            ("project", "default"),
            ("run", run),
            ("playbooks", "retail_bank"),
            ("scenarios", "help_card_abroad"),
            ("personas", "adaeze_nwosu"),
            ("judges", "default"),
            ("workflows", "questions"),
        ];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { given, told: BTreeMap::new(), parameter_of, is_odd: true }
    }

    /// Remembers the names and ids of what was answered.
    pub fn learn(&mut self, operation: &Operation, answer: &Value) {
        let Some(last) = operation.path.rsplit('/').find(|segment| !segment.starts_with('{')) else { return };
        let Some(parameter) = self.parameter_of.get(last).cloned() else { return };
        let own = std::slice::from_ref(answer);
        let items = answer["items"].as_array().or(answer.as_array()).map_or(own, Vec::as_slice);
        for item in items {
            let name = ["id", "name"].iter().find_map(|key| item[*key].as_str());
            // Whoever asks here stays who they are.
            if let Some(name) = name.filter(|_| item["name"] != "fuzzer" && item["name"] != "test") {
                let known = self.told.entry(parameter.clone()).or_default();
                if !known.iter().any(|known| known == name) {
                    known.insert(0, name.to_owned());
                    known.truncate(MOST_KNOWN);
                }
            }
        }
    }

    fn named(&self, rng: &mut TestRng, parameter: &str) -> Option<String> {
        let told = self.told.get(parameter).filter(|told| !told.is_empty());
        match (self.given.get(parameter), told) {
            (Some(given), told) if told.is_none() || rng.random_ratio(2, 3) => Some(given.clone()),
            (_, told) => told.map(|told| told[rng.random_range(0..told.len())].clone()),
        }
    }

    /// The segments of the path.
    pub fn path(&self, rng: &mut TestRng, operation: &Operation, document: &Value) -> Vec<String> {
        let mut segments: Vec<String> = Vec::new();
        for segment in operation.path.trim_start_matches('/').split('/') {
            let chosen = match parameter(segment) {
                None => segment.to_owned(),
                Some(_) if self.is_odd && rng.random_ratio(1, 10) => short(odd_text(rng)),
                // Documents are called by their folder and their name.
                Some("name") => {
                    let folder = segments.last().map(String::as_str).unwrap_or_default();
                    self.named(rng, folder).unwrap_or_else(|| short(odd_text(rng)))
                }
                Some(name) => self.named(rng, name).unwrap_or_else(|| {
                    let schema = operation.parameters.iter().find(|p| p.place == "path" && p.name == name);
                    let schema = schema.map_or(&Value::Null, |parameter| &parameter.schema);
                    short(plain(&self.value(rng, schema, document, 0)))
                }),
            };
            segments.push(chosen);
        }
        segments
    }

    pub fn query(&self, rng: &mut TestRng, operation: &Operation, document: &Value) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        let parameters: Vec<_> = operation.parameters.iter().filter(|parameter| parameter.place == "query").collect();
        // With more of them, one is always wrong.
        let count = rng.random_range(0..=parameters.len().min(2));
        for _ in 0..count {
            let parameter = parameters[rng.random_range(0..parameters.len())];
            let value = match self.named(rng, &parameter.name) {
                Some(known) if rng.random_ratio(1, 2) => Value::String(known),
                _ => self.value(rng, &parameter.schema, document, 0),
            };
            let values = if let Value::Array(items) = value { items } else { vec![value] };
            pairs.extend(values.iter().map(|value| (parameter.name.clone(), short(plain(value)))));
        }
        pairs
    }

    pub fn body(&self, rng: &mut TestRng, schema: &Value, document: &Value) -> Value {
        self.value(rng, schema, document, 0)
    }

    /// A value of a schema, or one that nobody expects.
    fn value(&self, rng: &mut TestRng, schema: &Value, document: &Value, depth: usize) -> Value {
        if self.is_odd && rng.random_ratio(1, 20) {
            return odd(rng);
        }
        if let Some(pointer) = schema["$ref"].as_str() {
            let schema = document.pointer(pointer.trim_start_matches('#')).unwrap_or(&Value::Null);
            return if depth > DEEPEST { Value::Null } else { self.value(rng, schema, document, depth + 1) };
        }
        if let Some(options) = ["enum", "oneOf", "anyOf"].iter().find_map(|key| schema[*key].as_array()) {
            let chosen = &options[rng.random_range(0..options.len())];
            return if schema["enum"].is_array() {
                chosen.clone()
            } else {
                self.value(rng, chosen, document, depth + 1)
            };
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let mut whole = Map::new();
            for part in parts {
                if let Value::Object(fields) = self.value(rng, part, document, depth + 1) {
                    whole.extend(fields);
                }
            }
            return Value::Object(whole);
        }
        let kinds = match &schema["type"] {
            Value::Array(kinds) => kinds.clone(),
            kind => vec![kind.clone()],
        };
        match kinds[rng.random_range(0..kinds.len())].as_str() {
            Some("object") => self.object(rng, schema, document, depth),
            Some("array") => {
                let items = rng.random_range(0..3);
                (0..items).map(|_| self.value(rng, &schema["items"], document, depth + 1)).collect()
            }
            Some("integer") => json!(rng.random_range(-1..20)),
            Some("number") => json!(f64::from(rng.random_range(-10..30)) / 10.0),
            Some("boolean") => json!(rng.random_bool(0.5)),
            Some("string") => self.word(rng, schema),
            _ => Value::Null,
        }
    }

    fn object(&self, rng: &mut TestRng, schema: &Value, document: &Value, depth: usize) -> Value {
        let mut fields = Map::new();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let share = if required.contains(&name.as_str()) { 0.97 } else { 0.25 };
            if rng.random_bool(share) {
                fields.insert(name.clone(), self.value(rng, schema, document, depth + 1));
            }
        }
        if schema["additionalProperties"].is_object() {
            for _ in 0..rng.random_range(0..3) {
                let name = plain(&self.word(rng, &Value::Null));
                fields.insert(name, self.value(rng, &schema["additionalProperties"], document, depth + 1));
            }
        }
        Value::Object(fields)
    }

    /// A name of something that is there, or another text that could be one.
    fn word(&self, rng: &mut TestRng, schema: &Value) -> Value {
        if schema["format"] == "date-time" {
            return json!("2026-11-27T10:00:00Z");
        }
        let kinds: Vec<&String> = self.given.keys().chain(self.told.keys()).collect();
        let kind = kinds[rng.random_range(0..kinds.len())];
        let other = ["scripted", "a", "name_of_mine", "HELLO", "a.b/c", "1.5", "[[\"a\", 1]]"];
        match self.named(rng, kind) {
            Some(known) if rng.random_ratio(1, 2) => Value::String(known),
            _ => json!(other[rng.random_range(0..other.len())]),
        }
    }
}

/// The body of a request that takes no JSON.
pub fn odd_body(rng: &mut TestRng) -> String {
    odd_text(rng).repeat(rng.random_range(1..50))
}

fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// A value as it stands in an address.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is longer than addresses may be is refused by the reader of HTTP.
fn short(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MOST_IN_ADDRESS));
    text
}

fn odd_text(rng: &mut TestRng) -> String {
    match rng.random_range(0..ODD_TEXTS.len() + 1) {
        at if at < ODD_TEXTS.len() => ODD_TEXTS[at].to_owned(),
        _ => "a".repeat(3_000),
    }
}

fn odd(rng: &mut TestRng) -> Value {
    match rng.random_range(0..12) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(i64::MIN),
        3 => json!(u64::MAX),
        4 => json!(1e308),
        5 => json!([]),
        6 => json!({}),
        7 => json!({"a": {"b": [null]}}),
        8 => (0..90).fold(json!(1), |inner, _| json!([inner])),
        9 => json!("b".repeat(100_000)),
        10 => json!(vec!["x"; 2_000]),
        _ => Value::String(odd_text(rng)),
    }
}
