//! /metrics, /healthz and /readyz, and the dashboard that reads the figures.

use std::collections::BTreeSet;

use domain::role::Role;
use reqwest::StatusCode;
use sqlx::PgPool;

use super::TestApp;
use crate::support::endpoint::Endpoint;
use crate::support::play::{HELP, played};
use crate::support::{agent, project};

/// Names of our figures in a text.
fn names(text: &str) -> BTreeSet<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !word(c)).filter(|word| word.starts_with("groundstate_"));
    // Histograms come as three series.
    let base = |name: &str| {
        ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
    };
    words.map(base).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn every_figure_of_the_dashboard_is_one_that_we_give(pool: PgPool) {
    server::telemetry::count().unwrap();
    let app = TestApp::start(&pool).await;
    let endpoint = Endpoint::start(agent::help).await;
    played(&pool, &[HELP], 2, 1, &[(Role::Agent, endpoint.model())]).await;
    let figures = app.text("/metrics").await;
    let dashboard = std::fs::read_to_string(project().join("deploy/grafana/groundstate.json")).unwrap();
    // Nothing of the kind has happened here.
    let rare = [
        "groundstate_players_given_up_total",
        "groundstate_database_outages_total",
        "groundstate_answer_seconds",
        "groundstate_answer_first_item_seconds",
    ];
    let rare = rare.map(str::to_owned).into();
    let missing: Vec<String> = names(&dashboard).difference(&(&names(&figures) | &rare)).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}\n{figures}");
    for line in [
        "groundstate_tasks_ended_total{kind=\"conversation\",outcome=\"accepted\"} 2",
        "groundstate_runs{state=\"finished\"} 1",
        "groundstate_tasks_waiting 0",
    ] {
        assert!(figures.lines().any(|own| own == line), "{line}\n{figures}");
    }
}

/// The figures of a server and of the player that it keeps.
#[test]
fn the_same_series_is_one() {
    let server = "# TYPE calls counter\ncalls{model=\"a\"} 2\n\n# TYPE wait_seconds histogram\n\
                  wait_seconds_bucket{le=\"1\"} 1\nwait_seconds_sum 0.5\nwait_seconds_count 1\n\n# TYPE runs gauge\nruns 3\n";
    let player = "# TYPE wait_seconds histogram\nwait_seconds_bucket{le=\"1\"} 4\nwait_seconds_sum 1.25\n\
                  wait_seconds_count 4\n\n# TYPE calls counter\ncalls{model=\"a\"} 1\ncalls{model=\"b\"} 7\n";
    insta::assert_snapshot!(server::telemetry::merged(&[server.to_owned(), player.to_owned()]), @r#"
    # TYPE calls counter
    calls{model="a"} 3
    calls{model="b"} 7

    # TYPE wait_seconds histogram
    wait_seconds_bucket{le="1"} 5
    wait_seconds_sum 1.75
    wait_seconds_count 5

    # TYPE runs gauge
    runs 3
    "#);
}

#[sqlx::test(migrations = "../migrations")]
async fn ready_as_long_as_the_database_answers(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    assert_eq!(app.status("/readyz").await, StatusCode::OK);
    assert_eq!(app.status("/healthz").await, StatusCode::OK);
    pool.close().await;
    assert_eq!(app.status("/readyz").await, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(app.status("/healthz").await, StatusCode::OK);
}
