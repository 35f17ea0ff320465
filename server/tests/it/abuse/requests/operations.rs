//! The requests that an OpenAPI document names.

use reqwest::Method;
use serde_json::Value;

pub struct Operation {
    pub method: Method,
    /// As in `/api/v1/runs/{run}/rows`.
    pub path: String,
    pub parameters: Vec<Parameter>,
    /// Media type and schema.
    pub body: Option<(String, Value)>,
}

pub struct Parameter {
    pub name: String,
    /// `path`, `query` or `header`.
    pub place: String,
    pub schema: Value,
}

impl Operation {
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// In the order of the document. Not what signs somebody out: whoever asks has a token.
pub fn operations(document: &Value) -> Vec<Operation> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let method = method.to_uppercase().parse().unwrap();
            let parameters = operation["parameters"].as_array().into_iter().flatten().map(parameter).collect();
            let content = operation["requestBody"]["content"].as_object();
            let body = content.and_then(|content| content.iter().next());
            let body = body.map(|(media, content)| (media.clone(), content["schema"].clone()));
            found.push(Operation { method, path: path.clone(), parameters, body });
        }
    }
    found
}

fn parameter(of: &Value) -> Parameter {
    let text = |key: &str| of[key].as_str().unwrap().to_owned();
    Parameter { name: text("name"), place: text("in"), schema: of["schema"].clone() }
}
