//! The drawing that `graph.get_graph().to_json()` gives.

use domain::Problem;
use domain::problem::did_you_mean;
use serde_json::Value;

use super::drawing::{Drawing, python_text};

pub fn read(file: &str, text: &str) -> Result<Drawing, Problem> {
    let hint = "write it with `json.dumps(graph.get_graph().to_json())`";
    let graph: Value = serde_json::from_str(text)
        .map_err(|error| Problem::new(file, error.line(), "", format!("is no JSON: {error}; {hint}")))?;
    let list = |key: &str| {
        let items = graph.get(key).and_then(Value::as_array);
        items.ok_or_else(|| Problem::new(file, 0, key, format!("a list is expected; {hint}")))
    };
    let (nodes, edges) = (list("nodes")?, list("edges")?);
    let mut drawing = Drawing::default();
    for (i, node) in nodes.iter().enumerate() {
        let problem = |message: String| Problem::new(file, 0, format!("nodes[{i}].id"), message);
        let id = id_of(node.get("id")).ok_or_else(|| problem("a text or a whole number is expected".to_owned()))?;
        let place = drawing.add_node(&id, &name_of(node, &id)).map_err(problem)?;
        let metadata = node.get("metadata").and_then(Value::as_object).into_iter().flatten();
        drawing.nodes[place].metadata =
            metadata.map(|(key, value)| format!("{key} = {}", python_text(value))).collect();
    }
    for (i, edge) in edges.iter().enumerate() {
        let end = |key: &str| {
            let problem = |message: String| Problem::new(file, 0, format!("edges[{i}].{key}"), message);
            let id = id_of(edge.get(key)).ok_or_else(|| problem("a text or a whole number is expected".to_owned()))?;
            let hint = || did_you_mean(&id, drawing.ids());
            drawing.find(&id).ok_or_else(|| problem(format!("there is no node `{id}`{}", hint())))
        };
        let (source, target) = (end("source")?, end("target")?);
        let label = edge.get("data").filter(|label| !label.is_null()).map(python_text);
        let conditional = edge.get("conditional").and_then(Value::as_bool).unwrap_or(false);
        drawing
            .add_edge(source, target, label.as_deref(), conditional)
            .map_err(|message| Problem::new(file, 0, format!("edges[{i}]"), message))?;
    }
    Ok(drawing)
}

fn id_of(id: Option<&Value>) -> Option<String> {
    match id? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) if id.is_u64() => Some(id.to_string()),
        _ => None,
    }
}

/// A node that its author gave no id has a number for it, and then its name stands in its data.
fn name_of(node: &Value, id: &str) -> String {
    let data = node.get("data").filter(|_| node["id"].is_number());
    let name = data.and_then(|data| [data, &data["name"], &data["title"]].into_iter().find_map(Value::as_str));
    name.unwrap_or(id).to_owned()
}
