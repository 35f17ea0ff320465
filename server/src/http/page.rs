//! Lists come in pages.

use domain::api::Page;
use serde::Deserialize;
use utoipa::IntoParams;

use super::error::{HttpError, Result};

const LIMIT: u16 = 50;
const LARGEST: u16 = 200;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct PageParams {
    /// How many, 1 to 200; default: 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
    /// `next` of the page before.
    pub after: Option<String>,
}

impl PageParams {
    /// # Errors
    /// A limit out of range.
    pub fn limit(&self) -> Result<u16> {
        match self.limit.unwrap_or(LIMIT) {
            limit @ 1..=LARGEST => Ok(limit),
            other => Err(HttpError::parameter("limit", format!("{other} is not from 1 to {LARGEST}"))),
        }
    }

    /// Where the page begins.
    ///
    /// # Errors
    /// Text that was no page's `next`.
    pub fn cursor<T: std::str::FromStr>(&self) -> Result<Option<T>> {
        let read =
            |text: &String| text.parse().map_err(|_| HttpError::parameter("after", format!("`{text}` is no cursor")));
        self.after.as_ref().map(read).transpose()
    }

    /// After which name the page begins, in lists that are ordered by it.
    ///
    /// # Errors
    /// What no name can hold, and PostgreSQL cannot read.
    pub fn name(&self) -> Result<&str> {
        let name = self.after.as_deref().unwrap_or_default();
        match name.contains('\0') {
            true => Err(HttpError::parameter("after", "it has a zero byte")),
            false => Ok(name),
        }
    }
}

/// A page of what was read with one more than it holds: that one tells whether there is a next.
pub fn page<T>(mut items: Vec<T>, limit: u16, cursor: impl Fn(&T) -> String) -> Page<T> {
    let limit = usize::from(limit);
    let more = items.len() > limit;
    items.truncate(limit);
    let next = if more { items.last().map(cursor) } else { None };
    Page { items, next }
}
