//! A JSON Schema of an object as a table: what a tool is given, or gives back.

use leptos::prelude::*;
use serde_json::Value;

use ui::components::{Badge, FirstRows, MoreRows};
use ui::labels::Tone;

/// Deeper objects are told as "object": the source has the rest.
const DEEPEST: usize = 3;

/// A field of a schema, as a row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    /// Dotted from the outermost object on.
    name: String,
    kind: String,
    required: bool,
    /// Computed, and so not held against the world.
    derived: bool,
    description: String,
}

#[component]
pub fn Fields(
    schema: Value,
    /// Said if there is no field.
    empty: &'static str,
) -> impl IntoView {
    let mut fields = Vec::new();
    collect(&schema, "", DEEPEST, &mut fields);
    if fields.is_empty() {
        return view! { <p class="muted">{empty}</p> }.into_any();
    }
    let row = |field: Field| {
        view! {
            <tr>
                <th scope="row">
                    <code>{field.name}</code>
                </th>
                <td>{field.kind}</td>
                <td>
                    <span class="badges">
                        {field.required.then(|| view! { <Badge tone=Tone::Neutral text="required" /> })}
                        {field.derived.then(|| view! { <Badge tone=Tone::Notable text="derived" /> })}
                    </span>
                </td>
                <td class="text">{field.description}</td>
            </tr>
        }
    };
    let (first, all) = (FirstRows::new(), fields.len());
    view! {
        <table class="plain">
            <thead>
                <tr>
                    <th scope="col">"Field"</th>
                    <th scope="col">"Type"</th>
                    <th scope="col">
                        <span class="unseen">"Marks"</span>
                    </th>
                    <th scope="col">"Meaning"</th>
                </tr>
            </thead>
            <tbody>{first.rows(fields, row)}</tbody>
        </table>
        <MoreRows first all=Signal::stored(all) />
    }
    .into_any()
}

fn collect(schema: &Value, above: &str, depth: usize, fields: &mut Vec<Field>) {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let dotted = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        fields.push(Field {
            name: dotted.clone(),
            kind: kind(field),
            required: required.contains(&name.as_str()),
            derived: field["derived"] == true,
            description: field["description"].as_str().unwrap_or_default().to_owned(),
        });
        let inner = if field["type"] == "array" { &field["items"] } else { field };
        if depth > 1 {
            let inside = if field["type"] == "array" { format!("{dotted}[]") } else { dotted };
            collect(inner, &inside, depth - 1, fields);
        }
    }
}

/// "string", "one of low, high", "list of integer", with the bounds of numbers and the pattern of texts.
fn kind(field: &Value) -> String {
    if let Some(options) = field["enum"].as_array() {
        return format!("one of {}", options.iter().map(plain).collect::<Vec<_>>().join(", "));
    }
    if let Some(only) = field.get("const") {
        return format!("always {}", plain(only));
    }
    let named = match &field["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(&field["items"])),
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().map(plain).collect::<Vec<_>>().join(" or "),
        _ => "anything".to_owned(),
    };
    let said = [
        ("format", ""),
        ("minimum", "from "),
        ("maximum", "to "),
        ("exclusiveMinimum", "above "),
        ("pattern", "like "),
    ];
    let bounds: Vec<String> =
        said.into_iter().filter_map(|(key, word)| Some(format!("{word}{}", plain(field.get(key)?)))).collect();
    if bounds.is_empty() { named } else { format!("{named}, {}", bounds.join(" ")) }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_reads_as_rows() {
        let schema = json!({
            "required": ["id"],
            "properties": {
                "id": {"type": "string", "pattern": "^o_"},
                "lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}},
                "state": {"enum": ["open", "sent"], "derived": true},
            }
        });
        let mut fields = Vec::new();
        collect(&schema, "", DEEPEST, &mut fields);
        let told: Vec<String> = fields.iter().map(|field| format!("{}: {}", field.name, field.kind)).collect();
        let expected =
            ["id: string, like ^o_", "lines: list of object", "lines[].n: integer, from 1", "state: one of open, sent"];
        assert_eq!(told, expected);
        assert!(fields[0].required && fields[3].derived);
    }
}
