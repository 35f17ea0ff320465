//! Numbers and choices of a form, and what they are in the body that is sent.

use std::str::FromStr;

use domain::api::FieldError;
use leptos::prelude::*;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

use crate::api_client::{Answer, ApiError};
use crate::components::FormField;

#[component]
pub fn NumberField(
    #[prop(into)] label: String,
    value: RwSignal<String>,
    /// What holds when nothing is typed.
    #[prop(optional)]
    default: &'static str,
    #[prop(optional)] min: Option<&'static str>,
    #[prop(default = "1")] step: &'static str,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(into)] wrong: Signal<Option<String>>,
) -> impl IntoView {
    let labelled = hint.unwrap_or_default();
    view! {
        <FormField label wrong hint=labelled>
            <input type="number" inputmode="decimal" placeholder=default min=min step=step bind:value=value />
        </FormField>
    }
}

/// Reads the texts of a form. What cannot be read is collected, each with its place in the body (a JSON pointer), as the
/// server does for what it can read and does not take.
#[derive(Default)]
pub struct FieldReader {
    errors: Vec<FieldError>,
}

impl FieldReader {
    /// `None` if nothing is typed.
    pub fn whole<T: FromStr>(&mut self, pointer: &str, text: &str) -> Option<T> {
        let text = text.trim();
        let what = if text.parse::<i128>().is_ok() { "a whole number in its range" } else { "a whole number" };
        self.parsed(pointer, text, what)
    }

    /// `None` if nothing is typed.
    pub fn decimal<T: FromStr>(&mut self, pointer: &str, text: &str) -> Option<T> {
        self.parsed(pointer, text.trim(), "a number")
    }

    /// A name of the API, such as that of a style; `None` if nothing is chosen.
    pub fn name<'a, T: Deserialize<'a>>(&mut self, pointer: &str, text: &'a str) -> Option<T> {
        if text.is_empty() {
            return None;
        }
        let name: StrDeserializer<'a, Error> = text.into_deserializer();
        T::deserialize(name).map_err(|error| self.errors.push(FieldError::at(pointer, error.to_string()))).ok()
    }

    fn parsed<T: FromStr>(&mut self, pointer: &str, text: &str, what: &str) -> Option<T> {
        if text.is_empty() {
            return None;
        }
        let error = |_| self.errors.push(FieldError::at(pointer, format!("expected {what}, found `{text}`")));
        text.parse().map_err(error).ok()
    }

    /// What could not be read.
    pub fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }

    /// The body, if all of it could be read.
    pub fn finish<T>(self, body: T) -> Answer<T> {
        if self.errors.is_empty() { Ok(body) } else { Err(ApiError::invalid(self.errors)) }
    }
}

#[cfg(test)]
mod tests {
    use domain::playbook::AgentStyle;

    use super::*;

    #[test]
    fn what_is_typed_is_read_or_stands_beside_its_field() {
        let mut fields = FieldReader::default();
        assert_eq!(fields.whole::<u32>("/n", " 12 "), Some(12));
        assert_eq!(fields.whole::<u32>("/n", ""), None);
        assert_eq!(fields.decimal("/money", "0.5"), Some(0.5));
        assert_eq!(fields.name("/agent_style", "react"), Some(AgentStyle::React));
        assert_eq!(fields.name::<AgentStyle>("/agent_style", ""), None);
        assert_eq!(fields.whole::<u32>("/n", "-5"), None);
        assert_eq!(fields.whole::<u32>("/n", "0.5"), None);
        assert_eq!(fields.decimal::<f64>("/money", "many"), None);
        assert_eq!(fields.name::<AgentStyle>("/agent_style", "prose"), None);
        let found: Vec<_> = fields.into_errors().into_iter().map(|error| (error.pointer, error.detail)).collect();
        let expected = [
            ("/n", "expected a whole number in its range, found `-5`"),
            ("/n", "expected a whole number, found `0.5`"),
            ("/money", "expected a number, found `many`"),
            ("/agent_style", "unknown variant `prose`, expected one of `function_calling`, `react`, `json`"),
        ];
        assert_eq!(found, expected.map(|(pointer, detail)| (pointer.to_owned(), detail.to_owned())));
    }

    #[test]
    fn a_body_is_sent_only_if_all_of_it_was_read() {
        assert_eq!(FieldReader::default().finish(1), Ok(1));
        let mut fields = FieldReader::default();
        let _: Option<u8> = fields.whole("/n", "x");
        let Err(ApiError::Refused(problem)) = fields.finish(1) else { panic!("it was sent") };
        assert_eq!((problem.status, problem.errors[0].pointer.as_str()), (422, "/n"));
    }
}
