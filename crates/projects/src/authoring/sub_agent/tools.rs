//! The tools of a sub-agent, as a playbook defines them.

use domain::sub_agent::{Capability, Kind, SubAgent};
use serde_json::{Map, Value, json};

use super::shapes::{Field, Shape};
use super::spec_check::TODAY;

/// A capability and the records that it works on.
#[derive(Clone, Copy)]
pub struct Tool<'a> {
    pub capability: &'a Capability,
    pub shape: &'a Shape,
}

/// Those of a description that was checked: each has its records.
pub fn of<'a>(spec: &'a SubAgent, shapes: &'a [Shape]) -> Vec<Tool<'a>> {
    let with_shape = |capability: &'a Capability| {
        let shape = shapes.iter().find(|shape| shape.collection == capability.record)?;
        Some(Tool { capability, shape })
    };
    spec.capabilities.iter().filter_map(with_shape).collect()
}

/// The sub-agent's own entry among the tools.
pub fn sub_agent(spec: &SubAgent, prompt: &str) -> Value {
    let own = spec.capabilities.iter().map(|capability| &capability.name);
    json!({
        "name": spec.name,
        "description": spec.description.trim(),
        "simulate": "agent",
        "prompt": prompt,
        "uses": own.chain(&spec.uses).collect::<Vec<_>>(),
    })
}

impl<'a> Tool<'a> {
    pub fn name(self) -> &'a str {
        &self.capability.name
    }

    pub fn writes(self) -> bool {
        matches!(self.capability.kind, Kind::Create | Kind::Update)
    }

    /// The fields that a call names or gives.
    pub fn given(self) -> impl Iterator<Item = &'a Field> {
        self.shape.fields.iter().filter(move |field| self.capability.fields.contains(&field.name))
    }

    /// Those of them that hold the id of another record.
    pub fn references(self) -> impl Iterator<Item = (&'a Field, &'a str)> {
        let references = self.given().filter_map(|field| Some((field, field.refers_to.as_deref()?)));
        references.filter(move |_| self.writes())
    }

    /// The fields that a call sets to the date. Answers leave them out: under the name of a field a model may state only
    /// what a record holds, and this one is still to be written.
    pub fn dated(self) -> impl Iterator<Item = &'a Field> {
        self.shape.fields.iter().filter(move |field| {
            field.is_date() && self.capability.sets.get(&field.name).is_some_and(|value| value == TODAY)
        })
    }

    /// The fields that a call writes and its answer states.
    pub fn stated(self) -> impl Iterator<Item = &'a Field> {
        self.written().filter(move |field| self.dated().all(|dated| dated.name != field.name))
    }

    /// The fields that a call writes.
    pub fn written(self) -> impl Iterator<Item = &'a Field> {
        let sets = move |field: &&Field| self.capability.sets.contains_key(&field.name);
        self.given().chain(self.shape.fields.iter().filter(sets))
    }

    pub fn definition(self) -> Value {
        let name = self.name();
        let mut tool = json!({
            "name": name,
            "description": self.capability.description.trim(),
            "simulate": "model",
            "parameters": self.parameters(),
        });
        for (field, places) in [("reads", self.read_places()), ("writes", self.write_places())] {
            if !places.is_empty() {
                tool[field] = json!(places);
            }
        }
        if self.capability.kind == Kind::Create {
            tool["id_prefix"] = self.shape.id_prefix.as_str().into();
        }
        tool["template"] = format!("templates/{name}.md.j2").into();
        tool["scripted"] = format!("templates/{name}.json.j2").into();
        if self.writes() {
            tool["scripted_patch"] = format!("templates/{name}.patch.j2").into();
        }
        tool["returns"] = self.returns();
        tool
    }

    fn parameters(self) -> Value {
        let (kind, shape) = (self.capability.kind, self.shape);
        let mut properties = Map::new();
        let mut required: Vec<&str> = Vec::new();
        if matches!(kind, Kind::Get | Kind::Update) {
            properties.insert(shape.id_name.clone(), shape.id_schema());
            required.push(&shape.id_name);
        }
        for field in self.given() {
            properties.insert(field.name.clone(), field.schema.clone());
            if kind == Kind::List || (kind == Kind::Create && !field.optional) {
                required.push(&field.name);
            }
        }
        if kind == Kind::Answer {
            properties.insert("question".to_owned(), json!({"type": "string", "minLength": 2, "maxLength": 400}));
            required.push("question");
        }
        let mut parameters = object(&required, properties);
        // An update that names nothing to change would be none.
        if kind == Kind::Update && self.capability.sets.is_empty() {
            parameters["minProperties"] = 2.into();
        }
        parameters
    }

    fn read_places(self) -> Vec<String> {
        let (collection, id) = (&self.shape.collection, &self.shape.id_name);
        let own = match self.capability.kind {
            Kind::List | Kind::Answer => Some(format!("/{collection}")),
            Kind::Get | Kind::Update => Some(format!("/{collection}/{{{id}}}")),
            Kind::Create => None,
        };
        let others = self.references().map(|(field, other)| format!("/{other}/{{{}}}", field.name));
        own.into_iter().chain(others).collect()
    }

    fn write_places(self) -> Vec<String> {
        let (collection, id) = (&self.shape.collection, &self.shape.id_name);
        match self.capability.kind {
            Kind::Create => vec![format!("/{collection}/+")],
            Kind::Update => self.written().map(|field| format!("/{collection}/{{{id}}}/{}", field.name)).collect(),
            _ => Vec::new(),
        }
    }

    fn returns(self) -> Value {
        let shape = self.shape;
        let mut properties = Map::from_iter([(shape.id_name.clone(), json!({"type": "string"}))]);
        let fields: Vec<&Field> = if self.writes() { self.stated().collect() } else { shape.fields.iter().collect() };
        properties.extend(fields.iter().map(|field| (field.name.clone(), field.schema.clone())));
        match self.capability.kind {
            Kind::List | Kind::Answer => {
                let fixed = fields.iter().filter(|field| !field.optional).map(|field| field.name.as_str());
                let required: Vec<&str> = [shape.id_name.as_str()].into_iter().chain(fixed).collect();
                let mut list = json!({"type": "array", "items": object(&required, properties)});
                if self.capability.kind == Kind::Answer {
                    list["maxItems"] = 3.into();
                }
                object(&[shape.collection.as_str()], Map::from_iter([(shape.collection.clone(), list)]))
            }
            kind => {
                let refused = json!({"type": "string", "description": "Why nothing was found or done"});
                properties.insert("refused".to_owned(), refused);
                object(if kind == Kind::Create { &[] } else { std::slice::from_ref(&shape.id_name) }, properties)
            }
        }
    }
}

fn object(required: &[impl AsRef<str>], properties: Map<String, Value>) -> Value {
    let required: Vec<&str> = required.iter().map(AsRef::as_ref).collect();
    let mut schema = json!({"type": "object", "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["properties"] = Value::Object(properties);
    schema
}
