//! Players that were given up: nothing that they do counts any more.

use std::time::Duration;

use domain::task::OutsideAnswer;
use runtime::RunKind;
use runtime::commit::{CommitError, CommitQueue};
use rustix::process::Signal;
use serde_json::json;
use sqlx::PgPool;
use store::claims::{self, ClaimRequest};
use store::events;
use store::journal::{EncodedEvents, JournalEntry};
use store::outside_requests::{self, OpenRequest};
use store::players;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::support::endpoint::{Act, Endpoint};
use crate::support::kind::{FanOut, Spec};
use crate::support::outside::{Outside, waiting};
use crate::support::play::{KINDS, attempts, check, clients, counted, get, kept, planned, play, start, stopped};
use crate::support::process;
use crate::support::task::{Event, EventKind};
use crate::support::{BOUND, until};

#[sqlx::test(migrations = "../../migrations")]
async fn a_commit_of_a_player_that_was_given_up_is_refused_and_another_goes_on(pool: PgPool) {
    let endpoint = Endpoint::start(|_| Act::Answer).await;
    let outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 1).await;
    let mut db = pool.acquire().await.unwrap();
    let stale = players::register(&mut db, "here", 1, Duration::from_millis(10)).await.unwrap();
    let claim = claims::claim(&mut db, stale, &ClaimRequest { kinds: &KINDS, most: 8, ..ClaimRequest::default() })
        .await
        .unwrap()
        .unwrap();
    assert_eq!(claim.positions(), 0..=0);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(players::give_up_overdue(&mut db).await.unwrap(), 1);

    let (given_up, mut writers) = (CancellationToken::new(), JoinSet::new());
    let queue = CommitQueue::start(&pool, stale, &given_up, &mut writers);
    let stored = get(&pool, run).await;
    let kind = FanOut::load(&pool, &stored, &clients()).await.unwrap();
    let entry = JournalEntry {
        run,
        judging: None,
        kind: FanOut::TASK,
        planned: kind.planned(&stored, 0).unwrap(),
        world: None,
        begins: true,
        events: EncodedEvents::encode(&[Event { seq: 0, kind: EventKind::Started }], FanOut::seq).unwrap(),
        completion: None,
        usage: Vec::new(),
        answered: Vec::new(),
        opened: Vec::new(),
        is_told: false,
    };
    let id = entry.planned.id;
    assert!(matches!(queue.commit(entry).await, Err(CommitError::GivenUp)));
    assert!(given_up.is_cancelled(), "the player is told");
    assert_eq!(events::of::<Event>(&mut db, id).await.unwrap(), []);
    claims::release(&mut db, stale, &claim).await.unwrap();
    assert!(
        !claims::done(&mut db, stale, claim.run_id, &[claim.first_position]).await.unwrap(),
        "its claim is another player's"
    );
    drop((queue, db));

    play(&pool, run, 4).await;
    check(&pool, run).await;
    assert_eq!(attempts(&pool, run).await[0].id, id, "the task is the same, whoever plays it");
    assert_eq!(outside.answered().await.len(), 2);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_player_that_froze_says_nothing_about_its_tasks_when_it_wakes(pool: PgPool) {
    let endpoint = Endpoint::start(|_| Act::Hold).await;
    let outside = Outside::start(&pool);
    let run = planned(&pool, &Spec::of(endpoint.model()), 3).await;
    let mut frozen = process::play(&pool, run);
    until("all questions are asked", async || endpoint.in_flight() == 12).await;
    process::send(&frozen, Signal::STOP);
    // The frozen player has its answers, too, when it wakes.
    endpoint.behave(|_| Act::Answer);
    play(&pool, run, 4).await;
    check(&pool, run).await;
    let before: Vec<_> = attempts(&pool, run).await.into_iter().map(|attempt| attempt.events).collect();
    process::send(&frozen, Signal::CONT);
    let exit = timeout(BOUND, frozen.wait()).await.expect("it finds nothing more to play").unwrap();
    assert!(exit.success(), "{exit}");
    check(&pool, run).await;
    let after: Vec<_> = attempts(&pool, run).await.into_iter().map(|attempt| attempt.events).collect();
    assert_eq!(after, before);
    assert_eq!(counted(&pool, run).await, kept(&pool, run).await.len(), "nor does its usage count");
    assert_eq!(outside.answered().await.len(), 6);
}

#[sqlx::test(migrations = "../../migrations")]
async fn nobody_outside_is_asked_for_a_task_that_has_ended(pool: PgPool) {
    let endpoint = Endpoint::start(|_| Act::Answer).await;
    let run = planned(&pool, &Spec::of(endpoint.model()), 1).await;
    let playing = start(&pool, run, 4).await;
    until("they are asked", async || waiting(&pool).await.len() == 2).await;
    let late: Vec<OpenRequest> = waiting(&pool).await;
    let _outside = Outside::start(&pool);
    stopped(playing).await;
    // As a player does that was frozen before it could ask, and does not know yet that it was given up.
    let mut db = pool.acquire().await.unwrap();
    let player = players::register(&mut db, "here", 1, BOUND).await.unwrap();
    for request in &late {
        outside_requests::open(&mut db, player, request).await.unwrap();
        assert!(
            !outside_requests::answer(&mut db, request.task, request.request, &OutsideAnswer::Message(json!(1)))
                .await
                .unwrap()
        );
    }
    check(&pool, run).await;
}
