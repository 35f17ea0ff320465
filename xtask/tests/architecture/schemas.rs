//! The names under which types stand in the document of the API. Of two with one name, one would describe both.

use std::collections::BTreeMap;

/// Names of schemas, from a source of Rust.
pub fn names(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (mut is_schema, mut other) = (false, None);
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[derive(") && line.contains("ToSchema") {
            (is_schema, other) = (true, None);
        }
        if let Some(name) = line.strip_prefix("#[schema(as = ") {
            other = Some(word(name));
        }
        let declared = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "));
        if let Some(declared) = declared {
            if std::mem::take(&mut is_schema) {
                names.push(other.take().unwrap_or_else(|| word(declared)));
            }
            other = None;
        }
    }
    names
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The names that several types have, with the files of all of them.
pub fn repeated(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (file, text) in files {
        for name in names(text) {
            found.entry(name).or_default().push(file);
        }
    }
    let several = found.into_iter().filter(|(_, files)| files.len() > 1);
    several.map(|(name, files)| format!("`{name}` is a schema of {}", files.join(" and "))).collect()
}
