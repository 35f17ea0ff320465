//! Documents of projects, in all their versions.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::api::documents::{
    Counts, Document, DocumentFinding, DocumentMetadata, DocumentSummary, DocumentVersion, listed,
};
use domain::project::{DocumentId, Kind};
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::{BadRow, Result};

/// Path within the project -> text.
pub type Texts = BTreeMap<String, String>;

pub struct NewVersion<'a> {
    pub project: Uuid,
    pub id: &'a DocumentId,
    pub version: i32,
    /// `None`: this version deletes the document.
    pub files: Option<&'a Texts>,
    pub hash: &'a str,
    pub about: &'a DocumentMetadata,
    pub message: &'a str,
    pub author: &'a str,
    pub created_at: DateTime<Utc>,
    pub findings: &'a [DocumentFinding],
    pub promoted: bool,
}

/// The newest version of a document, without its text.
#[derive(Debug, Clone)]
pub struct Head {
    pub version: i32,
    pub hash: String,
    pub promoted: bool,
    pub deleted: bool,
    pub author: String,
    pub created_at: DateTime<Utc>,
}

/// Keeps others from changing documents of the project until the transaction ends.
pub async fn lock(db: &mut PgConnection, project: Uuid) -> Result<()> {
    sqlx::query!("SELECT id FROM projects WHERE id = $1 FOR NO KEY UPDATE", project).fetch_one(db).await?;
    Ok(())
}

/// Changes whenever a document of the project does: how many versions there are, and how many were promoted.
pub async fn stamp(db: &mut PgConnection, project: Uuid) -> Result<(i64, i64)> {
    let row = sqlx::query!(
        r#"SELECT count(*) AS "versions!", count(*) FILTER (WHERE promoted) AS "promoted!"
           FROM document_versions WHERE project_id = $1"#,
        project
    );
    let row = row.fetch_one(db).await?;
    Ok((row.versions, row.promoted))
}

