//! Users with tools, sub-agents and faults are in episodes what they are in runs.

use std::sync::Arc;

use domain::api::episodes::{Episode, EpisodeState};
use domain::event::{Event, EventKind};
use domain::fault::{FaultKind, FaultRule};
use domain::outcome::Outcome;
use domain::persona::Complexity;
use projects::archive::pack;
use projects::library::{Files, Library};
use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{SEED, events_of, opened, say, words};
use crate::http::TestApp;
use crate::http::answers::player;
use crate::http::archive::put;
use crate::support::play::{planned_of, play_all};
use crate::support::project;

/// The user looks at a phone, and an answer is cut off.
const REFUEL: (&str, &str) = ("telecom_support", "refuel_answer_cut_off");
/// The user looks at a phone, and a call times out.
const TICKET: (&str, &str) = ("telecom_support", "ticket_for_dropped_calls");
/// A sub-agent meets an error of the backend.
const SPENDING: (&str, &str) = ("crm_assistant", "spend_overview_backend_error");
/// May be the user of all of them. It answers what it is asked.
const PERSONA: &str = "careful_pensioner";

fn documents() -> Files {
    let all = Files::read(&project()).unwrap();
    let folders = ["playbooks/telecom_support", "playbooks/crm_assistant", "personas", "judges"];
    let mut files = Files::default();
    for (path, text) in folders.into_iter().flat_map(|folder| all.under(folder)) {
        files.insert(path, text.clone());
    }
    for (playbook, scenario) in [REFUEL, TICKET, SPENDING] {
        let path = format!("scenarios/{playbook}/{scenario}.yaml");
        files.insert(&path, all.get(&path).unwrap().clone());
    }
    files
}

fn meets(event: &Event, wanted: FaultKind) -> bool {
    matches!(event.kind, EventKind::ToolAnswered { fault: Some(kind), .. } if kind == wanted)
}

/// A scenario as its script plays it in a run: its events.
async fn played(pool: &PgPool, library: &Arc<Library>, of: (&str, &str), faults: &[FaultRule]) -> Vec<Event> {
    let (playbook, scenario) = of;
    let run = planned_of(pool, (Arc::clone(library), playbook), &[scenario], 1, SEED, &[], |config| {
        config.personas = vec![PERSONA.to_owned()];
        config.complexity = [(Complexity::Medium, 1.0)].into();
        config.faults = faults.to_vec();
    })
    .await;
    let id = play_all(run, 4).await.control.run.id;
    let task = sqlx::query_scalar("SELECT id FROM tasks WHERE run_id = $1").bind(id).fetch_one(pool).await.unwrap();
    events_of(pool, task).await
}

#[sqlx::test(migrations = "../migrations")]
async fn the_same_words_make_the_same_conversation_as_in_a_run(pool: PgPool) {
    let (app, files) = (TestApp::start(&pool).await, documents());
    let _: Value = put(&app, "", pack(&files).unwrap(), StatusCode::OK).await;
    let library = Arc::new(Library::assemble_proved(files).ok().unwrap());
    let _player = player(&pool, 4);
    let user_acts: fn(&EventKind) -> bool = |kind| matches!(kind, EventKind::UserActed { .. });
    let delegates: fn(&EventKind) -> bool = |kind| matches!(kind, EventKind::Delegated { .. });
    let more =
        FaultRule { kind: FaultKind::RateLimit, tools: vec!["get_line".to_owned()], calls: vec![1], probability: None };
    for (of, faults, acts, met) in [
        (REFUEL, vec![], user_acts, vec![FaultKind::TruncatedBody]),
        (SPENDING, vec![], delegates, vec![FaultKind::ServerError]),
        (TICKET, vec![more], user_acts, vec![FaultKind::Timeout, FaultKind::RateLimit]),
    ] {
        let expected = played(&pool, &library, of, &faults).await;
        assert!(expected.iter().any(|event| acts(&event.kind)), "{of:?}: {expected:?}");
        for kind in met {
            assert!(expected.iter().any(|event| meets(event, kind)), "{of:?}: {kind}: {expected:?}");
        }
        let (playbook, scenario) = of;
        let environment = json!({
            "playbooks": [playbook], "personas": [PERSONA], "complexity": {"medium": 1.0}, "seed": SEED, "faults": faults,
        });
        let order = json!({"environment": environment, "scenario": scenario, "group": 0});
        let episode = opened(&app, &order).await;
        let last: Episode = say(&app, &episode, words(&expected)).await;
        assert_eq!(last.state, EpisodeState::Ended, "{of:?}: {last:?}");
        assert_eq!(events_of(&pool, episode.id.parse().unwrap()).await, expected, "{of:?}");
        let EventKind::Finished { outcome } = &expected.last().unwrap().kind else { panic!("{expected:?}") };
        let (accepted, reward) = (*outcome == Outcome::Accepted, last.result.unwrap().reward);
        assert_eq!(accepted, reward == Some(1), "{of:?}: {outcome:?}");
        // The script of a scenario knows of its own faults.
        assert!(accepted || !faults.is_empty(), "{of:?}: {outcome:?}");
    }
}
