//! `server::http::shares`, without requests: who gets the next turn.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use server::http::shares::{Busy, STREAMS, Shares, Size};
use tokio::time::Instant;
use uuid::Uuid;

const SMALL: Size = Size { per_user: 2, per_project: 3, in_all: 4, patience: Duration::from_secs(10) };

fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

async fn refused(shares: &Shares, project: u128, user: u128) -> Busy {
    shares.enter(id(project), id(user)).await.err().unwrap()
}

#[tokio::test(start_paused = true)]
async fn each_has_a_share_and_no_more() {
    let shares = Shares::new(SMALL);
    let enter = async |project, user| shares.enter(id(project), id(user)).await.unwrap();
    let one = [enter(1, 1).await, enter(1, 1).await];
    assert_eq!(refused(&shares, 2, 1).await, Busy::User, "it is the same person in another project");
    let two = enter(1, 2).await;
    assert_eq!(refused(&shares, 1, 3).await, Busy::Project);
    let three = enter(2, 3).await;
    assert_eq!(refused(&shares, 3, 4).await, Busy::Server);
    drop(three);
    let three = enter(3, 4).await;
    drop((one, two, three));
    let again = enter(4, 5).await;
    assert_eq!(shares.remembered(), (1, 1), "others are forgotten");
    drop(again);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_gets_the_next_turn_in_order() {
    let shares = Arc::new(Shares::new(SMALL));
    let taken = [shares.enter(id(1), id(1)).await.unwrap(), shares.enter(id(1), id(1)).await.unwrap()];
    let order = Arc::new(Mutex::new(Vec::new()));
    let wait = |n: u32| {
        let (shares, order) = (Arc::clone(&shares), Arc::clone(&order));
        tokio::spawn(async move {
            let permit = shares.enter(id(1), id(1)).await;
            order.lock().push(n);
            permit.is_ok()
        })
    };
    let (first, second) = (wait(1), wait(2));
    // Both wait: nobody else runs here.
    tokio::task::yield_now().await;
    assert!(order.lock().is_empty());
    drop(taken);
    assert!(first.await.unwrap() && second.await.unwrap());
    assert_eq!(*order.lock(), [1, 2]);
}

/// However much one project asks for, somebody of another one waits for one turn and not for a hundred.
#[tokio::test(start_paused = true)]
async fn a_crowd_of_one_project_does_not_hold_up_another() {
    let size = Size { per_user: 1, per_project: 4, in_all: 4, patience: Duration::from_mins(10) };
    let shares = Arc::new(Shares::new(size));
    let busy = |user: u128| {
        let shares = Arc::clone(&shares);
        tokio::spawn(async move {
            let _permit = shares.enter(id(1), id(user)).await;
            tokio::time::sleep(Duration::from_secs(1)).await;
        })
    };
    let crowd: Vec<_> = (0..100).map(busy).collect();
    tokio::task::yield_now().await;
    let begun = Instant::now();
    shares.enter(id(2), id(1_000)).await.unwrap();
    assert!(begun.elapsed() <= Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(crowd.iter().any(|one| !one.is_finished()), "they go on");
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_refused_at_once() {
    let shares = Shares::new(STREAMS);
    let begun = Instant::now();
    let mut all = Vec::new();
    for _ in 0..STREAMS.per_user {
        all.push(shares.enter(id(1), id(1)).await.unwrap());
    }
    assert_eq!(refused(&shares, 1, 1).await, Busy::User);
    assert!(begun.elapsed() < Duration::from_millis(10), "nobody waited");
}
