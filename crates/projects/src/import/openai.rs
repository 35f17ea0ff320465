//! The tools of an agent as `OpenAI` function calling lists them, read as functions that are still to be written.

use std::path::Path;

use anyhow::bail;
use domain::bad_input::BadInput;
use domain::untrusted;
use rmcp::model::Tool;
use serde_json::{Value, json};

use super::imported_interface::ImportedInterface;
use super::mcp::{self, ServerListing};

/// Longest list, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Reads a file.
///
/// # Errors
/// [`BadInput`] with what is wrong with the list.
pub fn read(file: &Path) -> anyhow::Result<ImportedInterface> {
    let name = file.display().to_string();
    let wrong = |why: String| BadInput::one(&name, why);
    let about = std::fs::metadata(file).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    if !about.is_file() || about.len() > MAX_BYTES {
        bail!(wrong(format!("is not a file of {MAX_BYTES} bytes at most")));
    }
    let text = std::fs::read_to_string(file).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    let list = untrusted::json(&text).map_err(|e| wrong(format!("is not JSON: {e}")))?;
    Ok(import(&list).map_err(wrong)?)
}

/// A list of tools, or an object with `tools`, such as a request has.
///
/// # Errors
/// There is nothing to import.
pub fn import(list: &Value) -> Result<ImportedInterface, String> {
    let entries = list.as_array().or_else(|| list.get("tools")?.as_array());
    let entries = entries.ok_or("expected a list of tools, `[{\"type\": \"function\", \"function\": {...}}]`")?;
    let (mut tools, mut skipped) = (Vec::new(), Vec::new());
    for (i, entry) in entries.iter().enumerate() {
        match tool(entry) {
            Ok(tool) => tools.push(tool),
            Err(why) => skipped.push((format!("entry {}", i + 1), why)),
        }
    }
    if let (true, Some((entry, why))) = (tools.is_empty(), skipped.first()) {
        return Err(format!("has no function; {entry}: {why}"));
    }
    let mut imported = mcp::import_silently(&ServerListing { title: String::new(), tools })?;
    imported.skipped.extend(skipped);
    imported.by_code = true;
    // A function reads what it likes.
    imported.tools.iter_mut().for_each(|tool| tool.reads.clear());
    Ok(imported)
}

/// With its function within it, or beside its type as newer interfaces have it.
fn tool(entry: &Value) -> Result<Tool, String> {
    let kind = entry.get("type").and_then(Value::as_str).unwrap_or("function");
    if kind != "function" {
        return Err(format!("is of the type `{kind}`; only functions are tools here"));
    }
    let function = entry.get("function").unwrap_or(entry);
    let name = function.get("name").and_then(Value::as_str).ok_or("has no `name`")?;
    let none = || json!({"type": "object", "properties": {}});
    let schema = function.get("parameters").filter(|schema| !schema.is_null()).cloned().unwrap_or_else(none);
    let mut tool = json!({"name": name, "inputSchema": schema});
    if let Some(description) = function.get("description").filter(|text| text.is_string()) {
        tool["description"] = description.clone();
    }
    // By way of text: numbers that were read with all their digits cannot be read again otherwise.
    serde_json::from_str(&tool.to_string()).map_err(|e| format!("`{name}`: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{draft, faults};

    fn list() -> Value {
        json!([
            {"type": "function", "function": {
                "name": "get_order", "description": "Reads an order.",
                "parameters": {"type": "object", "required": ["order_id"],
                               "properties": {"with-lines": {"type": "boolean"}, "order_id": {"type": "string"}, "limit": {"type": "integer"}}}}},
            {"type": "function", "name": "cancel_order", "parameters": {"type": "object", "required": ["order_id"],
                                                                        "properties": {"order_id": {"type": "string"}}}},
            {"type": "function", "function": {"name": "ping"}},
            {"type": "web_search"},
        ])
    }

    #[test]
    fn functions_become_a_playbook_with_functions_to_write() {
        let imported = import(&list()).expect("three tools");
        let files = draft::files(&imported, "shop", "default");
        assert_eq!(faults(&files, "shop"), []);
        let code = &files["playbooks/shop/tools.star"];
        assert!(
            code.contains(
                "def get_order(world, ctx, order_id, limit = None, **rest):\n    fail(\"get_order is not written yet\")"
            ),
            "{code}"
        );
        assert!(code.contains("def ping(world, ctx):"), "{code}");
        let playbook = &files["playbooks/shop/playbook.yaml"];
        assert!(playbook.contains("code: tools.star") && playbook.contains("/orders/{order_id}"), "{playbook}");
        assert!(!playbook.contains("simulate: model") && !playbook.contains("template:"), "{playbook}");
        assert_eq!(
            imported.skipped,
            [("entry 4".to_owned(), "is of the type `web_search`; only functions are tools here".to_owned())]
        );
        assert_eq!(import(&json!({"tools": list()})).map(|imported| imported.tools.len()), Ok(3));
    }

    #[test]
    fn what_lists_no_functions_is_refused() {
        let why = |list: Value| import(&list).err().unwrap_or_default();
        assert!(why(json!("x")).starts_with("expected a list of tools"));
        assert_eq!(why(json!([])), "has no tools");
        assert_eq!(why(json!([{"type": "function"}])), "has no function; entry 1: has no `name`");
        assert!(
            why(json!([{"name": "x", "parameters": 7}])).contains("`x`"),
            "{}",
            why(json!([{"name": "x", "parameters": 7}]))
        );
    }
}
