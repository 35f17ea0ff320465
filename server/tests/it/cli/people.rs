//! People, tokens and projects, for whoever has the machine and no browser.

use chrono::TimeDelta;
use reqwest::StatusCode;
use serde_json::json;
use server::commands::tokens::lifetime;
use server::http::access::SESSION_COOKIE;
use sqlx::PgPool;

use super::{CommandOutput, groundstate, said};
use crate::http::{TestApp, somebody};
use crate::support::database_url;

async fn run(pool: &PgPool, arguments: &[&str]) -> CommandOutput {
    said(groundstate(arguments).env("DATABASE_URL", database_url(pool))).await
}

/// What a command says that must be fine.
async fn fine(pool: &PgPool, arguments: &[&str]) -> String {
    let said = run(pool, arguments).await;
    assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.stderr);
    said.stdout
}

/// What a command says that the user must mend.
async fn refused(pool: &PgPool, arguments: &[&str]) -> String {
    let said = run(pool, arguments).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", said.stderr);
    said.stderr
}

/// The audit log: who, what, on what.
async fn log(app: &TestApp) -> Vec<(String, String, String)> {
    let page: serde_json::Value = app.json("/api/v1/audit").await;
    let text = |entry: &serde_json::Value, field: &str| entry[field].as_str().unwrap().to_owned();
    let entries = page["items"].as_array().unwrap().iter().rev();
    entries.map(|entry| (text(entry, "actor"), text(entry, "action"), text(entry, "subject"))).collect()
}

fn by_command(action: &str, subject: &str) -> (String, String, String) {
    (String::new(), format!("groundstate {action}"), subject.to_owned())
}

