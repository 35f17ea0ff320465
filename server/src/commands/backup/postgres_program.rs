//! PostgreSQL's own programs, which dump a database and fill one.

use std::borrow::Cow;

use anyhow::{Context as _, ensure};
use tokio::process::Command;

/// Parameters of our own URLs that PostgreSQL's programs refuse.
const ONLY_SQLX: [&str; 1] = ["statement-cache-capacity"];

fn owned((name, value): (Cow<'_, str>, Cow<'_, str>)) -> (String, String) {
    (name.into_owned(), value.into_owned())
}

/// Runs one of PostgreSQL's programs. Its password is in a variable: everybody on the machine sees arguments.
pub async fn run(program: &str, arguments: &[&str], url: &str) -> anyhow::Result<()> {
    let mut command = Command::new(database::program(program));
    command.args(arguments).kill_on_drop(true);
    let mut url = reqwest::Url::parse(url).context("cannot read the URL of the database")?;
    if let Some(password) = url.password() {
        let password = password.replace('+', "%2B");
        let decoded = form_urlencoded::parse(password.as_bytes()).next().map(|(text, _)| text.into_owned());
        command.env("PGPASSWORD", decoded.unwrap_or_default());
        // It has a host, so it can have a password, and none.
        let _ = url.set_password(None);
    }
    let known: Vec<(String, String)> =
        url.query_pairs().filter(|(name, _)| !ONLY_SQLX.contains(&name.as_ref())).map(owned).collect();
    url.set_query(None);
    if !known.is_empty() {
        url.query_pairs_mut().extend_pairs(known);
    }
    command.arg(format!("--dbname={url}"));
    let done = command.output().await.with_context(|| {
        format!("cannot run {program}; install PostgreSQL's client (Debian: apt-get install postgresql-client)")
    })?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{program} failed: {}", said.trim());
    Ok(())
}
