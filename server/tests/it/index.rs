//! The index of conversations: what it holds, and that it keeps up with a run that is played.

use std::time::Duration;

use datasets::index::{Facets, Index, Query, TooMany};
use domain::filter::Filter;
use domain::role::Role;
use sqlx::PgPool;
use store::conversation_columns::{self, RunHead};
use store::projects;
use tokio_util::sync::CancellationToken;

use crate::support::agent::help;
use crate::support::endpoint::Endpoint;
use crate::support::pass;
use crate::support::play::{HELP, planned, play_all, played, player};

async fn heads(pool: &PgPool) -> Vec<RunHead> {
    conversation_columns::of_project(&mut pool.acquire().await.unwrap(), projects::DEFAULT, &[]).await.unwrap()
}

async fn facets(index: &Index, pool: &PgPool) -> Facets {
    let runs = index.of(&heads(pool).await).await.unwrap();
    Query::new(&runs, &Filter::default(), None).facets()
}

#[sqlx::test(migrations = "../migrations")]
async fn it_holds_no_more_than_it_may(pool: PgPool) {
    for seed in 0..3 {
        played(&pool, &[HELP], 8, seed, &[]).await;
    }
    let index = Index::of_size(pool.clone(), 17);
    let heads = heads(&pool).await;
    for head in &heads {
        assert_eq!(index.one(head).await.unwrap().len(), 8);
    }
    assert_eq!(index.rows(), 16, "what was asked for longest ago is gone");
    let refused = index.of(&heads).await.unwrap_err().downcast::<TooMany>().unwrap();
    assert_eq!(refused, TooMany { rows: 24, most: 17 });
    let small = Index::of_size(pool, 4);
    assert_eq!(small.one(&heads[0]).await.unwrap().len(), 8, "a single run is held, however long");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_that_is_played_is_followed(pool: PgPool) {
    let slow = Endpoint::start_slow(Duration::from_millis(100), help).await;
    let run = planned(&pool, &[HELP], 40, 1, &[(Role::Agent, slow.model())]).await;
    let run = std::sync::Arc::new(run);
    let index = Index::new(pool.clone());
    let playing = tokio::spawn({
        let player = player(&run, 4);
        async move { player.play(&CancellationToken::new()).await.unwrap() }
    });
    let mut seen = Vec::new();
    while !playing.is_finished() {
        seen.push(facets(&index, &pool).await.total);
        pass(Duration::from_millis(200)).await;
    }
    playing.await.unwrap();
    assert!(seen.is_sorted() && seen.iter().any(|rows| (1..40).contains(rows)), "{seen:?}");
    pass(Duration::from_millis(1100)).await;
    let followed = facets(&index, &pool).await;
    assert_eq!(followed.total, 40);
    assert_eq!(followed, facets(&Index::new(pool.clone()), &pool).await, "as if it were read now");
}

#[sqlx::test(migrations = "../migrations")]
async fn who_comes_at_once_is_told_the_same(pool: PgPool) {
    let run = planned(&pool, &[HELP], 12, 1, &[]).await;
    play_all(run, 4).await;
    let index = Index::new(pool.clone());
    let head = heads(&pool).await.remove(0);
    let both = tokio::join!(index.one(&head), index.one(&head));
    let (one, other) = (both.0.unwrap(), both.1.unwrap());
    assert!(std::sync::Arc::ptr_eq(&one, &other), "it is read once");
}