#[sqlx::test(migrations = "../migrations")]
async fn a_link_lets_somebody_choose_a_password_once(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let first = fine(&pool, &["users", "create", "Mira", "--administrator"]).await;
    let link = fine(&pool, &["users", "link", "mira", "--url", "https://data.example.org/"]).await;
    let (server, secret) = link.trim_end().split_once("/welcome#").unwrap();
    assert_eq!(server, "https://data.example.org");
    let (_, void) = first.trim_end().split_once("http://127.0.0.1:7878/welcome#").unwrap();

    let anybody = app.with_token(String::new());
    let accept = "/api/v1/invitations/accept";
    let answer =
        anybody.request(reqwest::Method::POST, accept).json(&json!({"secret": void, "password": "correct horse"}));
    assert_eq!(answer.send().await.unwrap().status(), StatusCode::FORBIDDEN, "a new link replaces the first");
    let answer =
        anybody.request(reqwest::Method::POST, accept).json(&json!({"secret": secret, "password": "correct horse"}));
    let answer = answer.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(answer.headers()["set-cookie"].to_str().unwrap().starts_with(SESSION_COOKIE));

    let list = fine(&pool, &["users", "list"]).await;
    assert!(
        list.lines().any(|line| line.starts_with("mira  ") && line.contains("yes") && line.contains("active")),
        "{list}"
    );
    let accepted = ("mira".to_owned(), "POST /api/v1/invitations/accept".to_owned(), "mira".to_owned());
    assert_eq!(log(&app).await, [by_command("users create", "mira"), by_command("users link", "mira"), accepted]);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_token_is_shown_once_and_works_until_it_is_deleted(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let made = run(
        &pool,
        &["tokens", "create", "--user", "root", "--name", "nightly", "--scope", "run", "--expires-in", "30d"],
    )
    .await;
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let secret = made.stdout.trim_end();
    assert!(secret.starts_with("gs_") && secret.len() == 67, "{secret}");
    let program = app.with_token(secret.to_owned());
    assert_eq!(program.status("/api/v1/session").await, StatusCode::OK);
    // Its scope is run: it makes no users, although its owner may.
    assert_eq!(
        program.send(reqwest::Method::POST, "/api/v1/users", &json!({"name": "x"})).await.0,
        StatusCode::FORBIDDEN
    );

    let list = fine(&pool, &["tokens", "list", "--user", "root"]).await;
    let line = list.lines().find(|line| line.ends_with("  nightly")).unwrap();
    let columns: Vec<_> = line.split_whitespace().collect();
    assert_eq!(columns[1..4], ["root", "run", "all"]);
    assert!(!list.contains(secret), "only its hash is kept");
    let id = columns[0];

    fine(&pool, &["tokens", "delete", id]).await;
    assert_eq!(program.status("/api/v1/session").await, StatusCode::UNAUTHORIZED);
    assert!(refused(&pool, &["tokens", "delete", id]).await.contains("there is no token"));
    assert_eq!(log(&app).await, [by_command("tokens create", id), by_command("tokens delete", id)]);
}

#[test]
fn lifetimes_have_a_unit() {
    assert_eq!(lifetime("30d"), Ok(TimeDelta::days(30)));
    assert_eq!(lifetime("12h"), Ok(TimeDelta::hours(12)));
    assert_eq!(lifetime("45m"), Ok(TimeDelta::minutes(45)));
    for bad in ["", "d", "30", "0d", "-1d", "3651d", "99999999999d", "1y", "1 d", "1ü"] {
        assert!(lifetime(bad).is_err(), "{bad:?}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_project_is_made_and_a_token_can_be_for_it_alone(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    fine(&pool, &["projects", "create", "bank", "--title", "Retail bank"]).await;
    let list = fine(&pool, &["projects", "list"]).await;
    assert!(list.lines().any(|line| line.starts_with("bank ") && line.ends_with("Retail bank")), "{list}");
    assert_eq!(log(&app).await, [by_command("projects create", "bank")]);

    let create = ["tokens", "create", "--user", "root", "--name", "bank", "--scope", "read", "--project", "bank"];
    let program = app.with_token(fine(&pool, &create).await.trim_end().to_owned());
    assert_eq!(program.status("/api/v1/projects/bank").await, StatusCode::OK);
    assert_eq!(program.status("/api/v1/projects/default").await, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrations = "../migrations")]
async fn somebody_becomes_a_member_is_given_another_role_and_leaves(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    somebody(&pool, "mira", false).await;
    let members = async || fine(&pool, &["projects", "members", "default"]).await;
    let none = members().await;
    assert_eq!(fine(&pool, &["projects", "add-member", "default", "Mira"]).await, "mira is viewer of default\n");
    fine(&pool, &["projects", "add-member", "default", "mira", "--role", "author"]).await;
    let all = members().await;
    assert_eq!(all.lines().filter(|line| line.starts_with("mira ") && line.ends_with(" author")).count(), 1, "{all}");
    let token = fine(&pool, &["tokens", "create", "--user", "mira", "--name", "x", "--scope", "read"]).await;
    let mira = app.with_token(token.trim_end().to_owned());
    assert_eq!(mira.status("/api/v1/projects/default").await, StatusCode::OK);

    fine(&pool, &["projects", "remove-member", "default", "mira"]).await;
    assert_eq!(mira.status("/api/v1/projects/default").await, StatusCode::NOT_FOUND);
    assert_eq!(members().await, none);
    let mut log = log(&app).await;
    log.retain(|(_, action, _)| action.contains("member"));
    let added = by_command("projects add-member", "mira");
    assert_eq!(log, [added.clone(), added, by_command("projects remove-member", "mira")]);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_cannot_be_done_is_said_and_nothing_is_kept(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    somebody(&pool, "mira", false).await;
    let token = ["tokens", "create", "--scope", "run"];
    for (arguments, said) in [
        (vec!["users", "create", "mira west"], "NAME: use 1 to 64 letters a-z"),
        (vec!["users", "create", "Mira"], "there is a user mira already; `groundstate users link mira`"),
        (vec!["users", "link", "nobody"], "NAME: there is no user nobody"),
        (vec!["projects", "create", "../etc"], "NAME: use 1 to 64 letters a-z"),
        (vec!["projects", "create", "default"], "there is a project default already"),
        (vec!["projects", "create", "bank", "--title", "two\nlines"], "--title: use 1 to 200 letters"),
        (vec!["projects", "members", "bank"], "PROJECT: there is no project bank"),
        (vec!["projects", "add-member", "bank", "mira"], "PROJECT: there is no project bank"),
        (vec!["projects", "add-member", "default", "nobody"], "USER: there is no user nobody"),
        (vec!["projects", "add-member", "default", "mira", "--role", "owner"], "[possible values: viewer, author"),
        (vec!["projects", "remove-member", "default", "mira"], "USER: mira is not a member"),
        ([&token[..], &["--user", "nobody", "--name", "x"]].concat(), "--user: there is no user nobody"),
        ([&token[..], &["--user", "mira", "--name", ""]].concat(), "--name: use 1 to 100 letters"),
        (
            [&token[..], &["--user", "mira", "--name", "x", "--project", "bank"]].concat(),
            "--project: there is no project",
        ),
        (
            [&token[..], &["--user", "mira", "--name", "x", "--project", "default"]].concat(),
            "mira is not a member of default",
        ),
        (
            [&token[..], &["--user", "mira", "--name", "x", "--expires-in", "soon"]].concat(),
            "expected a time from 1m to 3650d",
        ),
        (vec!["tokens", "list", "--user", "nobody"], "--user: there is no user nobody"),
    ] {
        let stderr = refused(&pool, &arguments).await;
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
    assert_eq!(log(&app).await, []);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_a_project_may_store_is_shown_and_changed(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    fine(&pool, &["projects", "create", "bank", "--title", "Retail bank"]).await;
    let shown = fine(&pool, &["projects", "show", "bank"]).await;
    assert!(shown.contains("stored                    0 B, at most 200.0 GiB"), "{shown}");
    let limit = ["projects", "limit", "bank", "--bytes", "1.5GiB", "--conversations", "none", "--rows", "40000000"];
    let changed = fine(&pool, &limit).await;
    for line in [
        "stored                    0 B, at most 1.5 GiB",
        "conversations of one run  no limit",
        "rows of one run           at most 40000000",
        "size of one export        at most 100.0 GiB",
    ] {
        assert!(changed.contains(line), "{changed}");
    }
    assert_eq!(fine(&pool, &["projects", "show", "bank"]).await, changed);
    for (flag, value, told) in [
        ("--bytes", "much", "expected a size like 500 MiB or 1.5 GiB, not `much`"),
        ("--bytes", "0", "must be more than 0; `none` means no limit"),
        ("--conversations", "5.5", "expected a whole number, or `none`"),
    ] {
        let said = refused(&pool, &["projects", "limit", "bank", flag, value]).await;
        assert!(said.contains(told), "{said}");
    }
    let said = refused(&pool, &["projects", "limit", "bank"]).await;
    assert!(said.contains("--bytes <SIZE>"), "one of them is needed: {said}");
    refused(&pool, &["projects", "show", "none"]).await;
    let log = log(&app).await;
    assert_eq!(log, [by_command("projects create", "bank"), by_command("projects limit", "bank")]);
}
