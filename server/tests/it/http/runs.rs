//! /api/v1/runs

use domain::api::{Page, RunSummary, UsageSummary};
use domain::role::Role;
use reqwest::StatusCode;
use sqlx::PgPool;
use store::control;

use super::TestApp;
use crate::support::endpoint::{Endpoint, nobody, says};
use crate::support::logged::Logged;
use crate::support::play::{HANDOVER, HELP, planned, planned_as, play_all, played};

#[sqlx::test(migrations = "../migrations")]
async fn the_runs_of_a_project_newest_first(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let list = "/api/v1/projects/default/runs";
    assert_eq!(app.json::<Page<RunSummary>>(list).await, Page { items: Vec::new(), next: None });
    let first = played(&pool, &[HELP, HANDOVER], 3, -4, &[]).await;
    let second = planned(&pool, &[HELP], 2, 1, &[]).await;

    let page: Page<RunSummary> = app.json(&format!("{list}?limit=1")).await;
    let [latest] = &page.items[..] else { panic!("one") };
    assert_eq!((latest.id.clone(), latest.planned, latest.finished), (second.control.run.id.to_string(), 2, 0));
    let rest: Page<RunSummary> = app.json(&format!("{list}?limit=1&after={}", page.next.unwrap())).await;
    assert_eq!((rest.items[0].id.clone(), rest.next), (first.control.run.id.to_string(), None));
    let run: RunSummary = app.json(&format!("/api/v1/runs/{}", first.control.run.id)).await;
    assert_eq!((run.playbook.as_str(), run.seed), ("retail_bank", -4));
    assert_eq!((run.planned, run.finished, run.accepted, run.failures.len()), (3, 3, 3, 0));
}

#[sqlx::test(migrations = "../migrations")]
async fn failures_are_counted_by_blame(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 2, 1, &[(Role::Agent, nobody())]).await;
    let run: RunSummary = app.json(&format!("/api/v1/runs/{}", player.control.run.id)).await;
    assert_eq!((run.finished, run.accepted), (2, 0));
    assert_eq!(run.failures, [("infrastructure".to_owned(), 2)].into());
}

#[sqlx::test(migrations = "../migrations")]
async fn a_page_says_of_each_run_what_the_run_says_in_as_many_statements_as_for_one(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    played(&pool, &[HELP, HANDOVER], 3, 1, &[]).await;
    played(&pool, &[HELP], 2, 2, &[(Role::Agent, nobody())]).await;
    let user = Endpoint::start(|_| says("Agent: hello")).await;
    let models = [(Role::SimulatedUser, user.model())];
    let again = planned_as(&pool, &[HELP], 4, 3, &models, |config| config.retries = 1).await;
    play_all(again, 4).await;
    let cancelled = planned(&pool, &[HELP], 5, 4, &[]).await;
    control::cancel(&mut pool.acquire().await.unwrap(), cancelled.control.run.id).await.unwrap();
    planned(&pool, &[HELP], 6, 5, &[]).await;

    let logged = Logged::watch();
    let list = "/api/v1/projects/default/runs";
    let one: Page<RunSummary> = app.json(&format!("{list}?limit=1")).await;
    let all: Page<RunSummary> = app.json(list).await;
    assert_eq!((one.items.len(), all.items.len()), (1, 5));
    // The least of a few: what is done in the background makes statements, too.
    let least = async |path: &str| {
        let mut least = usize::MAX;
        for _ in 0..3 {
            let before = logged.statements();
            let _: Page<RunSummary> = app.json(path).await;
            least = least.min(logged.statements() - before);
        }
        least
    };
    let for_one = least(&format!("{list}?limit=1")).await;
    assert_eq!(least(list).await, for_one, "as many for five runs as for one");
    assert!(for_one > 0);

    let said = |run: &RunSummary| {
        let model = |usage: &UsageSummary| usage.model.split('@').next().unwrap().to_owned();
        let asked: Vec<String> =
            run.usage.iter().map(|own| format!("{} {} {}", own.role, model(own), own.calls)).collect();
        format!(
            "{} of {} {:?}, accepted {}, failed {:?}, played again {:?}, asked {asked:?}",
            run.finished, run.planned, run.state, run.accepted, run.failures, run.played_again
        )
    };
    insta::assert_snapshot!(all.items.iter().map(said).collect::<Vec<_>>().join("\n"), @r#"
    0 of 6 Running, accepted 0, failed {}, played again {}, asked []
    0 of 5 Cancelled, accepted 0, failed {}, played again {}, asked []
    4 of 4 Finished, accepted 0, failed {"simulated_user": 4}, played again {"simulated_user": 4}, asked ["simulated_user test-model 24"]
    2 of 2 Finished, accepted 0, failed {"infrastructure": 2}, played again {}, asked ["agent test-model 2", "simulated_user scripted 2"]
    3 of 3 Finished, accepted 3, failed {}, played again {}, asked ["agent scripted 7", "judge scripted 3", "simulated_user scripted 7", "tool_simulator scripted 2"]
    "#);
    for run in all.items {
        assert_eq!(app.json::<RunSummary>(&format!("/api/v1/runs/{}", run.id)).await, run);
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn unknown_runs(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for (id, says) in [
        ("0199fe00-0000-7000-8000-000000000000", "there is no run "),
        ("newest", "there is no run "),
        ("%00", "there is nothing at /runs/%00"),
    ] {
        for path in [format!("/api/v1/runs/{id}"), format!("/api/v1/runs/{id}/conversations")] {
            let detail = app.problem(&path, StatusCode::NOT_FOUND).await;
            assert!(detail.starts_with(says), "{detail}");
        }
    }
}
