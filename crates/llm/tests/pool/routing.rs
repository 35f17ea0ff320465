//! Which replica is asked.

use super::{Act, Fake, ask, ask_all, assert_nothing_leaked, pool, until};

#[tokio::test]
async fn a_conversation_stays_with_its_replica() {
    let fakes =
        [Fake::start(|_| Act::Reply).await, Fake::start(|_| Act::Reply).await, Fake::start(|_| Act::Reply).await];
    let pool = pool(&fakes.each_ref());
    let mut homes = [0; 3];
    for sticky in 0..30 {
        let before = fakes.each_ref().map(Fake::requests);
        for _ in 0..4 {
            pool.answer(&ask(), sticky).await.unwrap();
        }
        let after = fakes.each_ref().map(Fake::requests);
        let home = (0..3).find(|index| after[*index] == before[*index] + 4).expect("all four went to one replica");
        homes[home] += 1;
    }
    assert!(homes.iter().all(|conversations| *conversations > 0), "{homes:?}");
}

#[tokio::test]
async fn a_crowded_home_spills_over() {
    let fakes = [Fake::start(|_| Act::ReplyAtGate).await, Fake::start(|_| Act::ReplyAtGate).await];
    let pool = pool(&fakes.each_ref());
    let asking = ask_all(&pool, std::iter::repeat_n(7, 12));
    let watching = async {
        until("all are asked", || fakes.iter().map(Fake::running).sum::<usize>() == 12).await;
        let mut shares = fakes.each_ref().map(Fake::running);
        shares.sort_unstable();
        open_gates(&fakes, 99);
        shares
    };
    let (answers, shares) = tokio::join!(asking, watching);
    assert!(answers.iter().all(Result::is_ok));
    // At home are at most 1.25 times the average and two.
    assert!(shares[0] >= 4 && shares[1] <= 8, "{shares:?}");
    assert_nothing_leaked(&pool).await;
}

#[tokio::test]
async fn a_full_pool_keeps_conversations_at_home_too() {
    let fakes = [Fake::start(|_| Act::ReplyAtGate).await, Fake::start(|_| Act::ReplyAtGate).await];
    let spec = llm::PoolSpec { max_in_flight: Some(2), ..super::spec(&fakes.each_ref()) };
    let pool = llm::Pool::new(&spec, super::options()).unwrap();
    let home = async |sticky| {
        let before = fakes[0].requests();
        open_gates(&fakes, 1);
        pool.answer(&ask(), sticky).await.unwrap();
        for fake in &fakes {
            fake.close_gate();
        }
        fakes[0].requests() > before
    };
    let mut homes = Vec::new();
    for sticky in 0..40 {
        homes.push(home(sticky).await);
    }
    let expected = homes.iter().filter(|first| **first).count();
    // Then all at once, in a pool with room for four.
    let before = fakes[0].requests();
    let asking = ask_all(&pool, 0..40);
    let opening = async {
        until("the pool is full", || pool.status().waiting == 36).await;
        open_gates(&fakes, 99);
    };
    let (answers, ()) = tokio::join!(asking, opening);
    assert!(answers.iter().all(Result::is_ok));
    let strangers = (fakes[0].requests() - before).abs_diff(expected);
    assert!(strangers <= 8, "{strangers} of 40 went elsewhere");
}

fn open_gates(fakes: &[Fake], replies: usize) {
    for fake in fakes {
        fake.open_gate(replies);
    }
}
