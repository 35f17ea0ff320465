//! What people wrote: worlds, answers, and whether they are true.

use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub struct Answer {
    pub truthful: bool,
    /// No program can tell; counted, not asserted.
    pub undecidable: bool,
    pub kind: String,
    pub arguments: Value,
    /// The schema of the response, by name.
    pub returns: String,
    pub content: Value,
}

pub struct Domain {
    pub name: &'static str,
    pub schemas: Map<String, Value>,
    pub world: Value,
    pub answers: Vec<Answer>,
}

impl Domain {
    pub fn all() -> Vec<Self> {
        [
            ("bank", include_str!("bank.yaml")),
            ("bookings", include_str!("bookings.yaml")),
            ("telecom", include_str!("telecom.yaml")),
            ("shop", include_str!("shop.yaml")),
        ]
        .map(|(name, text)| Self::read(name, text))
        .into()
    }

    fn read(name: &'static str, text: &str) -> Self {
        let mut file = domain::document::value(name, text).unwrap_or_else(|e| panic!("{name}: {e:?}")).value;
        let Value::Array(cases) = file["cases"].take() else { panic!("{name} has no cases") };
        let mut schemas = file["schemas"].as_object().expect("schemas").clone();
        schemas
            .insert("any".into(), serde_json::json!({"type": "object", "properties": {"message": {"type": "string"}}}));
        let answers = cases.into_iter().map(|case| answer(&case, &schemas)).collect();
        Self { name, schemas, world: file["world"].take(), answers }
    }
}

fn answer(case: &Value, schemas: &Map<String, Value>) -> Answer {
    let text = |field: &str| case[field].as_str().unwrap_or_else(|| panic!("{field} of {case}")).to_owned();
    assert!(!text("why").is_empty() && schemas.contains_key(&text("returns")), "{case}");
    Answer {
        truthful: case["truthful"].as_bool().expect("truthful"),
        undecidable: case["undecidable"] == true,
        kind: text("kind"),
        arguments: case["args"].clone(),
        returns: text("returns"),
        content: case["answer"].clone(),
    }
}
