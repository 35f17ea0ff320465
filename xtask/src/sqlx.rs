//! .sqlx: what PostgreSQL says about each checked query of the store, one file a query, so that it compiles
//! without a database. The files are written by sqlx's macros themselves while they compile against a database.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use database::PrivatePostgres;

use crate::hash::{self, Stamp};
use crate::process::{quiet, run};
use crate::{install, places};

const COMMITTED: &str = ".sqlx";
const MIGRATIONS: &str = "migrations";
const INPUTS: [&str; 4] = ["crates/store", MIGRATIONS, COMMITTED, "Cargo.lock"];

/// File name -> content.
type Queries = BTreeMap<String, String>;

pub fn prepare() -> Result<()> {
    let fresh = compile_against_database()?;
    let old = read(Path::new(COMMITTED))?;
    fs::create_dir_all(COMMITTED)?;
    for name in old.keys().filter(|name| !fresh.contains_key(*name)) {
        fs::remove_file(Path::new(COMMITTED).join(name))?;
    }
    for (name, content) in fresh.iter().filter(|(name, content)| old.get(*name) != Some(content)) {
        fs::write(Path::new(COMMITTED).join(name), content)?;
    }
    println!("{COMMITTED} holds {} queries", fresh.len());
    stamp().set(&hash::of_files(&INPUTS, &[])?)
}

pub fn check() -> Result<()> {
    let inputs = hash::of_files(&INPUTS, &[])?;
    if stamp().is(&inputs) {
        println!("{COMMITTED} was checked, and nothing has changed");
        return Ok(());
    }
    let fresh = if query_dir_stamp().is(&inputs) { read(&query_dir())? } else { compile_against_database()? };
    let committed = read(Path::new(COMMITTED))?;
    if fresh != committed {
        bail!("{COMMITTED} is not current: {}. Run: cargo xtask prepare", differences(&fresh, &committed).join(", "));
    }
    println!("{COMMITTED} is current: {} queries", fresh.len());
    stamp().set(&inputs)
}

/// Runs a build of the whole workspace. If queries may have changed, it compiles against a database, and where that compiles
/// the store, `check` need not compile it once more.
pub fn build_for_check(build: &mut Command) -> Result<()> {
    let inputs = hash::of_files(&INPUTS, &[])?;
    if stamp().is(&inputs) {
        return run(build);
    }
    clear_query_dir()?;
    with_database(|url| run(point_at_database(build, url)))?;
    if read(&query_dir())?.is_empty() { Ok(()) } else { query_dir_stamp().set(&inputs) }
}

fn stamp() -> Stamp {
    Stamp::new(places::target_dir().join("xtask/sqlx.stamp"))
}

/// The inputs of the build that filled the folder of queries.
fn query_dir_stamp() -> Stamp {
    Stamp::new(places::target_dir().join("xtask/sqlx-written.stamp"))
}

/// Where sqlx's macros write the queries of a build.
fn query_dir() -> PathBuf {
    places::target_dir().join("xtask/sqlx")
}

fn clear_query_dir() -> Result<()> {
    if query_dir().exists() {
        fs::remove_dir_all(query_dir())?;
    }
    Ok(fs::create_dir_all(query_dir())?)
}

/// Makes sqlx's macros ask this database, and write what it says about the queries.
fn point_at_database<'a>(build: &'a mut Command, url: &str) -> &'a mut Command {
    build.env("DATABASE_URL", url).env("SQLX_OFFLINE", "false").env("SQLX_OFFLINE_DIR", query_dir())
}

fn with_database<T>(action: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    install::postgres()?;
    let postgres = PrivatePostgres::throwaway()?;
    let result = migrate(&postgres).and_then(|()| action(postgres.url()));
    postgres.stop();
    result
}

/// By psql and not by the server's own migrator: the server may not compile yet, which is why we are here.
fn migrate(postgres: &PrivatePostgres) -> Result<()> {
    let psql = [postgres.bin().join("psql"), PathBuf::from("psql")].into_iter().find(|program| program.is_file());
    let psql = psql.unwrap_or_else(|| "psql".into());
    for migration in migrations()? {
        let mut command = Command::new(&psql);
        command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "--single-transaction", "-d", postgres.url(), "-f"]);
        quiet(command.arg(&migration))?;
    }
    Ok(())
}

fn migrations() -> Result<Vec<PathBuf>> {
    if !Path::new(MIGRATIONS).is_dir() {
        return Ok(Vec::new());
    }
    let mut files = fs::read_dir(MIGRATIONS)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| {
        let name = file.to_string_lossy();
        name.ends_with(".sql") && !name.ends_with(".down.sql")
    });
    files.sort();
    Ok(files)
}

fn compile_against_database() -> Result<Queries> {
    clear_query_dir()?;
    let mut cargo = places::cargo();
    cargo.args(["rustc", "--quiet", "--package", "store", "--lib", "--profile", "check", "--", "--cfg"]);
    // Cargo does not know that the macros look at a database; an argument it has not seen makes it compile.
    let unseen = RandomState::new().build_hasher().finish();
    cargo.arg(format!("groundstate_prepare=\"{unseen:x}\""));
    with_database(|url| {
        run(point_at_database(&mut cargo, url)).context("the server does not compile against a migrated database")
    })?;
    read(&query_dir())
}

fn read(directory: &Path) -> Result<Queries> {
    if !directory.is_dir() {
        return Ok(Queries::new());
    }
    let files = fs::read_dir(directory)?;
    files
        .map(|entry| {
            let entry = entry?;
            Ok((entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path())?))
        })
        .collect()
}

fn differences(fresh: &Queries, committed: &Queries) -> Vec<String> {
    let missing = fresh.keys().filter(|name| !committed.contains_key(*name)).map(|name| format!("{name} is missing"));
    let unused = committed.keys().filter(|name| !fresh.contains_key(*name)).map(|name| format!("{name} is unused"));
    let changed = fresh.iter().filter(|(name, content)| committed.get(*name).is_some_and(|other| other != *content));
    missing.chain(unused).chain(changed.map(|(name, _)| format!("{name} has changed"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let queries = |all: &[(&str, &str)]| all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let fresh: Queries = queries(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let committed: Queries = queries(&[("b", "2"), ("c", "1"), ("d", "1")]);
        assert_eq!(differences(&fresh, &committed), ["a is missing", "d is unused", "b has changed"]);
    }
}
