//! The shipped scenarios played by two programs, and their rows compared.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use bench::rows::{self, Renamed};

use super::cases::row;
use super::program::Place;

/// Everything random is derived from it.
const SEED: &str = "1";

/// # Errors
/// A program cannot play them; or the first difference.
pub async fn case(first: PathBuf, second: PathBuf, n: u32, renamed: &[Renamed]) -> anyhow::Result<()> {
    let (one, other) = (made(first, n).await?, made(second, n).await?);
    let alike = rows::compare(&one, &other, renamed)?;
    row(&format!("{n} conversations of the shipped scenarios, by two programs"), "the same rows");
    row("rows", &alike.rows.to_string());
    row("bytes", &alike.bytes.to_string());
    Ok(())
}

/// The rows of the shipped scenarios as one program makes them, accepted or not. It has a PostgreSQL of its own.
async fn made(programs: PathBuf, n: u32) -> anyhow::Result<String> {
    let place = Place::of(programs, Path::new("."), &["playbooks", "scenarios", "personas", "judges"])?;
    // The program brings its own schema: nothing here opens the database.
    let postgres = place.postgres().await?;
    let n = n.to_string();
    let generate = ["generate", "--n", &n, "--seed", SEED, "--out", "accepted.jsonl"];
    let export = ["export", "--all", "--branches", "--out", "rows.jsonl"];
    let mut played = Ok(());
    for arguments in [&generate[..], &export[..]] {
        let output = place.groundstate(postgres.url()).args(arguments).output().await?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            played = Err((arguments[0], said));
            break;
        }
    }
    postgres.stop().await;
    if let Err((command, said)) = played {
        bail!("{} {command}: {said}", place.programs().join("groundstate").display());
    }
    Ok(fs::read_to_string(place.path().join("rows.jsonl"))?)
}
