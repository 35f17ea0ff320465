//! Runs that are cancelled.

use domain::api::RunState;
use serde_json::json;
use sqlx::PgPool;
use store::StoreError;
use store::claims::{self, ClaimRequest};
use store::control::{self, ControlError};
use store::players;

use crate::support::endpoint::{Act, Endpoint};
use crate::support::kind::Spec;
use crate::support::outside::{answer, waiting};
use crate::support::play::{KINDS, LEASE, planned, start, stopped, summary};
use crate::support::until;

#[sqlx::test(migrations = "../../migrations")]
async fn a_run_is_cancelled_for_good_whatever_it_waits_for(pool: PgPool) {
    // Nobody would wait for these calls.
    let endpoint = Endpoint::start(|prompt| if prompt.contains("task 0,") { Act::Answer } else { Act::Hold }).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), 30).await;
    let mut db = pool.acquire().await.unwrap();
    let playing = start(&pool, run, 3).await;
    until("one task waits outside, two for a model", async || {
        waiting(&pool).await.len() == 2 && endpoint.in_flight() == 8
    })
    .await;
    let open = waiting(&pool).await;
    control::cancel(&mut db, run).await.unwrap();
    stopped(playing).await;
    assert_eq!(summary(&pool, run).await.state, RunState::Cancelled);
    until("the calls are given up", async || endpoint.in_flight() == 0).await;
    let asked = endpoint.asked();
    assert_eq!(waiting(&pool).await, [], "nobody outside is kept busy");
    for request in &open {
        assert!(!answer(&pool, request, &json!(1)).await, "nobody wants the answer");
    }
    for change in [control::resume(&mut db, run).await, control::retry_failed(&mut db, run).await.map(drop)] {
        assert!(matches!(change, Err(StoreError::Refused(ControlError::Cancelled))));
    }
    let player = players::register(&mut db, "here", 1, LEASE).await.unwrap();
    assert_eq!(
        claims::claim(&mut db, player, &ClaimRequest { kinds: &KINDS, most: 8, ..ClaimRequest::default() })
            .await
            .unwrap(),
        None,
        "nobody plays it"
    );
    assert_eq!(endpoint.asked(), asked);
}
