//! One operation as one tool.

use serde_json::{Map, Value, json};

use domain::patch::join;

use super::arguments::Arguments;
use super::body;
use crate::import::imported_interface::{Tool, schema_fault};
use crate::import::schema::{Document, Fault};
use crate::names::{self, UsedNames};
use domain::text;

pub struct Operation<'a> {
    pub document: Document<'a>,
    pub path: &'a str,
    pub method: &'a str,
    /// The path item around it, whose parameters are its own, too.
    pub item: &'a Map<String, Value>,
    pub at: String,
}

/// A tool whose place in the world is not decided yet.
pub struct UnplacedTool {
    pub tool: Tool,
    pub method: String,
    pub path: String,
    /// Argument of each parameter in the path, by the parameter's name.
    pub in_path: Vec<(String, String)>,
    /// Examples of answers.
    pub examples: Vec<Value>,
}

impl Operation<'_> {
    /// Such as `GET /orders`.
    pub fn origin(&self) -> String {
        text::line(&format!("{} {}", self.method.to_uppercase(), self.path))
    }

    /// The tool, and what is there in another form than it was.
    pub fn build(&self, taken: &mut UsedNames) -> Result<(UnplacedTool, Vec<String>), Fault> {
        let operation = &self.item[self.method];
        if !operation.is_object() {
            return Err(Fault::At(self.at.clone(), "expected an operation".to_owned()));
        }
        let mut arguments = Arguments::default();
        self.parameters(operation, &mut arguments)?;
        if let Some(body) = body::of_request(self.document, operation, &self.at)? {
            arguments.body(body);
        }
        let answer = body::of_answer(self.document, operation, &self.at)?;
        let (parameters, in_path, mut changed) = arguments.finish();
        for (what, schema) in [("parameters", &parameters), ("answer", &answer.schema)] {
            if let Some(fault) = schema_fault(schema) {
                return Err(Fault::Unfit(format!("the schema of its {what} is not valid: {fault}")));
            }
        }
        let name = self.name(operation, taken, &mut changed);
        let tool = Tool {
            name,
            origin: self.origin(),
            description: self.description(operation),
            parameters,
            returns: answer.schema,
            reads: Vec::new(),
            writes: Vec::new(),
        };
        let (method, path) = (self.method.to_owned(), self.path.to_owned());
        Ok((UnplacedTool { tool, method, path, in_path, examples: answer.examples }, changed))
    }

    fn name(&self, operation: &Value, taken: &mut UsedNames, changed: &mut Vec<String>) -> String {
        let own = operation.get("operationId").and_then(Value::as_str).filter(|id| !names::valid(id).is_empty());
        let wanted = own.map_or_else(|| format!("{}_{}", self.method, self.path), str::to_owned);
        let name = taken.take(&names::valid(&wanted));
        if own.is_some_and(|own| own != name) {
            changed.push(format!("was called `{}`", text::line(&wanted)));
        }
        name
    }

    fn description(&self, operation: &Value) -> String {
        let said = |key: &str| operation.get(key).and_then(Value::as_str).map(text::lines).unwrap_or_default();
        let (summary, description) = (said("summary"), said("description"));
        match (summary.is_empty(), description.is_empty()) {
            (true, true) => self.origin(),
            (true, false) => description,
            (false, true) => summary,
            _ if description.starts_with(&summary) => description,
            _ => text::lines(&format!("{summary}\n\n{description}")),
        }
    }

    /// Those of the path and its own, which come later and win.
    fn parameters(&self, operation: &Value, arguments: &mut Arguments) -> Result<(), Fault> {
        let around = self.at.rsplit_once('/').map_or("", |(around, _)| around);
        let mut parameters: Vec<(&Value, String)> = Vec::new();
        for (list, at) in [(self.item.get("parameters"), around), (operation.get("parameters"), &self.at)] {
            let at = join(at, "parameters");
            for (i, parameter) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
                let (parameter, at) = self.document.follow(parameter, &format!("{at}/{i}"))?;
                let same = |(other, _): &(&Value, String)| {
                    other["name"] == parameter["name"] && other["in"] == parameter["in"]
                };
                parameters.retain(|other| !same(other));
                parameters.push((parameter, at));
            }
        }
        // A place in the path is worth more than the order in which parameters are written down.
        parameters.sort_by_key(|(parameter, _)| parameter["in"] != "path");
        for (parameter, at) in parameters {
            self.parameter(parameter, &at, arguments)?;
        }
        for name in without_format(self.path).split('/').filter_map(in_braces) {
            arguments.in_path(name);
        }
        Ok(())
    }

    fn parameter(&self, parameter: &Value, at: &str, arguments: &mut Arguments) -> Result<(), Fault> {
        let (Some(name), Some(place)) = (parameter["name"].as_str(), parameter["in"].as_str()) else {
            return Err(Fault::At(at.to_owned(), "expected a parameter with `name` and `in`".to_owned()));
        };
        if !matches!(place, "path" | "query") {
            arguments.leave_out(name, place);
            return Ok(());
        }
        let mut schema = match (parameter.get("schema"), body::json(parameter)) {
            (Some(schema), _) => self.document.schema(schema, &join(at, "schema"), "readOnly")?,
            (None, Some((media, kind))) if media.get("schema").is_some() => {
                let at = join(&join(&join(at, "content"), kind), "schema");
                self.document.schema(&media["schema"], &at, "readOnly")?
            }
            _ => json!({"type": "string"}),
        };
        if let (Some(map), Some(said)) = (schema.as_object_mut(), parameter["description"].as_str()) {
            map.entry("description").or_insert_with(|| text::lines(said).into());
        }
        arguments.add(place, name, schema, place == "path" || parameter["required"] == true);
        Ok(())
    }
}

/// The name in a segment of a path that is a parameter, `{name}`.
pub fn in_braces(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}').filter(|name| !name.contains(['{', '}']))
}

/// The path without the format of the answer, which some APIs have at its end.
pub fn without_format(path: &str) -> &str {
    path.strip_suffix(".json").unwrap_or(path)
}
