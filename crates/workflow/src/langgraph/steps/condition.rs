//! When something is done.

use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    Never,
    Always,
    /// If one of these expressions is true.
    Any(Vec<String>),
}

impl Condition {
    pub fn when(expression: String) -> Self {
        Self::Any(vec![expression])
    }

    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, known) | (known, Self::Never) => known,
            (Self::Always, _) | (_, Self::Always) => Self::Always,
            (Self::Any(mut all), Self::Any(more)) => {
                for one in more {
                    if !all.contains(&one) {
                        all.push(one);
                    }
                }
                Self::Any(all)
            }
        }
    }

    /// As a value of a document: a constant or an expression.
    pub fn value(&self) -> Value {
        match self {
            Self::Never => false.into(),
            Self::Always => true.into(),
            Self::Any(all) => match &all[..] {
                [one] => one.clone().into(),
                many => {
                    let many =
                        many.iter().map(|one| if one.contains(" and ") { format!("({one})") } else { one.clone() });
                    many.collect::<Vec<_>>().join(" or ").into()
                }
            },
        }
    }

    /// As the `when` of a step, which is not needed if the step is always done.
    pub fn write(&self, fields: &mut Map<String, Value>) {
        match self.value() {
            Value::Bool(true) => {}
            Value::Bool(false) => drop(fields.insert("when".to_owned(), "False".into())),
            expression => drop(fields.insert("when".to_owned(), expression)),
        }
    }
}

/// A label as a text of Starlark.
pub fn label(text: &str) -> String {
    let is_plain = text.chars().all(|c| !matches!(c, '\'' | '\\') && !c.is_control());
    if is_plain { format!("'{text}'") } else { Value::from(text).to_string() }
}
