//! Projects, and who may do what in them.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

/// Where commands work that name no project. The database is made with it.
pub const DEFAULT: Uuid = Uuid::from_u128(0x7000_8000_0000_0000_0001);

#[derive(Debug, Clone)]
pub struct Project {
    pub id: Uuid,
    pub name: String,
    pub title: String,
    pub created_at: DateTime<Utc>,
}

/// False if the name is taken.
pub async fn insert(db: &mut PgConnection, project: &Project) -> Result<bool> {
    let done = sqlx::query!(
        "INSERT INTO projects (id, name, title, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING",
        project.id,
        project.name,
        project.title,
        project.created_at
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

pub async fn set_title(db: &mut PgConnection, id: Uuid, title: &str) -> Result<()> {
    sqlx::query!("UPDATE projects SET title = $2 WHERE id = $1", id, title).execute(db).await?;
    Ok(())
}

pub async fn named(db: &mut PgConnection, name: &str) -> Result<Option<Project>> {
    let project = sqlx::query_as!(Project, "SELECT id, name, title, created_at FROM projects WHERE name = $1", name);
    Ok(project.fetch_optional(db).await?)
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<Project>> {
    let project = sqlx::query_as!(Project, "SELECT id, name, title, created_at FROM projects WHERE id = $1", id);
    Ok(project.fetch_optional(db).await?)
}

/// Those that a person is a member of, or all, by name.
pub async fn list(db: &mut PgConnection, member: Option<Uuid>) -> Result<Vec<Project>> {
    let projects = sqlx::query_as!(
        Project,
        "SELECT id, name, title, created_at FROM projects
         WHERE $1::uuid IS NULL OR EXISTS (SELECT FROM memberships WHERE project_id = id AND user_id = $1)
         ORDER BY name",
        member
    );
    Ok(projects.fetch_all(db).await?)
}

pub struct Member {
    pub user: String,
    pub role: String,
}

pub async fn members(db: &mut PgConnection, project: Uuid) -> Result<Vec<Member>> {
    let members = sqlx::query_as!(
        Member,
        r#"SELECT users.name AS "user!", role AS "role!" FROM memberships JOIN users ON users.id = user_id
           WHERE project_id = $1 ORDER BY users.name"#,
        project
    );
    Ok(members.fetch_all(db).await?)
}

/// What a person may do in a project; `None` if they are no member.
pub async fn role(db: &mut PgConnection, project: Uuid, user: Uuid) -> Result<Option<String>> {
    let role =
        sqlx::query_scalar!("SELECT role FROM memberships WHERE project_id = $1 AND user_id = $2", project, user);
    Ok(role.fetch_optional(db).await?)
}

pub async fn set_role(db: &mut PgConnection, project: Uuid, user: Uuid, role: &str) -> Result<()> {
    sqlx::query!(
        "INSERT INTO memberships (project_id, user_id, role) VALUES ($1, $2, $3)
         ON CONFLICT (project_id, user_id) DO UPDATE SET role = EXCLUDED.role",
        project,
        user,
        role
    )
    .execute(db)
    .await?;
    Ok(())
}

/// False if they were no member.
pub async fn remove(db: &mut PgConnection, project: Uuid, user: Uuid) -> Result<bool> {
    let done = sqlx::query!("DELETE FROM memberships WHERE project_id = $1 AND user_id = $2", project, user);
    Ok(done.execute(db).await?.rows_affected() == 1)
}

/// The project of a run.
pub async fn of_run(db: &mut PgConnection, id: Uuid) -> Result<Option<Uuid>> {
    Ok(sqlx::query_scalar!("SELECT project_id FROM runs WHERE id = $1", id).fetch_optional(db).await?)
}

/// The project of a conversation.
pub async fn of_conversation(db: &mut PgConnection, id: Uuid) -> Result<Option<Project>> {
    let project = sqlx::query_as!(
        Project,
        "SELECT p.id, p.name, p.title, p.created_at FROM tasks c JOIN runs ON runs.id = c.run_id JOIN projects p ON p.id = project_id
         WHERE c.id = $1",
        id
    );
    Ok(project.fetch_optional(db).await?)
}

/// A project, and what a person is in it.
#[derive(Debug, Clone)]
pub struct ProjectWithRole {
    pub project: Project,
    /// `None` if they are no member.
    pub role: Option<String>,
}

/// The projects of conversations, each for a person. Conversations that are not there are left out.
pub async fn of_conversations(
    db: &mut PgConnection,
    wanted: &[(Uuid, Uuid)],
) -> Result<HashMap<(Uuid, Uuid), ProjectWithRole>> {
    let (conversations, people): (Vec<Uuid>, Vec<Uuid>) = wanted.iter().copied().unzip();
    let rows = sqlx::query!(
        r#"SELECT wanted.conversation AS "conversation!", wanted.person AS "person!", p.id AS "id!", p.name AS "name!",
                  p.title AS "title!", p.created_at AS "created_at!", m.role AS "role?"
           FROM unnest($1::uuid[], $2::uuid[]) AS wanted (conversation, person)
           JOIN tasks ON tasks.id = wanted.conversation JOIN runs ON runs.id = tasks.run_id
           JOIN projects p ON p.id = runs.project_id
           LEFT JOIN memberships m ON m.project_id = p.id AND m.user_id = wanted.person"#,
        &conversations,
        &people
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows
        .map(|row| {
            let project = Project { id: row.id, name: row.name, title: row.title, created_at: row.created_at };
            ((row.conversation, row.person), ProjectWithRole { project, role: row.role })
        })
        .collect())
}

/// The project of a judging.
pub async fn of_judging(db: &mut PgConnection, id: Uuid) -> Result<Option<Uuid>> {
    let project =
        sqlx::query_scalar!("SELECT project_id FROM judgings j JOIN runs ON runs.id = j.run_id WHERE j.id = $1", id);
    Ok(project.fetch_optional(db).await?)
}

/// The project of a corpus.
pub async fn of_corpus(db: &mut PgConnection, id: Uuid) -> Result<Option<Uuid>> {
    Ok(sqlx::query_scalar!("SELECT project_id FROM corpora WHERE id = $1", id).fetch_optional(db).await?)
}

/// The project of an export.
pub async fn of_export(db: &mut PgConnection, id: Uuid) -> Result<Option<Uuid>> {
    Ok(sqlx::query_scalar!("SELECT project_id FROM exports WHERE id = $1", id).fetch_optional(db).await?)
}

/// The project of a dataset.
pub async fn of_dataset(db: &mut PgConnection, id: Uuid) -> Result<Option<Uuid>> {
    Ok(sqlx::query_scalar!("SELECT project_id FROM datasets WHERE id = $1", id).fetch_optional(db).await?)
}

/// The project of a search index.
pub async fn of_index(db: &mut PgConnection, id: Uuid) -> Result<Option<Uuid>> {
    Ok(sqlx::query_scalar!("SELECT project_id FROM indexes WHERE id = $1", id).fetch_optional(db).await?)
}

/// The project of a job; `None` also of one that belongs to the installation.
pub async fn of_job(db: &mut PgConnection, id: Uuid) -> Result<Option<Uuid>> {
    Ok(sqlx::query_scalar!("SELECT project_id FROM jobs WHERE id = $1", id).fetch_optional(db).await?.flatten())
}
