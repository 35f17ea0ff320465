//! A project's folders and its documents elsewhere, brought to the same state.

use std::path::Path;

use ::projects::documents;
use ::projects::library::Files;
use reqwest::StatusCode;
use sqlx::PgPool;
use store::projects;
use tempfile::TempDir;

use super::{CommandOutput, database_url, groundstate, said};
use crate::http::{TestApp, rows};
use crate::support::documents::{few, scenario};

const HELP: &str = "scenarios/retail_bank/help_card_abroad.yaml";

/// A folder with a small project.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in few() {
        write(dir.path(), &path, &text);
    }
    dir
}

fn write(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(dir: &Path) -> Files {
    Files::read(dir).unwrap()
}

/// What `sync` says in a folder, with the test's database.
async fn sync(dir: &Path, pool: &PgPool, arguments: &str) -> CommandOutput {
    let mut command = groundstate(["sync"]);
    command.args(arguments.split_whitespace()).arg("--database-url").arg(database_url(pool)).current_dir(dir);
    said(&mut command).await
}

async fn done(dir: &Path, pool: &PgPool, arguments: &str) -> String {
    let said = sync(dir, pool, arguments).await;
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    said.stdout
}

async fn there(pool: &PgPool) -> Files {
    documents::files(pool, projects::DEFAULT).await.unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn folders_are_pushed_and_pulled(pool: PgPool) {
    let (here, other) = (folder(), tempfile::tempdir().unwrap());
    let pushed = done(here.path(), &pool, "--push --message first").await;
    assert!(pushed.ends_with("13 documents were changed, 0 are unchanged\n"), "{pushed}");
    assert_eq!(there(&pool).await, few());
    insta::assert_snapshot!(done(here.path(), &pool, "").await, @"
    . and the project default of the database
    are the same
    ");
    done(other.path(), &pool, "--pull").await;
    assert_eq!(read(other.path()), few());

    write(other.path(), HELP, &format!("{}# changed\n", few().get(HELP).unwrap()));
    std::fs::remove_file(other.path().join(scenario("bereavement_handover"))).unwrap();
    write(
        other.path(),
        "personas/profiles/mine.yaml",
        &few().get("personas/profiles/newcomer.yaml").unwrap().replace("newcomer", "mine"),
    );
    insta::assert_snapshot!(done(other.path(), &pool, "").await, @"
    . and the project default of the database
      only here personas/profiles/mine.yaml
      only there scenarios/retail_bank/bereavement_handover.yaml
      changed  scenarios/retail_bank/help_card_abroad.yaml
    --push makes a new version there of each document that differs, --pull changes the files here
    ");
    insta::assert_snapshot!(done(other.path(), &pool, "--push --delete --dry-run").await, @"
    . and the project default of the database
      new      personas/profiles/mine.yaml
      deleted  scenarios/retail_bank/bereavement_handover.yaml
      changed  scenarios/retail_bank/help_card_abroad.yaml
    changed scenario help_card_abroad: version 2
    added persona mine: version 1
    deleted scenario bereavement_handover: version 2
    3 documents would be changed, 11 are unchanged
    ");
    assert_eq!(there(&pool).await, few(), "a dry run changes nothing");
    insta::assert_snapshot!(done(other.path(), &pool, "--push").await, @"
    . and the project default of the database
      new      personas/profiles/mine.yaml
      only there scenarios/retail_bank/bereavement_handover.yaml
      changed  scenarios/retail_bank/help_card_abroad.yaml
    changed scenario help_card_abroad: version 2
    added persona mine: version 1
    2 documents were changed, 11 are unchanged
    ");
    insta::assert_snapshot!(done(other.path(), &pool, "--push --delete").await, @"
    . and the project default of the database
      deleted  scenarios/retail_bank/bereavement_handover.yaml
    deleted scenario bereavement_handover: version 2
    1 documents were changed, 13 are unchanged
    ");
    assert_eq!(there(&pool).await, read(other.path()));
    insta::assert_snapshot!(done(here.path(), &pool, "--pull --delete --dry-run").await, @"
    . and the project default of the database
      new      personas/profiles/mine.yaml
      deleted  scenarios/retail_bank/bereavement_handover.yaml
      changed  scenarios/retail_bank/help_card_abroad.yaml
    nothing was written: --dry-run
    ");
    assert_eq!(read(here.path()), few());
    insta::assert_snapshot!(done(here.path(), &pool, "--pull --delete").await, @"
    . and the project default of the database
      new      personas/profiles/mine.yaml
      deleted  scenarios/retail_bank/bereavement_handover.yaml
      changed  scenarios/retail_bank/help_card_abroad.yaml
    2 files written, 1 removed
    ");
    assert_eq!(read(here.path()), read(other.path()));
    let audited: i64 = sqlx::query_scalar("SELECT count(*) FROM audit_log WHERE action = 'sync --push'")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(audited, 3);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_not_sound_is_not_pushed(pool: PgPool) {
    let here = folder();
    let broken = few().get(HELP).unwrap().replace("intent: general_help", "intent: general_halp");
    write(here.path(), HELP, &broken);
    let refused = sync(here.path(), &pool, "--push").await;
    assert_eq!(refused.code, Some(2));
    insta::assert_snapshot!(refused.stderr, @"
    scenarios/retail_bank/help_card_abroad.yaml:3: intent: `general_halp` is not an intent of the playbook (did you mean `general_help`?)
    1 problem found; nothing was done
    ");
    assert!(there(&pool).await.is_empty());
    let drafts = done(here.path(), &pool, "--push --drafts").await;
    assert!(drafts.contains("added scenario help_card_abroad: version 1, a draft"), "{drafts}");
    assert!(there(&pool).await.is_empty(), "drafts are not used");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_cannot_be_done(pool: PgPool) {
    let (here, empty) = (folder(), tempfile::tempdir().unwrap());
    let mut all = String::new();
    all += &sync(here.path(), &pool, "--push --to nowhere").await.stderr;
    all += &sync(empty.path(), &pool, "--push").await.stderr;
    all += &sync(here.path(), &pool, "--push --server http://example.com").await.stderr;
    all += &sync(here.path(), &pool, "--push --server http://127.0.0.1:9 --token-env NO_SUCH_TOKEN").await.stderr;
    write(here.path(), "scenarios/retail_bank/Notes.md", "x");
    all += &sync(here.path(), &pool, "--push").await.stderr;
    insta::assert_snapshot!(all, @"
    --to: there is no project `nowhere`; known: default
    1 problem found; nothing was done
    .: is not a project: it has no folder `playbooks` and no folder `workflows`; run from a project or name one with --project
    1 problem found; nothing was done
    --server: would send the token unencrypted; use https
    1 problem found; nothing was done
    --token-env: the environment variable NO_SUCH_TOKEN holds no token
    1 problem found; nothing was done
    scenarios/retail_bank/Notes.md: is not a scenario: expected a file `NAME.yaml`
    1 problem found; nothing was done
    ");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_server_is_as_good_as_a_database(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let (here, other) = (folder(), tempfile::tempdir().unwrap());
    let ask = async |dir: &Path, arguments: &str, token: &str| {
        let mut command = groundstate(["sync", "--server", &app.url]);
        command.args(arguments.split_whitespace()).env("GROUNDSTATE_TOKEN", token).current_dir(dir);
        said(&mut command).await
    };
    let token = app.token();
    let pushed = ask(here.path(), "--push", token).await;
    assert_eq!((pushed.code, pushed.stderr.as_str()), (Some(0), ""));
    assert!(pushed.stdout.ends_with("13 documents were changed, 0 are unchanged\n"), "{}", pushed.stdout);
    let pulled = ask(other.path(), "--pull", token).await;
    assert_eq!((pulled.code, read(other.path())), (Some(0), few()));

    write(here.path(), HELP, &few().get(HELP).unwrap().replace("intent: general_help", "intent: general_halp"));
    let refused = ask(here.path(), "--push", token).await;
    assert_eq!(refused.code, Some(2));
    insta::assert_snapshot!(refused.stderr, @"
    scenarios/retail_bank/help_card_abroad.yaml:3: intent: `general_halp` is not an intent of the playbook (did you mean `general_help`?)
    1 problem found; nothing was done
    ");
    let unknown = ask(here.path(), "--push --to nowhere", token).await;
    assert_eq!(unknown.code, Some(2));
    insta::assert_snapshot!(unknown.stderr, @"
    --server: not found: there is no project nowhere
    1 problem found; nothing was done
    ");
    let stranger = ask(here.path(), "", "gs_nobody").await;
    assert_eq!(stranger.code, Some(2));
    insta::assert_snapshot!(stranger.stderr, @"
    --server: unauthorized: sign in, or send a token: `Authorization: Bearer gs_...`
    1 problem found; nothing was done
    ");
    assert_eq!(app.status("/api/v1/projects/default/archive").await, StatusCode::OK);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_missing_is_added_and_the_rest_stays(pool: PgPool) {
    let (here, other) = (folder(), folder());
    std::fs::remove_file(other.path().join(scenario("bereavement_handover"))).unwrap();
    write(other.path(), HELP, &format!("{}# mine\n", few().get(HELP).unwrap()));
    done(other.path(), &pool, "--push").await;
    insta::assert_snapshot!(done(here.path(), &pool, "--push --missing").await, @r"
    . and the project default of the database
    added scenario bereavement_handover: version 1
    1 documents were changed, 0 are unchanged
    ");
    let mut expected = read(other.path());
    let added = scenario("bereavement_handover");
    expected.insert(&added, few().get(&added).unwrap().clone());
    assert_eq!(there(&pool).await, expected);
    insta::assert_snapshot!(done(here.path(), &pool, "--push --missing").await, @r"
    . and the project default of the database
    0 documents were changed, 0 are unchanged
    ");
    let both = sync(here.path(), &pool, "--push --missing --delete").await;
    assert_eq!(both.code, Some(2));
}

#[sqlx::test(migrations = "../migrations")]
async fn workflows_are_synchronised_as_all_documents_are(pool: PgPool) {
    let (here, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (path, text) in rows::documents() {
        write(here.path(), &path, &text);
    }
    let pushed = done(here.path(), &pool, "--push").await;
    assert!(pushed.contains("added workflow questions: version 1\n"), "{pushed}");
    done(other.path(), &pool, "--pull").await;
    assert_eq!(read(other.path()), rows::documents());
    std::fs::remove_dir_all(other.path().join("workflows")).unwrap();
    let pushed = done(other.path(), &pool, "--push --delete").await;
    assert!(
        pushed.ends_with("deleted workflow questions: version 2\n1 documents were changed, 13 are unchanged\n"),
        "{pushed}"
    );
    assert_eq!(there(&pool).await, few());
}
