//! The documents that ship with the program: what new projects begin with, and what can be played before there is one.

use anyhow::Context;
use rust_embed::RustEmbed;

use crate::library::Files;

#[derive(RustEmbed)]
#[folder = "../../playbooks"]
struct Playbooks;

#[derive(RustEmbed)]
#[folder = "../../scenarios"]
struct Scenarios;

#[derive(RustEmbed)]
#[folder = "../../personas"]
pub struct Personas;

#[derive(RustEmbed)]
#[folder = "../../judges"]
pub struct Judges;

#[derive(RustEmbed)]
#[folder = "../../workflows"]
struct Workflows;

/// All of them, as a project.
pub fn files() -> anyhow::Result<Files> {
    let mut files = Files::default();
    add::<Playbooks>("playbooks", &mut files)?;
    add::<Scenarios>("scenarios", &mut files)?;
    add::<Personas>("personas", &mut files)?;
    add::<Judges>("judges", &mut files)?;
    add::<Workflows>("workflows", &mut files)?;
    Ok(files)
}

fn add<E: RustEmbed>(folder: &str, files: &mut Files) -> anyhow::Result<()> {
    E::iter().try_for_each(|path| {
        files.insert(&format!("{folder}/{path}"), text::<E>(&path)?);
        Ok(())
    })
}

pub fn text<E: RustEmbed>(path: &str) -> anyhow::Result<String> {
    let file = E::get(path).with_context(|| format!("{path} is not embedded"))?;
    Ok(String::from_utf8(file.data.into_owned())?)
}
