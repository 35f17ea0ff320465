//! Environments of a project, by which trainers ask for episodes.

use domain::api::Page;
use domain::api::episodes::{Environment, NamedEnvironment};

use super::{Answer, cut, delete, get, put};
use crate::address::segment;

/// By name: the first page, or the one after a cursor.
pub async fn list(project: &str, after: Option<String>) -> Answer<Page<NamedEnvironment>> {
    Ok(cut(all(project).await?, after))
}

/// One of them, if it is there.
pub async fn one(project: &str, name: &str) -> Answer<Option<NamedEnvironment>> {
    Ok(all(project).await?.into_iter().find(|environment| environment.name == name))
}

/// Stores an environment in place of what had its name.
pub async fn set(project: &str, name: &str, environment: &Environment) -> Answer<()> {
    put(&path(project, name), environment).await
}

pub async fn remove(project: &str, name: &str) -> Answer<()> {
    delete(&path(project, name)).await
}

async fn all(project: &str) -> Answer<Vec<NamedEnvironment>> {
    get(&format!("/projects/{}/environments", segment(project))).await
}

fn path(project: &str, name: &str) -> String {
    format!("/projects/{}/environments/{}", segment(project), segment(name))
}
