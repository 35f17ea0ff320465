//! What a list of conversations is asked for, from the query string. Lists are repeated parameters.

mod documentation;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use domain::api::FieldError;
use domain::filter::{Filter, Parameter, SEARCH, list_parameters};
use domain::problem::did_you_mean;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::http::error::{HttpError, Result};
use crate::http::extract::Query;
use datasets::index::{Sort, SortKey};

/// More criteria in one question than any judge has.
const MOST_CRITERIA: usize = 40;
const LONGEST_SEARCH: usize = 200;

/// The query of a list: which conversations, and the other parameters of the operation. A parameter of the filter that is a
/// list is given once for each value, and one of the values must hold; all parameters must hold together.
pub struct ListQuery<T> {
    pub selection: Arc<Selection>,
    pub params: T,
}

/// Which conversations are meant.
#[derive(Debug, Default)]
pub struct Selection {
    pub filter: Filter,
    /// A part of the id of their scenario.
    pub search: Option<String>,
}

/// What lists have beside the parameters of a filter: [`SEARCH`].
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SearchParams {
    /// A part of the id of a scenario.
    search: Option<String>,
}

/// There are no other parameters.
#[derive(Debug, Deserialize, IntoParams)]
pub struct NoParams {}

impl<T: DeserializeOwned + IntoParams, S: Send + Sync> FromRequestParts<S> for ListQuery<T> {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Query(pairs) = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await?;
        let others: Vec<String> = T::into_params(|| None).into_iter().map(|parameter| parameter.name).collect();
        let mut known: Vec<&str> = list_parameters().collect();
        known.extend(others.iter().map(String::as_str));
        if let Some((name, _)) = pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            let hint = did_you_mean(name, known);
            return Err(HttpError::parameter(&short(name), format!("there is no such parameter{hint}")));
        }
        let filter = read_filter(&pairs)?;
        let Query(SearchParams { search }) = Query::from_request_parts(parts, state).await?;
        if search.as_ref().is_some_and(|search| search.len() > LONGEST_SEARCH) {
            return Err(HttpError::parameter(SEARCH, format!("is longer than {LONGEST_SEARCH} bytes")));
        }
        let selection = Arc::new(Selection { filter, search: search.filter(|search| !search.is_empty()) });
        let Query(params) = Query::from_request_parts(parts, state).await?;
        Ok(Self { selection, params })
    }
}

/// The filter that the parameters mean. Which of them may be given several times is in the table of parameters, which is
/// also how addresses of the app are read.
fn read_filter(pairs: &[(String, String)]) -> Result<Filter> {
    let pairs: Vec<(&str, String)> = pairs.iter().map(|(name, value)| (name.as_str(), plain(name, value))).collect();
    let (filter, unreadable) = Filter::from_query(pairs.iter().map(|(name, value)| (*name, value.as_str())));
    let unreadable = unreadable.into_iter().map(|(parameter, wrong)| FieldError::parameter(parameter.name, wrong));
    let out_of_range = filter.problems().into_iter().map(|(pointer, wrong)| {
        FieldError::parameter(Parameter::at(&pointer).map_or("", |parameter| parameter.name), wrong)
    });
    let wrong: Vec<FieldError> = unreadable.chain(out_of_range).collect();
    if !wrong.is_empty() {
        return Err(HttpError::Parameters(wrong));
    }
    if filter.min_scores.len() + filter.max_scores.len() + filter.top.len() > MOST_CRITERIA {
        return Err(HttpError::parameter("min_score", format!("more than {MOST_CRITERIA} criteria")));
    }
    Ok(filter)
}

/// # Errors
/// There is no such order.
pub fn sort(by: Option<&str>, order: Option<&str>) -> Result<Sort> {
    let by = match by.unwrap_or("position") {
        "position" => SortKey::Position,
        "overall" => SortKey::Overall,
        other => match other.strip_prefix("score:") {
            Some(criterion) => SortKey::Criterion(criterion.to_owned()),
            None => {
                let wanted = format!("expected `position`, `overall` or `score:CRITERION`, found `{}`", short(other));
                return Err(HttpError::parameter("sort", wanted));
            }
        },
    };
    let descending = match order {
        None => by != SortKey::Position,
        Some("asc") => false,
        Some("desc") => true,
        Some(other) => {
            let wanted = format!("expected `asc` or `desc`, found `{}`", short(other));
            return Err(HttpError::parameter("order", wanted));
        }
    };
    Ok(Sort { by, descending })
}

/// A run's id may be written in any way that stands for a UUID.
fn plain(name: &str, value: &str) -> String {
    match value.parse::<Uuid>() {
        Ok(id) if name == "run" => id.to_string(),
        _ => value.to_owned(),
    }
}

/// What stands in an error must not be as long as what was sent.
fn short(text: &str) -> String {
    text.chars().take(80).collect()
}
