//! `groundstate sync`: a project's folders and its documents in a database or on a server, brought to the same state.

mod compare;
mod folder;
mod remote;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use domain::api::documents::Changes;

use super::connection::ConnectionArgs;
use crate::output::say;
use compare::Difference;
use domain::bad_input::BadInput;
use projects::documents::ExistingDocuments;
use projects::library::project::Documents;
use remote::{Push, Remote};

/// Without --push and --pull it lists the differences and changes nothing. It compares the versions that runs use, and
/// does not pull drafts.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command are independent of each other")]
pub struct Sync {
    /// Folder that holds playbooks/, scenarios/, personas/ and judges/
    #[arg(long, default_value = ".")]
    project: PathBuf,
    /// The project in the database or on the server
    #[arg(long, value_name = "NAME", default_value = "default")]
    to: String,
    /// Make the documents there like the files here: each that differs gets a new version
    #[arg(long, conflicts_with = "pull")]
    push: bool,
    /// Make the files here like the documents there
    #[arg(long)]
    pull: bool,
    /// Also delete documents that exist only on the side that is changed
    #[arg(long)]
    delete: bool,
    /// Only add documents that are missing there; those that are there stay as they are
    #[arg(long, requires = "push", conflicts_with = "delete")]
    missing: bool,
    /// Store the documents as drafts, even if they have errors
    #[arg(long, requires = "push", conflicts_with = "delete")]
    drafts: bool,
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// What was changed and why, for the history
    #[arg(long, short, requires = "push", default_value = "", hide_default_value = true)]
    message: String,
    /// A server, such as <https://groundstate.example.com>, instead of a database
    #[arg(long, value_name = "URL")]
    server: Option<reqwest::Url>,
    /// The environment variable that holds a token for the server
    #[arg(long, value_name = "VARIABLE", default_value = "GROUNDSTATE_TOKEN", requires = "server")]
    token_env: String,
    #[command(flatten)]
    connection: ConnectionArgs,
}

impl Sync {
    fn existing(&self) -> ExistingDocuments {
        match (self.delete, self.missing) {
            (true, _) => ExistingDocuments::Mirror,
            (false, true) => ExistingDocuments::Keep,
            (false, false) => ExistingDocuments::Update,
        }
    }
}

pub async fn run(args: Sync) -> anyhow::Result<ExitCode> {
    let here = folder::read(&args.project, args.pull)?;
    let remote = match &args.server {
        Some(url) => Remote::server(url, &args.to, &args.token_env)?,
        None => Remote::database(&args.connection, &args.to).await?,
    };
    let done = sync(&args, here, &remote).await;
    remote.close().await;
    done?;
    Ok(ExitCode::SUCCESS)
}

async fn sync(args: &Sync, here: Documents, remote: &Remote) -> anyhow::Result<()> {
    let there = remote.documents().await?;
    let (here_files, there_files) = (here.files(), there.files());
    let differences = if args.pull {
        compare::differences(&there_files, &here_files)
    } else {
        compare::differences(&here_files, &there_files)
    };
    say!("{} and {}", args.project.display(), remote.name());
    if differences.is_empty() {
        say!("are the same");
        return Ok(());
    }
    // What is missing is a matter of whole documents, which are named when they are pushed.
    for Difference { path, change } in differences.iter().filter(|_| !args.missing) {
        say!("  {:<8} {path}", compare::word(*change, args.push, args.pull, args.delete));
    }
    if args.push {
        let push =
            Push { message: &args.message, existing: args.existing(), drafts: args.drafts, dry_run: args.dry_run };
        pushed(&remote.push(here, &push).await?);
    } else if !args.pull {
        say!("--push makes a new version there of each document that differs, --pull changes the files here");
    } else if args.dry_run {
        say!("nothing was written: --dry-run");
    } else {
        let (written, removed) = folder::write(&args.project, &there_files, &differences, args.delete)?;
        say!("{written} files written, {removed} removed");
    }
    Ok(())
}

fn pushed(changes: &Changes) {
    for found in &changes.found {
        let at = if found.line > 0 { format!("{}:{}", found.file, found.line) } else { found.file.clone() };
        say!("{at}: {}: {}", found.grade, found.message);
    }
    for document in &changes.documents {
        let state = if document.promoted { "" } else { ", a draft" };
        say!("{} {} {}: version {}{state}", document.change, document.kind, document.name, document.version);
    }
    let verb = if changes.dry_run { "would be" } else { "were" };
    say!("{} documents {verb} changed, {} are unchanged", changes.documents.len(), changes.unchanged);
}

/// What keeps documents from being kept, said as all commands do.
fn refused(refused: projects::documents::ChangeRefusal) -> anyhow::Error {
    use domain::Problem;
    use projects::documents::ChangeRefusal;
    match refused {
        ChangeRefusal::Bad(problems) => BadInput(problems).into(),
        ChangeRefusal::Unsound(found) => {
            let grave = found.into_iter().filter(|found| found.grade >= domain::finding::Grade::Error);
            BadInput(grave.map(|found| Problem::new(found.file, found.line, found.field, found.message)).collect())
                .into()
        }
        other => other.into(),
    }
}

/// Only plain text goes over the wire in the clear: to this machine.
fn check_server(url: &reqwest::Url) -> anyhow::Result<()> {
    let local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    match url.scheme() {
        "https" => Ok(()),
        "http" if local => Ok(()),
        "http" => bail!(BadInput::one("--server", "would send the token unencrypted; use https")),
        other => bail!(BadInput::one("--server", format!("begins with `{other}:`, expected https:"))),
    }
}
