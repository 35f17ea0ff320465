//! Projects and their members.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{MemberSummary, Membership, NewProject, ProjectChange, ProjectSummary};
use sqlx::PgPool;

use super::access::{Admin, Administrator, Reader, SignedIn};
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use crate::people;
use store::clock;
use store::projects::{self, Project};
use store::users;

/// Your projects
#[utoipa::path(get, path = "/projects", tag = "projects", responses((status = 200, body = Vec<ProjectSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(State(pool): State<PgPool>, SignedIn(caller): SignedIn) -> Result<Json<Vec<ProjectSummary>>> {
    let mut db = pool.acquire().await?;
    let mut mine = projects::list(&mut db, (!caller.administrator).then_some(caller.id)).await?;
    mine.retain(|project| caller.only_project.is_none_or(|only| only == project.id));
    Ok(Json(mine.into_iter().map(summary).collect()))
}

/// Make a project
#[utoipa::path(post, path = "/projects", tag = "projects", request_body = NewProject,
    responses((status = 201, body = ProjectSummary), Problems), security(("session" = []), ("token" = ["installation"])))]
pub async fn create(
    State(pool): State<PgPool>,
    _: Administrator,
    audit: Audit,
    Body(new): Body<NewProject>,
) -> Result<(StatusCode, Json<ProjectSummary>)> {
    let name = people::project_name(&new.name).map_err(|detail| HttpError::invalid("/name", detail))?;
    let title = check_title(new.title.as_deref().unwrap_or(&name))?;
    let project = Project { id: clock::id(), name, title, created_at: clock::now() };
    let mut tx = pool.begin().await?;
    if !projects::insert(&mut tx, &project).await? {
        return Err(HttpError::Conflict(format!("there is a project {} already", project.name)));
    }
    audit.project(project.id);
    audit.subject(&project.name);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(summary(project))))
}

/// One project
#[utoipa::path(get, path = "/projects/{project}", tag = "projects", params(("project" = String, Path)),
    responses((status = 200, body = ProjectSummary), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, reader: Reader) -> Result<Json<ProjectSummary>> {
    let project = projects::get(&mut *pool.acquire().await?, reader.project).await?;
    project.map(|project| Json(summary(project))).ok_or_else(|| HttpError::Damaged("a project went".into()))
}

/// Rename a project
#[utoipa::path(patch, path = "/projects/{project}", tag = "projects", params(("project" = String, Path)),
    request_body = ProjectChange, responses((status = 200, body = ProjectSummary), Problems),
    security(("session" = []), ("token" = ["admin"])))]
pub async fn change(
    State(pool): State<PgPool>,
    admin: Admin,
    audit: Audit,
    Body(change): Body<ProjectChange>,
) -> Result<Json<ProjectSummary>> {
    let title = check_title(&change.title)?;
    let mut tx = pool.begin().await?;
    projects::set_title(&mut tx, admin.project, &title).await?;
    let project = projects::get(&mut tx, admin.project).await?;
    audit.commit(tx).await?;
    project.map(|project| Json(summary(project))).ok_or_else(|| HttpError::Damaged("a project went".into()))
}

/// Members of a project
#[utoipa::path(get, path = "/projects/{project}/members", tag = "projects", params(("project" = String, Path)),
    responses((status = 200, body = Vec<MemberSummary>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn members(State(pool): State<PgPool>, reader: Reader) -> Result<Json<Vec<MemberSummary>>> {
    let members = projects::members(&mut *pool.acquire().await?, reader.project).await?.into_iter();
    let known = members.filter_map(|member| Some(MemberSummary { role: member.role.parse().ok()?, user: member.user }));
    Ok(Json(known.collect()))
}

/// Make somebody a member, or change their role
#[utoipa::path(put, path = "/projects/{project}/members/{user}", tag = "projects",
    params(("project" = String, Path), ("user" = String, Path)), request_body = Membership,
    responses((status = 200, body = MemberSummary), Problems), security(("session" = []), ("token" = ["admin"])))]
pub async fn set_member(
    State(pool): State<PgPool>,
    admin: Admin,
    audit: Audit,
    Path((_, user)): Path<(String, String)>,
    Body(membership): Body<Membership>,
) -> Result<Json<MemberSummary>> {
    let mut tx = pool.begin().await?;
    let found = users::named(&mut tx, &user).await?.ok_or_else(|| HttpError::missing("user", &user))?;
    projects::set_role(&mut tx, admin.project, found.id, membership.role.into_str()).await?;
    audit.detail(serde_json::json!({"role": membership.role}));
    audit.commit(tx).await?;
    Ok(Json(MemberSummary { user: found.name, role: membership.role }))
}

/// Remove a member
#[utoipa::path(delete, path = "/projects/{project}/members/{user}", tag = "projects",
    params(("project" = String, Path), ("user" = String, Path)), responses((status = 204), Problems),
    security(("session" = []), ("token" = ["admin"])))]
pub async fn remove_member(
    State(pool): State<PgPool>,
    admin: Admin,
    audit: Audit,
    Path((_, user)): Path<(String, String)>,
) -> Result<StatusCode> {
    let mut tx = pool.begin().await?;
    let found = users::named(&mut tx, &user).await?.ok_or_else(|| HttpError::missing("user", &user))?;
    if !projects::remove(&mut tx, admin.project, found.id).await? {
        return Err(HttpError::NotFound(format!("{user} is not a member")));
    }
    audit.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn summary(project: Project) -> ProjectSummary {
    ProjectSummary { name: project.name, title: project.title, created_at: project.created_at }
}

fn check_title(title: &str) -> Result<String> {
    people::title(title, 200).map_err(|detail| HttpError::invalid("/title", detail))
}
