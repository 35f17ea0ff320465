//! What a drawing shows, whatever its format.

use std::collections::{BTreeSet, HashMap};

use domain::limits::name_problem;
use serde_json::Value;

use super::{LONGEST_LABEL, MOST_EDGES, MOST_NODES};

pub const START_NAME: &str = "__start__";
pub const END_NAME: &str = "__end__";

#[derive(Debug, Default)]
pub struct Drawing {
    pub nodes: Vec<DrawnNode>,
    pub edges: Vec<DrawnEdge>,
    places: HashMap<String, usize>,
}

#[derive(Debug)]
pub struct DrawnNode {
    /// As the author called it; `graph:node` within a subgraph.
    pub name: String,
    /// Its metadata, as `key = value`.
    pub metadata: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct DrawnEdge {
    pub source: usize,
    pub target: usize,
    pub label: Option<String>,
    pub conditional: bool,
}

impl Drawing {
    pub fn find(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// # Errors
    /// The id is taken, the name is none, or there are too many nodes.
    pub fn add_node(&mut self, id: &str, name: &str) -> Result<usize, String> {
        if let Some(message) = name_problem(name) {
            return Err(message);
        }
        if self.nodes.len() == MOST_NODES {
            return Err(format!("is one node too many: at most {MOST_NODES}"));
        }
        let place = self.nodes.len();
        if self.places.insert(id.to_owned(), place).is_some() {
            return Err(format!("there are two nodes `{id}`"));
        }
        self.nodes.push(DrawnNode { name: name.to_owned(), metadata: Vec::new() });
        Ok(place)
    }

    /// # Errors
    /// No graph has such an edge, or there are too many.
    pub fn add_edge(
        &mut self,
        source: usize,
        target: usize,
        label: Option<&str>,
        conditional: bool,
    ) -> Result<(), String> {
        if self.edges.len() == MOST_EDGES {
            return Err(format!("is one edge too many: at most {MOST_EDGES}"));
        }
        if self.nodes[target].name == START_NAME {
            return Err(format!("leads to `{START_NAME}`; a graph only begins there"));
        }
        if self.nodes[source].name == END_NAME {
            return Err(format!("begins at `{END_NAME}`; a graph only ends there"));
        }
        let label = label.map(one_line).filter(|label| !label.is_empty());
        if label.as_ref().is_some_and(|label| label.len() > LONGEST_LABEL) {
            return Err(format!("has a label of more than {LONGEST_LABEL} bytes"));
        }
        self.edges.push(DrawnEdge { source, target, label, conditional });
        Ok(())
    }

    /// The subgraphs that were drawn with their nodes.
    pub fn subgraphs(&self) -> BTreeSet<&str> {
        self.nodes.iter().filter_map(|node| Some(node.name.rsplit_once(':')?.0)).collect()
    }
}

fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value as Python's `str` gives it, which is how it stands in a Mermaid drawing.
pub fn python_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}
