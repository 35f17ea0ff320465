//! `groundstate projects show` and `limit`: what a project takes of the disk, and what it may take.

use domain::bad_input::BadInput;
use domain::storage::{ProjectStorage, StorageLimits, parse_bytes, readable_bytes};
use serde_json::json;
use sqlx::{PgConnection, PgPool};

use super::super::connection::ConnectionArgs;
use super::super::record;
use super::named;
use crate::output::say;
use store::projects::Project;
use store::storage;

#[derive(clap::Args)]
pub struct Show {
    /// The project's name
    project: String,
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("limits").required(true).multiple(true))]
pub struct Limit {
    /// The project's name
    project: String,
    /// Size of its runs, exports, datasets and versions of documents together, e.g. 500GiB; `none` for no limit
    #[arg(long, value_name = "SIZE", value_parser = size, group = "limits")]
    bytes: Option<Most>,
    /// Conversations of one run; `none` for no limit
    #[arg(long, value_name = "NUMBER", value_parser = number, group = "limits")]
    conversations: Option<Most>,
    /// Rows of one run of a workflow; `none` for no limit
    #[arg(long, value_name = "NUMBER", value_parser = number, group = "limits")]
    rows: Option<Most>,
    /// Size of one export, e.g. 20GiB; `none` for no limit
    #[arg(long, value_name = "SIZE", value_parser = size, group = "limits")]
    export_bytes: Option<Most>,
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// A limit, or that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Most(Option<i64>);

fn size(text: &str) -> Result<Most, String> {
    if text == "none" { Ok(Most(None)) } else { parse_bytes(text).map(|bytes| Most(Some(bytes))) }
}

fn number(text: &str) -> Result<Most, String> {
    let wrong = |_| "expected a whole number, or `none`".to_owned();
    if text == "none" { Ok(Most(None)) } else { text.parse().map(|n| Most(Some(n))).map_err(wrong) }
}

pub async fn show(pool: &PgPool, args: &Show) -> anyhow::Result<()> {
    let mut db = pool.acquire().await?;
    let project = named(&mut db, "PROJECT", &args.project).await?;
    print(&mut db, &project).await
}

pub async fn limit(pool: &PgPool, args: &Limit) -> anyhow::Result<()> {
    let mut tx = pool.begin().await?;
    let project = named(&mut tx, "PROJECT", &args.project).await?;
    let before = storage::of_project(&mut tx, project.id).await?.limits;
    let or = |new: Option<Most>, old| new.map_or(old, |Most(limit)| limit);
    let limits = StorageLimits {
        bytes: or(args.bytes, before.bytes),
        conversations: or(args.conversations, before.conversations),
        rows: or(args.rows, before.rows),
        export_bytes: or(args.export_bytes, before.export_bytes),
    };
    if let Some((field, why)) = limits.problems().into_iter().next() {
        return Err(BadInput::one(format!("--{}", field.replace('_', "-")), why.replace("null", "`none`")).into());
    }
    storage::set_limits(&mut tx, project.id, &limits).await?;
    let detail = json!({"limits": limits});
    record(&mut tx, Some(project.id), "groundstate projects limit", &project.name, detail).await?;
    print(&mut tx, &project).await?;
    Ok(tx.commit().await?)
}

async fn print(db: &mut PgConnection, project: &Project) -> anyhow::Result<()> {
    let ProjectStorage { used, limits } = storage::of_project(db, project.id).await?;
    let most = |limit: Option<i64>| limit.map_or_else(|| "no limit".to_owned(), |most| format!("at most {most}"));
    let largest =
        |limit: Option<i64>| limit.map_or_else(|| "no limit".to_owned(), |n| format!("at most {}", readable_bytes(n)));
    say!("project                   {}", project.name);
    say!("title                     {}", project.title);
    say!("since                     {}", project.created_at.format("%Y-%m-%d"));
    say!("stored                    {}, {}", readable_bytes(used.total()), largest(limits.bytes));
    say!("  runs                    {}", readable_bytes(used.runs));
    say!("  exports                 {}", readable_bytes(used.exports));
    say!("  datasets and indexes    {}", readable_bytes(used.datasets));
    say!("  versions of documents   {}", readable_bytes(used.documents));
    say!("conversations of one run  {}", most(limits.conversations));
    say!("rows of one run           {}", most(limits.rows));
    say!("size of one export        {}", largest(limits.export_bytes));
    Ok(())
}
