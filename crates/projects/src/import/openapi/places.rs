//! Where in the world each operation works, guessed from its path: `/orders` is a collection, `/orders/{id}` a record
//! of it, `/orders/{id}/cancel` something that is done to the record.

use std::collections::BTreeSet;

use serde_json::Value;

use super::operation::{UnplacedTool, in_braces, without_format};
use crate::import::imported_interface::{ImportedInterface, Part, fits, is, lists, record_of};
use crate::names;

/// What a POST at the end of a path does when it only looks something up.
const LOOK_UPS: [&str; 8] = ["search", "query", "find", "lookup", "filter", "count", "validate", "check"];

/// What the last part of a path names. A collection's records go by its name.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Collection(String),
    /// With the parameter that names the record.
    Record(String, String),
    Single(String),
}

/// What all paths say together.
struct Paths {
    /// Names that are followed by a parameter somewhere.
    collections: BTreeSet<String>,
    /// Paths that answer a GET.
    read: BTreeSet<String>,
    /// Those of them that answer with a list.
    listed: BTreeSet<String>,
}

/// Gives each tool its places, and the world what they name.
pub fn lay_out(built: Vec<UnplacedTool>, imported: &mut ImportedInterface) {
    let paths = Paths::new(&built);
    for rank in ["record", "collection", "other"] {
        for built in &built {
            describe(built, &paths.place(&built.path), rank, imported);
        }
    }
    imported.tools = built.into_iter().map(|built| with_places(built, &paths)).map(|built| built.tool).collect();
    imported.declare_places();
}

fn with_places(mut built: UnplacedTool, paths: &Paths) -> UnplacedTool {
    let place = paths.place(&built.path);
    let here = pointer(&place, &built.in_path);
    let looks = built.method == "get" || last(&built.path).is_some_and(|last| LOOK_UPS.contains(&last.as_str()));
    let mut reads = around(&built.path, &built.in_path);
    reads.retain(|around| *around != here);
    if looks {
        reads.insert(0, here);
    } else {
        built.tool.writes = vec![match (&place, built.method.as_str()) {
            (Place::Collection(_), "post") => format!("{here}/+"),
            (Place::Collection(_), _) => format!("{here}/*"),
            _ => here,
        }];
    }
    built.tool.reads = reads;
    built
}

fn pointer(place: &Place, in_path: &[(String, String)]) -> String {
    match place {
        Place::Collection(name) | Place::Single(name) => format!("/{name}"),
        Place::Record(name, parameter) => {
            let argument = in_path.iter().find(|(own, _)| own == parameter).map(|(_, argument)| argument);
            argument.map_or_else(|| format!("/{name}/*"), |argument| format!("/{name}/{{{argument}}}"))
        }
    }
}

impl Paths {
    fn new(built: &[UnplacedTool]) -> Self {
        let pairs = built.iter().flat_map(|built| pairs(&built.path));
        let gets = || built.iter().filter(|built| built.method == "get");
        Self {
            collections: pairs.map(|(name, _)| name).collect(),
            read: gets().map(|built| built.path.clone()).collect(),
            listed: gets().filter(|built| lists(&built.tool.returns)).map(|built| built.path.clone()).collect(),
        }
    }

    fn place(&self, path: &str) -> Place {
        let segments = segments(path);
        let record = || pairs(path).pop().map(|(name, parameter)| Place::Record(name, parameter));
        let Some(last) = segments.last() else { return Place::Single("records".to_owned()) };
        if last.contains('{') {
            let parameter = in_braces(last).unwrap_or_default().to_owned();
            return record().unwrap_or(Place::Record("records".to_owned(), parameter));
        }
        let name = names::part(last);
        if self.collections.contains(&name) {
            return Place::Collection(name);
        }
        let before =
            segments.iter().rev().nth(1).filter(|before| !before.contains('{')).map(|before| names::part(before));
        match (before, record()) {
            // `/orders/search`
            (Some(before), _) if self.collections.contains(&before) => Place::Collection(before),
            _ if self.listed.contains(path) => Place::Collection(name),
            (_, Some(record)) => record,
            _ if self.read.contains(path) => Place::Single(name),
            _ => Place::Collection(name),
        }
    }
}

/// The records that the path leads through.
fn around(path: &str, in_path: &[(String, String)]) -> Vec<String> {
    let pairs = pairs(path).into_iter();
    pairs.map(|(name, parameter)| pointer(&Place::Record(name, parameter), in_path)).collect()
}

fn segments(path: &str) -> Vec<&str> {
    without_format(path).split('/').filter(|segment| !segment.is_empty()).collect()
}

fn last(path: &str) -> Option<String> {
    segments(path).last().map(|last| names::part(last))
}