pub async fn insert(db: &mut PgConnection, new: &NewVersion<'_>) -> Result<()> {
    let counts = Counts::of(new.findings);
    sqlx::query!(
        "INSERT INTO document_versions
             (project_id, kind, name, version, files, hash, about, message, author, created_at, findings, critical,
              errors, warnings, infos, promoted)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        new.project,
        new.id.kind.into_str(),
        new.id.name,
        new.version,
        new.files.map(Json) as _,
        new.hash,
        Json(new.about) as _,
        new.message,
        new.author,
        new.created_at,
        Json(listed(new.findings.to_vec())) as _,
        counts.critical,
        counts.errors,
        counts.warnings,
        counts.infos,
        new.promoted
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Makes a draft the version that is used.
pub async fn promote(
    db: &mut PgConnection,
    project: Uuid,
    id: &DocumentId,
    version: i32,
    findings: &[DocumentFinding],
) -> Result<()> {
    let counts = Counts::of(findings);
    sqlx::query!(
        "UPDATE document_versions
         SET promoted = true, findings = $5, critical = $6, errors = $7, warnings = $8, infos = $9
         WHERE project_id = $1 AND kind = $2 AND name = $3 AND version = $4",
        project,
        id.kind.into_str(),
        id.name,
        version,
        Json(listed(findings.to_vec())) as _,
        counts.critical,
        counts.errors,
        counts.warnings,
        counts.infos
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The newest version of each document, deleted ones among them.
pub async fn heads(db: &mut PgConnection, project: Uuid) -> Result<BTreeMap<DocumentId, Head>> {
    let rows = sqlx::query!(
        r#"SELECT DISTINCT ON (kind, name) kind, name, version, hash, promoted, files IS NULL AS "deleted!", author,
                  created_at
           FROM document_versions WHERE project_id = $1 ORDER BY kind, name, version DESC"#,
        project
    );
    let mut heads = BTreeMap::new();
    for row in rows.fetch_all(db).await? {
        let head = Head {
            version: row.version,
            hash: row.hash,
            promoted: row.promoted,
            deleted: row.deleted,
            author: row.author,
            created_at: row.created_at,
        };
        heads.insert(DocumentId { kind: kind(&row.kind, &row.name)?, name: row.name }, head);
    }
    Ok(heads)
}

/// All files of the documents that runs and the archive use.
pub async fn promoted(db: &mut PgConnection, project: Uuid) -> Result<BTreeMap<DocumentId, Texts>> {
    let rows = sqlx::query!(
        r#"SELECT kind, name, files AS "files!: Json<Texts>" FROM (
               SELECT DISTINCT ON (kind, name) kind, name, files FROM document_versions
               WHERE project_id = $1 AND promoted ORDER BY kind, name, version DESC) AS newest
           WHERE files IS NOT NULL"#,
        project
    );
    let mut documents = BTreeMap::new();
    for row in rows.fetch_all(db).await? {
        documents.insert(DocumentId { kind: kind(&row.kind, &row.name)?, name: row.name }, row.files.0);
    }
    Ok(documents)
}

/// A version of a document; the newest one if none is named.
pub async fn get(
    db: &mut PgConnection,
    project: Uuid,
    id: &DocumentId,
    version: Option<i32>,
) -> Result<Option<Document>> {
    let row = sqlx::query!(
        r#"SELECT version, promoted, files AS "files: Json<Texts>", hash, about AS "about: Json<DocumentMetadata>", message, author,
                  created_at, findings AS "findings: Json<Vec<DocumentFinding>>", critical, errors, warnings, infos
           FROM document_versions
           WHERE project_id = $1 AND kind = $2 AND name = $3 AND ($4::integer IS NULL OR version = $4)
           ORDER BY version DESC LIMIT 1"#,
        project,
        id.kind.into_str(),
        id.name,
        version
    );
    Ok(row.fetch_optional(db).await?.map(|row| Document {
        kind: id.kind,
        name: id.name.clone(),
        about: row.about.0,
        saved: DocumentVersion {
            version: row.version,
            promoted: row.promoted,
            deleted: row.files.is_none(),
            hash: row.hash,
            findings: Counts { critical: row.critical, errors: row.errors, warnings: row.warnings, infos: row.infos },
            message: row.message,
            author: row.author,
            created_at: row.created_at,
        },
        files: row.files.map(|files| files.0).unwrap_or_default(),
        found: row.findings.0,
    }))
}

/// The versions before one, newest first.
pub async fn history(
    db: &mut PgConnection,
    project: Uuid,
    id: &DocumentId,
    before: Option<i32>,
    limit: i64,
) -> Result<Vec<DocumentVersion>> {
    let rows = sqlx::query!(
        r#"SELECT version, promoted, files IS NULL AS "deleted!", hash, message, author, created_at, critical, errors,
                  warnings, infos
           FROM document_versions
           WHERE project_id = $1 AND kind = $2 AND name = $3 AND ($4::integer IS NULL OR version < $4)
           ORDER BY version DESC LIMIT $5"#,
        project,
        id.kind.into_str(),
        id.name,
        before,
        limit
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows
        .map(|row| DocumentVersion {
            version: row.version,
            promoted: row.promoted,
            deleted: row.deleted,
            hash: row.hash,
            findings: Counts { critical: row.critical, errors: row.errors, warnings: row.warnings, infos: row.infos },
            message: row.message,
            author: row.author,
            created_at: row.created_at,
        })
        .collect())
}

/// Which documents are listed. What is not said is no condition.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of scenarios.
    pub playbook: Option<String>,
    pub intent: Option<String>,
    pub tag: Option<String>,
    /// Part of the name, title or description, in any case.
    pub search: Option<String>,
    /// Whether the newest version is promoted.
    pub promoted: Option<bool>,
}

/// Documents of a kind by name, deleted ones left out, after the one with this name.
pub async fn list(
    db: &mut PgConnection,
    project: Uuid,
    of: Kind,
    filter: &Filter,
    after: &str,
    limit: i64,
) -> Result<Vec<DocumentSummary>> {
    let rows = sqlx::query!(
        r#"SELECT name AS "name!", version AS "version!", about AS "about!: Json<DocumentMetadata>", message AS "message!",
                  author AS "author!", created_at AS "created_at!", critical AS "critical!", errors AS "errors!",
                  warnings AS "warnings!", infos AS "infos!",
                  (SELECT max(version) FROM document_versions older
                   WHERE older.project_id = $1 AND older.kind = $2 AND older.name = newest.name AND promoted) AS used
           FROM (SELECT DISTINCT ON (name) * FROM document_versions
                 WHERE project_id = $1 AND kind = $2 AND name > $3 ORDER BY name, version DESC) AS newest
           WHERE files IS NOT NULL
             AND ($4::text IS NULL OR about->>'playbook' = $4)
             AND ($5::text IS NULL OR about->>'intent' = $5)
             AND ($6::text IS NULL OR about->'tags' ? $6)
             AND ($7::text IS NULL OR position(lower($7) IN lower(concat_ws(' ', name, about->>'title', about->>'description'))) > 0)
             AND ($8::boolean IS NULL OR promoted = $8)
           ORDER BY name LIMIT $9"#,
        project,
        of.into_str(),
        after,
        filter.playbook,
        filter.intent,
        filter.tag,
        filter.search,
        filter.promoted,
        limit
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows
        .map(|row| DocumentSummary {
            kind: of,
            name: row.name,
            version: row.version,
            promoted: row.used,
            about: row.about.0,
            findings: Counts { critical: row.critical, errors: row.errors, warnings: row.warnings, infos: row.infos },
            message: row.message,
            author: row.author,
            updated_at: row.created_at,
        })
        .collect())
}

/// Documents whose newest or used version names this one.
pub async fn naming(db: &mut PgConnection, project: Uuid, id: &DocumentId) -> Result<Vec<DocumentId>> {
    let (of, field) = match id.kind {
        Kind::Playbook => (Kind::Scenario, "playbook"),
        Kind::Persona => (Kind::Scenario, "personas"),
        Kind::Judge => (Kind::Playbook, "judge"),
        Kind::Workflow => (Kind::Workflow, "workflows"),
        Kind::Scenario => return Ok(Vec::new()),
    };
    let names = sqlx::query_scalar!(
        r#"SELECT DISTINCT name AS "name!" FROM (
               SELECT DISTINCT ON (name, promoted) name, files, about FROM document_versions
               WHERE project_id = $1 AND kind = $2 ORDER BY name, promoted, version DESC) AS newest
           WHERE files IS NOT NULL AND (about->>$3::text = $4 OR about->($3::text) ? $4) ORDER BY 1"#,
        project,
        of.into_str(),
        field,
        id.name
    );
    let names = names.fetch_all(db).await?.into_iter();
    Ok(names.map(|name| DocumentId { kind: of, name }).collect())
}

/// The newest runs of a project that were made with a document, and how many there are.
pub async fn runs_with(
    db: &mut PgConnection,
    project: Uuid,
    id: &DocumentId,
    limit: i64,
) -> Result<(Vec<(Uuid, DateTime<Utc>)>, i64)> {
    let rows = sqlx::query!(
        r#"SELECT runs.id, runs.created_at, count(*) OVER () AS "all!" FROM runs
           WHERE project_id = $1 AND CASE $2::text
               WHEN 'scenario' THEN spec->'scenarios' ? $3
               WHEN 'persona' THEN spec->'personas' ? $3 OR $3 = 'model'
               WHEN 'playbook' THEN kind IN ('conversations', 'episodes') AND $3 = ANY (string_to_array(playbook, ', '))
               WHEN 'workflow' THEN kind = 'workflow' AND playbook = $3
               ELSE EXISTS (
                   SELECT FROM document_versions AS d
                   WHERE d.project_id = $1 AND d.kind = 'playbook' AND d.about->>'judge' = $3
                     AND d.name = ANY (string_to_array(playbook, ', ')))
           END
           ORDER BY runs.created_at DESC, runs.id DESC LIMIT $4"#,
        project,
        id.kind.into_str(),
        id.name,
        limit
    );
    let rows = rows.fetch_all(db).await?;
    let all = rows.first().map_or(0, |row| row.all);
    Ok((rows.into_iter().map(|row| (row.id, row.created_at)).collect(), all))
}

fn kind(text: &str, name: &str) -> Result<Kind> {
    let unknown = |_| BadRow {
        table: "document_versions",
        column: "kind",
        row: name.to_owned(),
        reason: format!("`{text}` is no kind of document"),
    };
    Ok(text.parse().map_err(unknown)?)
}
