//! A project as one file, down and up.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use domain::api::documents::{Changes, DocumentFinding};
use serde::Deserialize;
use sqlx::PgPool;
use tokio::task::spawn_blocking;
use utoipa::{IntoParams, ToSchema};

use super::access::{Author, Reader};
use super::app::App;
use super::audit::Audit;
use super::documents::{kept, message};
use super::error::{HttpError, Problems, Result};
use super::extract::{Path, Query};
use projects::archive::{pack, unpack_in};
use projects::documents::{self, ChangeRefusal, ExistingDocuments, Replacement};
use projects::library::project::Documents;
use projects::shipped;

/// The bytes of a zip, for the OpenAPI document only.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "it stands for the body in the OpenAPI document")]
pub struct Zip(Vec<u8>);

/// Download a project
///
/// A zip of the folders playbooks/, scenarios/, personas/ and judges/ with the versions that are used now. The same
/// documents make the same bytes.
#[utoipa::path(get, path = "/projects/{project}/archive", tag = "documents", params(("project" = String, Path)),
    responses((status = 200, body = Zip, content_type = "application/zip"), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn download(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(project): Path<String>,
) -> Result<([(HeaderName, String); 3], Vec<u8>)> {
    let files = documents::files(&pool, reader.project).await?;
    let packed = spawn_blocking(move || anyhow::Ok((format!("\"{}\"", files.hash()), pack(&files)?)));
    let (tag, bytes) = packed.await.map_err(|e| HttpError::Internal(e.into()))??;
    // Names of projects are letters, digits, `_` and `-`.
    let disposition = format!("attachment; filename=\"{project}.zip\"");
    let headers = [
        (header::CONTENT_TYPE, "application/zip".to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
        (header::ETAG, tag),
    ];
    Ok((headers, bytes))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "parameters of a request are independent of each other")]
pub struct Upload {
    /// Only report what would change.
    #[serde(default)]
    dry_run: bool,
    /// Delete documents that the archive does not hold.
    #[serde(default)]
    delete: bool,
    /// Only add documents that the project does not have. Existing documents are not changed.
    #[serde(default)]
    missing: bool,
    /// Store the documents as drafts, even if they have errors.
    #[serde(default)]
    drafts: bool,
    /// What was changed and why.
    message: Option<String>,
}

/// Upload a project
///
/// Makes a new version of each document that differs, all or nothing. Unless the documents are stored as drafts, they
/// are checked as `groundstate validate` does, and refused with all findings if there are errors.
#[utoipa::path(put, path = "/projects/{project}/archive", tag = "documents", params(("project" = String, Path), Upload),
    request_body(content = Zip, content_type = "application/zip"),
    responses((status = 200, body = Changes), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn upload(
    State(app): State<App>,
    author: Author,
    audit: Audit,
    Query(wanted): Query<Upload>,
    headers: HeaderMap,
    body: std::result::Result<Bytes, BytesRejection>,
) -> Result<Json<Changes>> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !matches!(kind, "application/zip" | "application/octet-stream") {
        return Err(HttpError::UnsupportedMediaType("send the archive as Content-Type: application/zip".into()));
    }
    let Upload { dry_run, delete, missing, drafts, message: text } = wanted;
    if delete && drafts {
        return Err(HttpError::parameter("drafts", "`delete` takes effect at once, `drafts` does not: choose one"));
    }
    let existing = match (delete, missing) {
        (true, true) => {
            return Err(HttpError::parameter(
                "missing",
                "`delete` changes what the project has, `missing` does not: choose one",
            ));
        }
        (true, false) => ExistingDocuments::Mirror,
        (false, true) => ExistingDocuments::Keep,
        (false, false) => ExistingDocuments::Update,
    };
    let message = message(text.as_deref().unwrap_or_default())?;
    let body = body?;
    let given = unpack_in(app.sandbox(), author.project, &body).await?;
    let author_name = &author.caller.name;
    let wanted =
        Replacement { project: author.project, author: author_name, message: &message, existing, drafts, dry_run };
    let saved = documents::replace(app.pool(), app.sandbox(), given, &wanted).await?;
    audit.detail(serde_json::json!({"documents": saved.changes.documents.len()}));
    kept(&audit, saved).await
}

/// Add the documents that ship with Groundstate
///
/// Adds the documents whose names the project does not have. Documents that it has are not changed. Nothing is added if
/// nothing is missing, or if the missing documents do not fit the others.
#[utoipa::path(post, path = "/projects/{project}/demo", tag = "documents", params(("project" = String, Path)),
    responses((status = 200, body = Changes, description = "No document was missing"), (status = 201, body = Changes),
        Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn demo(State(app): State<App>, author: Author, audit: Audit) -> Result<(StatusCode, Json<Changes>)> {
    let wanted = Replacement {
        project: author.project,
        author: &author.caller.name,
        message: "ships with Groundstate",
        existing: ExistingDocuments::Keep,
        drafts: false,
        dry_run: false,
    };
    let saved = match documents::replace(app.pool(), app.sandbox(), Documents::of(shipped::files()?)?, &wanted).await {
        Err(ChangeRefusal::Unsound(found)) => return Err(HttpError::Conflict(misfit(&found))),
        done => done?,
    };
    let status = if saved.changes.documents.is_empty() { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, kept(&audit, saved).await?))
}

fn misfit(found: &[DocumentFinding]) -> String {
    let first = found.first().map(|found| format!("{}: {}", found.file, found.message)).unwrap_or_default();
    format!(
        "the demonstration does not fit documents of this project ({first}); make another project for it, or start a run of \
         your own documents"
    )
}
