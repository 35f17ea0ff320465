//! A JSON Schema as Markdown: a table of fields for the document, and one for each type that it refers to.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Map, Value};

const REFERENCE: &str = "#/$defs/";

/// The page of a document. Types follow in the order in which they are first met.
pub fn page(title: &str, schema: &Value) -> String {
    let mut out = format!("# {title}\n\n");
    let types = schema["$defs"].as_object().cloned().unwrap_or_default();
    let mut page = Page { types: &types, met: Vec::new() };
    page.body(schema, &mut out);
    let mut done = 0;
    while let Some(name) = page.met.get(done).cloned() {
        done += 1;
        let Some(schema) = types.get(&name) else { continue };
        let _ = writeln!(out, "## {name}\n");
        page.body(schema, &mut out);
    }
    out
}

/// Text within a cell of a table.
pub fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

struct Page<'a> {
    types: &'a Map<String, Value>,
    /// Types that something refers to, in order.
    met: Vec<String>,
}

impl Page<'_> {
    fn body(&mut self, schema: &Value, out: &mut String) {
        if let Some(text) = schema["description"].as_str() {
            let _ = writeln!(out, "{text}\n");
        }
        self.fields(schema, out);
        let variants: Vec<&Value> =
            ["oneOf", "anyOf"].iter().filter_map(|one| schema[*one].as_array()).flatten().collect();
        if variants.iter().any(|variant| !constants(variant).is_empty()) || schema["enum"].is_array() {
            values(schema, &variants, out);
        }
        for variant in variants.iter().filter(|variant| constants(variant).is_empty()) {
            self.variant(variant, out);
        }
        if schema["properties"].is_null() && variants.is_empty() && schema["enum"].is_null() {
            let _ = writeln!(out, "{}\n", sentence(&self.kind(schema)));
        }
    }

    /// One of several shapes.
    fn variant(&mut self, variant: &Value, out: &mut String) {
        let tag = variant["properties"].as_object().and_then(|fields| {
            fields.iter().find_map(|(name, field)| Some(format!("`{name}: {}`", text(field.get("const")?))))
        });
        let title = tag.unwrap_or_else(|| self.kind(variant));
        let _ = writeln!(out, "### {title}\n");
        if let Some(text) = variant["description"].as_str() {
            let _ = writeln!(out, "{text}\n");
        }
        self.fields(variant, out);
    }

    fn fields(&mut self, schema: &Value, out: &mut String) {
        let Some(fields) = schema["properties"].as_object() else { return };
        let required: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        out.push_str("| field | type | default | meaning |\n| --- | --- | --- | --- |\n");
        for (name, field) in fields {
            let default = match field.get("default") {
                _ if required.contains(name.as_str()) => "required".to_owned(),
                None | Some(Value::Null) => String::new(),
                Some(value) => format!("`{}`", text(value)),
            };
            let mut meaning = field["description"].as_str().unwrap_or_default().to_owned();
            for bound in bounds(field) {
                let _ = write!(meaning, " {bound}.");
            }
            let _ =
                writeln!(out, "| `{name}` | {} | {} | {} |", cell(&self.kind(field)), cell(&default), cell(&meaning));
        }
        out.push('\n');
    }

    /// What a value is, in a few words.
    fn kind(&mut self, schema: &Value) -> String {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix(REFERENCE)) {
            return self.refer(name);
        }
        if let Some(value) = schema.get("const") {
            return format!("`{}`", text(value));
        }
        if let Some(listed) = schema["enum"].as_array() {
            return listed.iter().map(|value| format!("`{}`", text(value))).collect::<Vec<_>>().join(" or ");
        }
        for several in ["anyOf", "oneOf", "allOf"] {
            if let Some(listed) = schema[several].as_array() {
                let kinds: Vec<String> =
                    listed.iter().filter(|one| one["type"] != "null").map(|one| self.kind(one)).collect();
                return kinds.join(" or ");
            }
        }
        match &schema["type"] {
            Value::Array(types) => {
                let names = types.iter().filter_map(Value::as_str).filter(|name| *name != "null");
                names.map(|name| self.named(name, schema)).collect::<Vec<_>>().join(" or ")
            }
            Value::String(name) => self.named(name, schema),
            _ => "any value".to_owned(),
        }
    }

    fn named(&mut self, name: &str, schema: &Value) -> String {
        match name {
            "array" => format!("list of {}", self.kind(&schema["items"])),
            "object" => {
                let values = schema.get("additionalProperties").or_else(|| pattern(schema));
                match values.filter(|values| values.is_object()).or_else(|| common_type(schema)) {
                    Some(values) => format!("mapping of names to {}", self.kind(values)),
                    None => "mapping".to_owned(),
                }
            }
            "string" => "text".to_owned(),
            "integer" => "whole number".to_owned(),
            other => other.to_owned(),
        }
    }

    fn refer(&mut self, name: &str) -> String {
        if self.types.contains_key(name) && !self.met.iter().any(|met| met == name) {
            self.met.push(name.to_owned());
        }
        format!("[{name}](#{})", name.to_lowercase())
    }
}

/// The values of an enumeration, with what they mean.
fn values(schema: &Value, variants: &[&Value], out: &mut String) {
    let listed = schema["enum"].as_array().into_iter().flatten().map(|value| (value, ""));
    let described = variants.iter().flat_map(|variant| {
        let meaning = variant["description"].as_str().unwrap_or_default();
        constants(variant).into_iter().map(move |value| (value, meaning))
    });
    out.push_str("| value | meaning |\n| --- | --- |\n");
    for (value, meaning) in listed.chain(described) {
        let _ = writeln!(out, "| `{}` | {} |", text(value), cell(meaning));
    }
    out.push('\n');
}

/// The scalars that a branch of a union lists.
fn constants(variant: &Value) -> Vec<&Value> {
    variant.get("const").into_iter().chain(variant["enum"].as_array().into_iter().flatten()).collect()
}

fn pattern(schema: &Value) -> Option<&Value> {
    schema["patternProperties"].as_object()?.values().next()
}

/// The type that all values of a mapping have whose names are listed.
fn common_type(schema: &Value) -> Option<&Value> {
    let mut values = schema["properties"].as_object()?.values();
    let first = values.next().filter(|value| value["$ref"].is_string())?;
    values.all(|value| value == first).then_some(first)
}

fn bounds(field: &Value) -> Vec<String> {
    let word = |name: &str, says: &str| field.get(name).map(|value| format!("{says} `{}`", text(value)));
    [
        word("minimum", "At least"),
        word("exclusiveMinimum", "More than"),
        word("maximum", "At most"),
        word("minLength", "Letters: at least"),
        word("maxLength", "Letters: at most"),
        word("minItems", "Items: at least"),
        word("maxItems", "Items: at most"),
        word("pattern", "Matches"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn sentence(kind: &str) -> String {
    let mut letters = kind.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
