//! A new playbook is sound from its first moment.

use std::path::Path;

use sqlx::PgPool;
use tempfile::TempDir;
use tokio::process::Command;

use crate::cli::{CommandOutput, Project, database_url, groundstate, said};

fn empty() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn within(dir: &Path, arguments: &str) -> Command {
    let mut command = groundstate(arguments.split_whitespace());
    command.current_dir(dir);
    command
}

async fn run(dir: &Path, arguments: &str) -> CommandOutput {
    said(&mut within(dir, arguments)).await
}

/// What is said of a name that is refused, and that nothing was written.
async fn refused(name: &str) -> String {
    let dir = empty();
    let said = said(groundstate(["playbook", "new", name]).current_dir(dir.path())).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.stderr);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is written");
    said.stderr
}

#[tokio::test]
async fn names_that_are_none() {
    let mut all = String::new();
    for name in ["", "Bakery", "2nd", "../bank", "my-bank", "bäckerei", &"a".repeat(61)] {
        all += &refused(name).await;
    }
    insta::assert_snapshot!(all, @"
    NAME: `` is not a name: expected a lower-case letter, then lower-case letters, digits and `_`
    1 problem found; nothing was done
    NAME: `Bakery` is not a name: expected a lower-case letter, then lower-case letters, digits and `_`
    1 problem found; nothing was done
    NAME: `2nd` is not a name: expected a lower-case letter, then lower-case letters, digits and `_`
    1 problem found; nothing was done
    NAME: `../bank` is not a name: expected a lower-case letter, then lower-case letters, digits and `_`
    1 problem found; nothing was done
    NAME: `my-bank` is not a name: expected a lower-case letter, then lower-case letters, digits and `_`
    1 problem found; nothing was done
    NAME: `bäckerei` is not a name: expected a lower-case letter, then lower-case letters, digits and `_`
    1 problem found; nothing was done
    NAME: is 61 letters long; at most 60
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn nothing_is_overwritten() {
    let project = Project::new();
    let said = said(&mut project.groundstate("playbook new retail_bank")).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(said.stderr, @"
    playbooks/retail_bank: exists already; nothing is overwritten
    scenarios/retail_bank: exists already; nothing is overwritten
    2 problems found; nothing was done
    ");
    let dir = empty();
    std::fs::write(dir.path().join("playbooks"), "").unwrap();
    std::fs::create_dir_all(dir.path().join("scenarios/bakery")).unwrap();
    let said = run(dir.path(), "playbook new bakery --project .").await;
    assert_eq!(said.code, Some(2));
    insta::assert_snapshot!(said.stderr, @"
    scenarios/bakery: exists already; nothing is overwritten
    playbooks: is not a folder
    2 problems found; nothing was done
    ");
}

#[tokio::test]
async fn folders_without_what_they_are_for() {
    let dir = empty();
    std::fs::create_dir(dir.path().join("judges")).unwrap();
    let said = run(dir.path(), "playbook new bakery").await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(said.stderr, @"
    judges: holds no judge; remove the folder and it will be written
    1 problem found; nothing was done
    ");
    std::fs::create_dir(dir.path().join("personas")).unwrap();
    let said = run(dir.path(), "playbook new bakery").await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(said.stderr, @"
    personas: holds no model.yaml; remove the folder and it will be written
    1 problem found; nothing was done
    ");
}

#[sqlx::test(migrations = "../migrations")]
async fn an_empty_folder_becomes_a_project_that_plays(pool: PgPool) {
    let dir = empty();
    let made = run(dir.path(), "playbook new bakery").await;
    assert_eq!((made.code, made.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(made.stdout, @r#"
    wrote judges/default/judge.yaml
    wrote judges/default/prompt.md.j2
    wrote personas/model.yaml
    wrote personas/profiles/busy_professional.yaml
    wrote personas/profiles/careful_pensioner.yaml
    wrote personas/profiles/easygoing_traveller.yaml
    wrote personas/profiles/newcomer.yaml
    wrote personas/profiles/sceptical_customer.yaml
    wrote personas/profiles/small_business_owner.yaml
    wrote personas/profiles/student_on_a_budget.yaml
    wrote personas/profiles/worried_parent.yaml
    wrote playbooks/bakery/base_world.yaml
    wrote playbooks/bakery/playbook.yaml
    wrote playbooks/bakery/policy.md
    wrote playbooks/bakery/prompt.md.j2
    wrote playbooks/bakery/tools.star
    wrote playbooks/bakery/world.schema.yaml
    wrote scenarios/bakery/bakery_first.yaml

    It can be played as it is. Try:
      groundstate validate
      groundstate playbook try get_order --playbook bakery --args '{"order_id": "ord_1001"}'
      groundstate generate --playbook bakery --n 4
    Then change playbooks/bakery and scenarios/bakery, and after each change:
      groundstate playbook check bakery
    "#);
    let validated = run(dir.path(), "validate").await;
    assert_eq!((validated.code, validated.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(validated.stdout, @"1 playbooks, 1 scenarios (each proved solvable), 8 persona profiles, 1 judges: no problem found");
    let checked = run(dir.path(), "playbook check --strict").await;
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), "1 playbook checked: 0 errors, 0 warnings\n"));
    let mut generate = within(dir.path(), "generate --playbook bakery --n 4");
    let generated = said(generate.env("DATABASE_URL", database_url(&pool))).await;
    assert_eq!(generated.code, Some(0), "{}", generated.stderr);
    assert!(generated.stdout.contains("accepted     4 of 4"), "{}", generated.stdout);
}

#[tokio::test]
async fn a_second_playbook_keeps_what_the_project_has() {
    let project = Project::new();
    std::fs::rename(project.join("judges/default"), project.join("judges/own")).unwrap();
    project.edit("judges/own/judge.yaml", "name: default", "name: own");
    project.edit("playbooks/retail_bank/playbook.yaml", "judge: default", "judge: own");
    for name in ["bakery", "bakery_2"] {
        let said = said(&mut project.groundstate(&format!("playbook new {name}"))).await;
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert!(!said.stdout.contains("personas/") && !said.stdout.contains("judges/"), "{}", said.stdout);
    }
    let said = said(&mut project.groundstate("validate")).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.starts_with("3 playbooks, 26 scenarios"), "{}", said.stdout);
}
