//! What a server says of its tools, as tools of a playbook.

use rmcp::model::Tool as Offered;
use serde_json::{Value, json};

use super::{ServerListing, guess};
use crate::import::draft;
use crate::import::imported_interface::{ImportedInterface, Part, Tool, record_of, schema_fault};
use crate::import::schema::{Document, Fault};
use crate::names::{self, UsedNames};
use domain::text;

/// # Errors
/// There is nothing to import.
pub fn import(listed: &ServerListing) -> Result<ImportedInterface, String> {
    let mut imported = import_silently(listed)?;
    let untold = imported.tools.iter().filter(|tool| tool.returns == json!({})).count();
    if untold > 0 {
        let why = "no outputSchema, so `returns` is any value".to_owned();
        imported.changed.push((text::counted(untold, "tool"), why));
    }
    Ok(imported)
}

/// Without a word on tools whose answers are not described.
///
/// # Errors
/// There is nothing to import.
pub fn import_silently(listed: &ServerListing) -> Result<ImportedInterface, String> {
    if listed.tools.is_empty() {
        return Err("has no tools".to_owned());
    }
    let mut imported = ImportedInterface { title: text::line(&listed.title), ..ImportedInterface::default() };
    let mut taken = UsedNames::default();
    taken.take(draft::HANDOVER);
    for offered in &listed.tools {
        match tool(offered, &mut taken) {
            Ok(tool) => add(tool, offered, &mut imported),
            Err(why) => imported.skipped.push((shown(&offered.name), why)),
        }
    }
    match imported.skipped.first() {
        Some((name, why)) if imported.tools.is_empty() => Err(format!("has no tool that fits; `{name}`: {why}")),
        _ => {
            imported.declare_places();
            Ok(imported)
        }
    }
}

fn tool(offered: &Offered, taken: &mut UsedNames) -> Result<Tool, String> {
    let parameters = schema(&Value::Object(offered.input_schema.as_ref().clone()), "inputSchema")?;
    if parameters["type"] != "object" {
        return Err("its inputSchema is not of `type: object`".to_owned());
    }
    let returns = match &offered.output_schema {
        Some(output) => schema(&Value::Object(output.as_ref().clone()), "outputSchema")?,
        None => json!({}),
    };
    let valid = names::valid(&offered.name);
    if valid.is_empty() {
        return Err("its name holds no letter that a name may have".to_owned());
    }
    let places = guess::places(offered, &parameters);
    let description = [offered.description.as_deref(), offered.title.as_deref()].into_iter().flatten().map(text::lines);
    Ok(Tool {
        description: description.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| valid.clone()),
        origin: shown(&offered.name),
        name: taken.take(&valid),
        parameters,
        returns,
        reads: places.reads,
        writes: places.writes,
    })
}

/// A schema that stands alone. References lead to itself.
fn schema(schema: &Value, field: &str) -> Result<Value, String> {
    let document = Document { root: schema, elsewhere: "" };
    let read = document.schema(schema, "", "").map_err(|fault| match fault {
        Fault::At(at, why) => format!("its {field} is wrong at `{}`: {why}", text::line(&at)),
        Fault::Unfit(why) => why,
    })?;
    match schema_fault(&read) {
        None => Ok(read),
        Some(fault) => Err(format!("its {field} is not a JSON Schema: {fault}")),
    }
}

fn add(tool: Tool, offered: &Offered, imported: &mut ImportedInterface) {
    if tool.name != offered.name {
        imported.changed.push((tool.name.clone(), format!("was called `{}`", tool.origin)));
    }
    let part = guess::part(&offered.name);
    if let Some(schema) = record_of(&tool.returns)
        && tool.writes.is_empty()
    {
        imported.world.entry(part).or_insert(Part::Records { schema, example: None });
    }
    imported.tools.push(tool);
}

fn shown(name: &str) -> String {
    let name = text::line(name);
    if name.is_empty() { "(without a name)".to_owned() } else { name }
}
