//! Users as a persona profile may be drawn.

use axum::Json;
use axum::extract::State;
use domain::api::documents::PersonaSample;
use domain::seed::Seed;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::access::Reader;
use crate::http::app::App;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::{Path, Query};
use projects::documents;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SampleQuery {
    /// The same seed draws the same person.
    #[serde(default)]
    seed: i64,
    /// The intent, which shifts how the person feels.
    #[serde(default)]
    intent: String,
}

/// An example of a persona drawn from a profile
#[utoipa::path(get, path = "/projects/{project}/personas/{name}/sample", tag = "documents",
    params(("project" = String, Path), ("name" = String, Path), SampleQuery),
    responses((status = 200, body = PersonaSample), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn sample(
    State(app): State<App>,
    reader: Reader,
    Path((_, name)): Path<(String, String)>,
    Query(wanted): Query<SampleQuery>,
) -> Result<Json<PersonaSample>> {
    let library = documents::library(app.pool(), app.libraries(), reader.project).await?;
    let profile = library.profiles.get(&name).ok_or_else(|| HttpError::missing("persona profile", &name))?;
    let mut draws = Seed::new(wanted.seed, &name, 0).rng("persona");
    let persona = library.personas.draw(profile, &wanted.intent, &mut draws);
    Ok(Json(PersonaSample { guidance: library.personas.guidance(&persona), persona }))
}
