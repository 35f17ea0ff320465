//! Schemas of others, as the engine wants them: standing alone, in today's JSON Schema, and no larger than a model can
//! read.
//!
//! OpenAPI 3.0 has its own dialect (`nullable`, `example`, a boolean `exclusiveMinimum`). It is translated wherever it
//! is met: documents that say 3.1 hold it, too.

mod dialect;
mod merge;

use domain::patch::join;
use serde_json::{Map, Value, json};

use domain::text;

/// Schemas within each other that are read; what is deeper may be anything. YAML of twice the depth can be read back.
const MAX_DEPTH: usize = 20;
/// Schemas that one schema may consist of.
const MAX_SIZE: usize = 1_000;
/// References followed within each other. The first that leaves the schema small enough is taken.
const REFERENCES: [usize; 5] = [12, 4, 2, 1, 0];

/// Why something cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The document is wrong at a JSON pointer.
    At(String, String),
    /// It is right, and cannot be a tool.
    Unfit(String),
}

/// A document that refers to parts of itself.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    pub root: &'a Value,
    /// What to do about references to other documents.
    pub elsewhere: &'static str,
}

impl<'a> Document<'a> {
    /// What stands at a place, or where its reference leads to, with that place.
    pub fn follow(self, value: &'a Value, at: &str) -> Result<(&'a Value, String), Fault> {
        let (mut value, mut at) = (value, at.to_owned());
        for _ in 0..=REFERENCES[0] {
            let Some(reference) = reference(value) else { return Ok((value, at)) };
            let target = self.target(reference, &at)?;
            (value, at) = (self.root.pointer(&target).unwrap_or(&Value::Null), target);
        }
        Err(Fault::At(at, "refers to itself".to_owned()))
    }

    /// The pointer that a reference names.
    fn target(self, reference: &str, at: &str) -> Result<String, Fault> {
        let shown = text::line(reference);
        let fault = |message: String| Err(Fault::At(join(at, "$ref"), message));
        match reference.strip_prefix('#') {
            None => fault(format!(
                "`{shown}` is in another document; only references within the document (`#/...`) are read{}",
                self.elsewhere
            )),
            Some(pointer) if self.root.pointer(pointer).is_some() => Ok(pointer.to_owned()),
            Some(_) => fault(format!("`{shown}` leads nowhere")),
        }
    }

    /// The schema at a place, with all it refers to. A property that carries the mark `hidden` is left out.
    ///
    /// # Errors
    /// A reference that cannot be followed, what is no schema, or a schema that is too large.
    pub fn schema(self, schema: &Value, at: &str, hidden: &'static str) -> Result<Value, Fault> {
        for references in REFERENCES {
            let mut reader = Reader { document: self, hidden, references, open: Vec::new(), depth: 0, size: 0 };
            let read = reader.schema(schema, at)?;
            if reader.size <= MAX_SIZE {
                return Ok(read);
            }
        }
        Err(Fault::Unfit(format!("its schema is larger than {MAX_SIZE} parts")))
    }
}

fn reference(value: &Value) -> Option<&str> {
    value.get("$ref").and_then(Value::as_str)
}

struct Reader<'a> {
    document: Document<'a>,
    hidden: &'static str,
    references: usize,
    /// The references that are being followed.
    open: Vec<String>,
    depth: usize,
    size: usize,
}

impl Reader<'_> {
    fn schema(&mut self, schema: &Value, at: &str) -> Result<Value, Fault> {
        self.size += 1;
        match schema {
            Value::Bool(_) => Ok(schema.clone()),
            // Nobody will see what is too large.
            _ if self.depth == MAX_DEPTH || self.size > MAX_SIZE => Ok(json!({})),
            Value::Object(map) => {
                self.depth += 1;
                let read = if let Some(reference) = reference(schema) {
                    self.reference(reference, map, at)
                } else {
                    self.keywords(map, at)
                };
                self.depth -= 1;
                read.map(Value::Object)
            }
            _ => Err(Fault::At(at.to_owned(), "expected a schema, which is an object".to_owned())),
        }
    }

    /// What it refers to, with what is said beside the reference. A schema that holds itself is cut off there.
    fn reference(
        &mut self,
        reference: &str,
        beside: &Map<String, Value>,
        at: &str,
    ) -> Result<Map<String, Value>, Fault> {
        let target = self.document.target(reference, at)?;
        let mut read = Map::new();
        if self.open.len() < self.references && !self.open.contains(&target) {
            let schema = self.document.root.pointer(&target).unwrap_or(&Value::Null);
            self.open.push(target.clone());
            if let Value::Object(own) = self.schema(schema, &target)? {
                read = own;
            }
            self.open.pop();
        }
        let mut beside = beside.clone();
        beside.remove("$ref");
        read.extend(self.keywords(&beside, at)?);
        dialect::translate(&mut read, &beside);
        Ok(read)
    }

    fn keywords(&mut self, map: &Map<String, Value>, at: &str) -> Result<Map<String, Value>, Fault> {
        let mut read = Map::new();
        for (key, value) in map {
            if let Some(value) = self.keyword(key, value, &join(at, key))? {
                read.insert(key.clone(), value);
            }
        }
        self.hide(&mut read);
        merge::all_of(&mut read);
        dialect::translate(&mut read, map);
        Ok(read)
    }

    /// `None`: it says nothing of a value that the engine would check.
    fn keyword(&mut self, key: &str, value: &Value, at: &str) -> Result<Option<Value>, Fault> {
        Ok(match key {
            "properties" | "patternProperties" | "dependentSchemas" => Some(self.named(value, at)?),
            "items"
            | "additionalProperties"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Some(self.schema(value, at)?),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => Some(self.listed(value, at)?),
            "title" | "description" => value.as_str().map(text::lines).filter(|text| !text.is_empty()).map(Value::from),
            _ => dialect::plain(key, value),
        })
    }

    fn named(&mut self, value: &Value, at: &str) -> Result<Value, Fault> {
        let Value::Object(map) = value else {
            return Err(Fault::At(at.to_owned(), "expected schemas by name".to_owned()));
        };
        // A name that nobody can read is no name that an agent would use.
        let named = map.iter().filter(|(name, _)| !name.chars().any(char::is_control));
        let read = named.map(|(name, schema)| Ok((name.clone(), self.schema(schema, &join(at, name))?)));
        read.collect::<Result<Map<_, _>, Fault>>().map(Value::Object)
    }

    fn listed(&mut self, value: &Value, at: &str) -> Result<Value, Fault> {
        let Value::Array(items) = value else {
            return Err(Fault::At(at.to_owned(), "expected a list of schemas".to_owned()));
        };
        let read = items.iter().enumerate().map(|(i, schema)| self.schema(schema, &format!("{at}/{i}")));
        read.collect::<Result<Vec<_>, Fault>>().map(Value::Array)
    }

    /// A caller never sends what is `readOnly`, and an answer never holds what is `writeOnly`.
    fn hide(&self, read: &mut Map<String, Value>) {
        let Some(Value::Object(properties)) = read.get_mut("properties") else { return };
        properties.retain(|_, property| property.get(self.hidden) != Some(&Value::Bool(true)));
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.remove("readOnly");
            property.remove("writeOnly");
        }
    }
}

#[cfg(test)]
mod tests;