/// Each name that is followed by a parameter, with the parameter.
fn pairs(path: &str) -> Vec<(String, String)> {
    let segments = segments(path);
    let pairs = segments.windows(2).filter(|pair| !pair[0].contains('{') && pair[1].contains('{'));
    pairs.map(|pair| (names::part(pair[0]), in_braces(pair[1]).unwrap_or_default().to_owned())).collect()
}

/// The world's part that an operation works on, as its answers show it. The answers about one record show it best.
fn describe(built: &UnplacedTool, place: &Place, rank: &str, imported: &mut ImportedInterface) {
    let (name, own) = match place {
        Place::Record(name, _) if built.method == "get" && built.path.ends_with('}') => (name, "record"),
        Place::Collection(name) if built.method == "get" => (name, "collection"),
        Place::Record(name, _) | Place::Collection(name) => (name, "other"),
        Place::Single(name) => {
            let schema = if is(&built.tool.returns, "object") { built.tool.returns.clone() } else { Value::Bool(true) };
            imported.world.entry(name.clone()).or_insert(Part::Single { schema });
            return;
        }
    };
    if own != rank {
        return;
    }
    let known = imported.world.get(name);
    if known.is_some_and(|part| !matches!(part, Part::Records { schema, .. } if schema.get("properties").is_none())) {
        return;
    }
    let part = match record_of(&built.tool.returns) {
        Some(schema) => Part::Records { example: example(&built.examples, &schema, place), schema },
        None => Part::unknown(),
    };
    imported.world.insert(name.clone(), part);
}

/// An example of a record under its id.
fn example(examples: &[Value], schema: &Value, place: &Place) -> Option<(String, Value)> {
    let within = |value: &Value| value.as_array().and_then(|items| items.first()).unwrap_or(value).clone();
    let own = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
    let mut records = examples.iter().chain(own).map(within).filter(Value::is_object);
    let record = records.find(|record| fits(schema, record))?;
    let (Place::Collection(name) | Place::Record(name, _) | Place::Single(name)) = place;
    let parameter = if let Place::Record(_, parameter) = place { parameter.as_str() } else { "id" };
    let id = format!("{}_id", names::singular(name));
    let key = [parameter, "id", &id].iter().find_map(|key| match record.get(*key)? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    });
    Some((key.unwrap_or_else(|| "example_1".to_owned()), record))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::import::imported_interface::Tool;

    /// What each operation reads and writes: `GET /orders lists` answers with a list.
    fn guessed(operations: &[&str]) -> Vec<String> {
        let built = operations.iter().map(|text| {
            let mut words = text.split(' ');
            let (method, path) = (words.next().unwrap_or_default().to_lowercase(), words.next().unwrap_or_default());
            let returns = if words.next().is_some() { json!({"type": "array"}) } else { json!({}) };
            let tool = Tool {
                name: String::new(),
                origin: String::new(),
                description: String::new(),
                parameters: json!({}),
                returns,
                reads: Vec::new(),
                writes: Vec::new(),
            };
            let named = segments(path).into_iter().filter_map(in_braces).map(|name| (name.to_owned(), name.to_owned()));
            UnplacedTool { tool, method, path: path.to_owned(), in_path: named.collect(), examples: Vec::new() }
        });
        let mut imported = ImportedInterface::default();
        lay_out(built.collect(), &mut imported);
        imported.tools.iter().map(|tool| format!("{} | {}", tool.reads.join(" "), tool.writes.join(" "))).collect()
    }

    #[test]
    fn paths_say_where() {
        let cases = [
            ("GET /v1/orders lists", "/orders | "),
            ("POST /v1/orders", " | /orders/+"),
            ("DELETE /v1/orders", " | /orders/*"),
            ("POST /v1/orders/search lists", "/orders | "),
            ("GET /v1/orders/recent lists", "/orders | "),
            ("GET /v1/orders/{id}.json", "/orders/{id} | "),
            ("PUT /v1/orders/{id}", " | /orders/{id}"),
            ("POST /v1/orders/{id}/cancel", " | /orders/{id}"),
            ("GET /v1/orders/{id}/lines lists", "/lines /orders/{id} | "),
            ("POST /v1/orders/{id}/lines", "/orders/{id} | /lines/+"),
            ("PATCH /v1/orders/{id}/lines/{line}", "/orders/{id} | /lines/{line}"),
            ("GET /v1/reports/{year}-{month}", "/reports/* | "),
            ("GET /settings", "/settings | "),
            ("PUT /settings", " | /settings"),
            ("POST /login", " | /login/+"),
            ("GET /", "/records | "),
            ("GET /{id}", "/records/{id} | "),
        ];
        let (operations, expected): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
        assert_eq!(guessed(&operations), expected);
    }
}
