//! The bodies and query parameters of the REST API, one file for each subject: the server and the web app read and write the
//! same types. What is a document or a rule of its own, such as a verdict or an export's specification, is with its subject
//! outside. Query parameters that only the server knows are beside their handler.

mod access;
mod annotations;
mod branches;
mod builds;
mod calibrations;
mod conversations;
mod corpora;
mod corrections;
mod datasets;
pub mod documents;
pub mod episodes;
mod exports;
pub mod groups;
mod jobs;
mod judgings;
mod models;
pub mod probe;
mod projects;
mod ratings;
mod reviews;
mod runs;
pub mod trials;
pub mod workers;
pub mod workflows;
mod worlds;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use access::*;
pub use annotations::*;
pub use branches::*;
pub use builds::*;
pub use calibrations::*;
pub use conversations::*;
pub use corpora::*;
pub use corrections::*;
pub use datasets::*;
pub use exports::*;
pub use jobs::*;
pub use judgings::*;
pub use models::*;
pub use projects::*;
pub use ratings::*;
pub use reviews::*;
pub use runs::*;
pub use worlds::*;

use crate::problem::Problem;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Pass as `?after=` to get the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Selects a page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct PageParams {
    /// Length of the page, 1 to 200; default: 50.
    #[param(minimum = 1, maximum = 200)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u16>,
    /// `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl PageParams {
    /// The first page, or the one after a cursor.
    pub const fn after(after: Option<String>) -> Self {
        Self { limit: None, after }
    }
}

/// RFC 9457 problem document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProblemDetails {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    /// For people: what is wrong, and what to do.
    pub detail: String,
    /// Each wrong place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
}

/// What a browser sends with each change, so that no other site can make it do so.
pub const CSRF_HEADER: &str = "x-csrf-token";

impl ProblemDetails {
    /// Whether a change was refused for its CSRF token: it was missing, or that of another session.
    pub fn is_about_csrf(&self) -> bool {
        self.status == 403 && self.detail.contains(CSRF_HEADER)
    }
}

/// One error in the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) into the body, or into the document; empty for the whole.
    pub pointer: String,
    pub detail: String,
    /// The parameter of the query string, if the error is about one and not about the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The document, if several were checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line of the document, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl FieldError {
    pub fn at(pointer: &str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.to_owned(), detail: detail.into(), parameter: None, file: None, line: None }
    }

    /// What is wrong with a parameter of the query string.
    pub fn parameter(name: &str, detail: impl Into<String>) -> Self {
        Self { parameter: Some(name.to_owned()), ..Self::at("", detail) }
    }
}

/// Problems name fields by paths, `tools[2].simulate`; here they are pointers, `/tools/2/simulate`.
impl From<Problem> for FieldError {
    fn from(problem: Problem) -> Self {
        let parts =
            problem.field.split(['.', '[']).map(|part| part.trim_end_matches(']')).filter(|part| !part.is_empty());
        Self {
            pointer: parts.map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect(),
            detail: problem.message,
            parameter: None,
            file: Some(problem.file).filter(|file| !file.is_empty()),
            line: Some(problem.line).filter(|line| *line > 0),
        }
    }
}
