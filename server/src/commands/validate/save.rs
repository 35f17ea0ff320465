//! Keeping a validation in the database.

use domain::finding::Grade;
use serde_json::json;
use uuid::Uuid;

use super::{Outcome, Validate, count, json};
use crate::commands::connection::Connection;
use crate::commands::record;
use store::clock;
use store::projects;
use store::runs;
use store::validations::{self, Validation};

pub async fn save(
    connection: &Connection,
    args: &Validate,
    models: &[String],
    found: &Outcome,
) -> anyhow::Result<Uuid> {
    let now = clock::now();
    let counted = |grade| i32::try_from(count(&found.findings, grade));
    let (critical, errors) = (counted(Grade::Critical)?, counted(Grade::Error)?);
    let validation = Validation {
        id: clock::id(),
        project: projects::DEFAULT,
        library: found.library.files.hash(),
        options: json!({
            "similar_description": args.similar_description,
            "similar_goal": args.similar_goal,
            "models": models,
            "pass_ratio": args.reviewers.pass_ratio,
            "scenarios": args.reviewers.scenarios,
        }),
        findings: serde_json::to_value(json::entries(&found.findings))?,
        reviews: serde_json::to_value(&found.reviews)?,
        critical,
        errors,
        warnings: counted(Grade::Warning)?,
        infos: counted(Grade::Info)?,
        sound: critical == 0 && errors == 0,
        created_at: now,
    };
    let mut tx = connection.pool.begin().await?;
    let files = serde_json::to_value(&found.library.files)?;
    runs::insert_library(&mut tx, &validation.library, &files, now).await?;
    validations::insert(&mut tx, &validation).await?;
    let (project, id) = (validation.project, validation.id.to_string());
    record(&mut tx, Some(project), "groundstate validate", &id, json!({"sound": validation.sound})).await?;
    tx.commit().await?;
    Ok(validation.id)
}
