//! Everything random derives from the run's seed.

use sqlx::PgPool;

use crate::support::play::{HANDOVER, HELP, TRANSFER, played, timeless};

const SCENARIOS: [&str; 3] = [HELP, HANDOVER, TRANSFER];

#[sqlx::test(migrations = "../migrations")]
async fn one_seed_gives_the_same_rows_to_the_byte_and_another_gives_others(pool: PgPool) {
    let first = timeless(played(&pool, &SCENARIOS, 9, 7, &[]).await.as_ref()).await;
    let second = timeless(played(&pool, &SCENARIOS, 9, 7, &[]).await.as_ref()).await;
    assert_eq!(first, second);
    assert_eq!(first.lines().count(), 9);
    let other = timeless(played(&pool, &SCENARIOS, 9, 8, &[]).await.as_ref()).await;
    assert!(first.lines().zip(other.lines()).all(|(one, another)| one != another));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_longer_run_begins_like_a_shorter_one(pool: PgPool) {
    let short = timeless(played(&pool, &SCENARIOS, 4, 7, &[]).await.as_ref()).await;
    let long = timeless(played(&pool, &SCENARIOS, 7, 7, &[]).await.as_ref()).await;
    assert!(long.starts_with(&short));
}
