//! What the library and the database refuse.

use ::projects::library::{Files, Library};
use generation::run::Terms;
use sqlx::PgPool;
use store::journal::{self, Completion, EncodedEvents, JournalEntry, Writer};
use store::{StoreError, players, projects};

use crate::support::play::{HELP, LEASE, TRANSFER, played, stored, stories};
use crate::support::{ledger, project};

const FILE: &str = "scenarios/retail_bank/transfer_rent_to_payee.yaml";

/// What is said of the shipped documents when one of them is changed.
fn problems(from: &str, to: &str) -> Vec<String> {
    let mut files = Files::read(&project()).unwrap();
    let text = files.get(FILE).unwrap();
    assert!(text.contains(from), "{FILE} has no `{from}` any more");
    let text = text.replacen(from, to, 1);
    files.insert(FILE, text);
    let problems = Library::assemble(files).err().unwrap();
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn user_facts_that_contradict_the_system_facts() {
    let found = problems("date_of_birth: 1991-12-19", "date_of_birth: 1991-12-18");
    insta::assert_snapshot!(found.join("\n"), @"scenarios/retail_bank/transfer_rent_to_payee.yaml:10: user_facts.date_of_birth: the user is said to know `1991-12-18`, which is not in the records; a choice of the user belongs in user_request, a false belief in user_mistakes");
}

#[test]
fn system_facts_that_the_script_does_not_fit() {
    let found = problems("balance: 1823.12", "balance: 12.00");
    insta::assert_snapshot!(found.join("\n"), @"scenarios/retail_bank/transfer_rent_to_payee.yaml:51: expected_outcome: the script does not reach it: infrastructure: undefined value: `calls.make_transfer` is undefined (in <string>:1); `make_transfer` answered `Error: Insufficient funds: 512.00 is available on acc_2008.`");
}

#[sqlx::test(migrations = "../migrations")]
async fn events_and_finished_conversations_cannot_be_rewritten(pool: PgPool) {
    let player = played(&pool, &[HELP], 1, 1, &[]).await;
    let update = sqlx::query("UPDATE events SET event = '{}'").execute(&pool).await;
    assert_eq!(update.unwrap_err().as_database_error().unwrap().message(), "rows of events are only appended");

    let story = &stories(&player).await[0];
    let mut db = pool.acquire().await.unwrap();
    let writer = Writer { player: players::register(&mut db, "here", 1, LEASE).await.unwrap(), number: 0 };
    let entry = JournalEntry {
        run: player.control.run.id,
        judging: player.control.run.judging,
        kind: "conversation",
        planned: story.planned.clone().into(),
        world: Some("".into()),
        begins: false,
        events: EncodedEvents::encode(&story.events[2..3], |event| event.seq).unwrap(),
        completion: None,
        usage: Vec::new(),
        answered: Vec::new(),
        opened: Vec::new(),
        is_told: false,
    };
    let error = journal::commit(&mut db, writer, &[&entry], player.control.run.created_at).await.unwrap_err();
    assert!(error.to_string().contains("events_pkey"), "{error}");
    // Should the answer to a commit have been lost, that is how it is found out.
    assert!(error.is_twice() && !error.is_outage());
    assert!(journal::were_kept(&mut db, &[&entry]).await.unwrap());
    assert_eq!(stories(&player).await[0].events, story.events);

    // A second end without events breaks no unique key, so it has to be refused by itself.
    let ended = Completion {
        failure: None,
        keep_through: None,
        conversation: None,
        judged: None,
        metrics: None,
        seconds: None,
        retry: None,
        asked_outside: false,
    };
    let entry = JournalEntry { events: EncodedEvents::default(), completion: Some(ended), ..entry };
    let error = journal::commit(&mut db, writer, &[&entry], player.control.run.created_at).await.unwrap_err();
    assert!(matches!(error, StoreError::EndedAlready) && error.is_twice() && !error.is_outage(), "{error}");
    assert!(journal::were_kept(&mut db, &[&entry]).await.unwrap());
    ledger::check(&pool, player.control.run.id).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_that_cannot_be_stored_whole_is_not_stored_at_all(pool: PgPool) {
    let played = played(&pool, &[HELP], 1, 1, &[]).await;
    let mut config = played.kind.config.clone();
    config.scenarios = vec![TRANSFER.to_owned(), "no_such_scenario".to_owned()];
    let terms = Terms {
        playbook: "retail_bank".to_owned(),
        seed: 1,
        planned: 2,
        project: projects::DEFAULT,
        ..Terms::default()
    };
    let created = stored(&pool, &played.kind.library, &config, terms).await;
    assert!(created.is_err());
    let runs: i64 = sqlx::query_scalar("SELECT count(*) FROM runs").fetch_one(&pool).await.unwrap();
    assert_eq!(runs, 1);
}
