//! What the documents of a conversation hold: data that their authors made up.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::document;
use serde_json::Value;

use projects::library::Files;

/// Letters and digits of a playbook's documents and of one scenario, small; each value in a line of its own.
#[derive(Debug, Clone, Default)]
pub struct AuthoredValues {
    playbook: Arc<str>,
    scenario: Arc<str>,
}

impl AuthoredValues {
    /// Whether a value stands there, whatever the signs between its letters.
    pub fn holds(&self, value: &str) -> bool {
        let value = plain(value);
        !value.is_empty() && (self.scenario.contains(&value) || self.playbook.contains(&value))
    }

    #[cfg(test)]
    pub fn of_text(text: &str) -> Self {
        Self { playbook: plain(text).into(), scenario: "".into() }
    }
}

/// The scenarios of one library.
#[derive(Debug, Default)]
pub struct AuthoredDocuments {
    by_scenario: BTreeMap<String, ScenarioOrigin>,
}

/// Where a scenario belongs, as its document says.
#[derive(Debug, Clone, Default)]
pub struct ScenarioOrigin {
    pub playbook: String,
    pub family: String,
    pub tags: Vec<String>,
    pub authored: AuthoredValues,
}

impl AuthoredDocuments {
    /// Reads what is needed, and lets pass what cannot be read: the library was checked when a run was started with it.
    pub fn read(files: &Files) -> Self {
        let playbooks: BTreeMap<String, Arc<str>> = files
            .folders("playbooks")
            .into_iter()
            .map(|name| {
                let folder = format!("playbooks/{name}");
                let texts: Vec<String> = files.under(&folder).map(|(path, text)| values(path, text)).collect();
                (name, texts.join("\n").into())
            })
            .collect();
        let mut by_scenario = BTreeMap::new();
        for (path, text) in files.under("scenarios") {
            let Ok(read) = document::value(path, text) else { continue };
            let own = |field: &str| read.value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (id, playbook) = (own("id"), own("playbook"));
            let family = Some(own("family")).filter(|family| !family.is_empty()).unwrap_or_else(|| id.clone());
            let tags = read.value.get("tags").and_then(Value::as_array).into_iter().flatten();
            let tags = tags.filter_map(|tag| tag.as_str().map(str::to_owned)).collect();
            let shared = playbooks.get(&playbook).cloned().unwrap_or_default();
            let authored = AuthoredValues { playbook: shared, scenario: leaves(&read.value).into() };
            by_scenario.insert(id, ScenarioOrigin { playbook, family, tags, authored });
        }
        Self { by_scenario }
    }

    /// A scenario that the library does not have is a family of its own, and nothing is known of it.
    pub fn of(&self, scenario: &str) -> ScenarioOrigin {
        let own = self.by_scenario.get(scenario).cloned();
        own.unwrap_or_else(|| ScenarioOrigin { family: scenario.to_owned(), ..ScenarioOrigin::default() })
    }
}

/// The values of a document; of a text that is none, its lines.
fn values(path: &str, text: &str) -> String {
    match document::value(path, text) {
        Ok(read) if path.strip_suffix(".yaml").is_some() => leaves(&read.value),
        _ => text.lines().map(plain).collect::<Vec<_>>().join("\n"),
    }
}

fn leaves(value: &Value) -> String {
    let mut lines = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                lines.extend(fields.keys().map(|key| plain(key)));
                open.extend(fields.values());
            }
            Value::String(text) => lines.push(plain(text)),
            other => lines.push(plain(&other.to_string())),
        }
    }
    lines.join("\n")
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
