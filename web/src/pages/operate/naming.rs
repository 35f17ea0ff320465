//! Names that stand in the address which is asked: the server cannot say what is wrong with one that is not there.

use domain::api::FieldError;
use leptos::ev::SubmitEvent;

use ui::api_client::ApiError;
use ui::components::Problems;

const MISSING: &str = "Enter a name first.";

/// As if the server had said it of a field.
pub fn wrong(pointer: &str, why: &str) -> ApiError {
    ApiError::invalid(vec![FieldError::at(pointer, why)])
}

/// Whether there is no name, which then stands beside the field; nothing is sent.
pub fn missing(event: &SubmitEvent, name: &str, pointer: &str, problems: Problems) -> bool {
    if !name.is_empty() {
        return false;
    }
    event.prevent_default();
    problems.set(wrong(pointer, MISSING));
    true
}
