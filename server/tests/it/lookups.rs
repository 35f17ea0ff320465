//! Lookups that are asked for at once and made together.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
use futures::future::join_all;
use sqlx::{PgConnection, PgPool};
use store::{BatchedLookup, StoreError};

/// Not known.
const MISSING: i32 = -1;
/// The database refuses whatever it is part of.
const BAD: i32 = 0;
/// The connection breaks.
const CUT_OFF: i32 = -2;
const PANICS: i32 = -3;
/// The connection breaks, and the next one does not.
const CUT_OFF_ONCE: i32 = -4;

static WAS_CUT_OFF: AtomicBool = AtomicBool::new(false);

/// Of each number, what a hundred divided by it is, and how many were looked up with it.
async fn divided(db: &mut PgConnection, numbers: &[i32]) -> store::Result<HashMap<i32, (i32, usize)>> {
    assert!(!numbers.contains(&PANICS), "as it was asked to");
    let breaks_once = numbers.contains(&CUT_OFF_ONCE) && !WAS_CUT_OFF.swap(true, Ordering::Relaxed);
    if numbers.contains(&CUT_OFF) || breaks_once {
        sqlx::raw_sql("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)").execute(&mut *db).await?;
    }
    let found = sqlx::query_as::<_, (i32, i32)>("SELECT n, 100 / n FROM unnest($1::int[]) AS n WHERE n >= 0");
    let found = found.bind(numbers.to_vec()).fetch_all(db).await?.into_iter();
    Ok(found.map(|(number, part)| (number, (part, numbers.len()))).collect())
}

fn parts(pool: &PgPool) -> BatchedLookup<i32, (i32, usize)> {
    BatchedLookup::start(pool, |db, numbers| divided(db, numbers).boxed())
}

async fn looked_up(parts: &BatchedLookup<i32, (i32, usize)>, numbers: &[i32]) -> Vec<store::Result<Option<i32>>> {
    let found = join_all(numbers.iter().map(|number| parts.get(*number))).await.into_iter();
    found.map(|found| Ok(found?.map(|(part, _)| part))).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_asked_at_once_is_looked_up_together_and_each_number_once(pool: PgPool) {
    let parts = parts(&pool);
    let found = join_all([4, 5, 4, MISSING, 5].map(|number| parts.get(number))).await;
    let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    assert_eq!(found, [Some((25, 3)), Some((20, 3)), Some((25, 3)), None, Some((20, 3))]);
    // More than one batch holds.
    let many: Vec<i32> = (1..=1_000).collect();
    let found = looked_up(&parts, &many).await;
    assert!(many.iter().zip(found).all(|(number, found)| found.unwrap() == Some(100 / number)));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_refused_fails_nothing_else(pool: PgPool) {
    let parts = parts(&pool);
    for bad in [BAD, PANICS] {
        let mut found = looked_up(&parts, &[4, bad, MISSING, 5]).await;
        let refused = found.remove(1).unwrap_err();
        assert!(!refused.is_outage(), "{refused}");
        let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
        assert_eq!(found, [Some(25), None, Some(20)]);
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_asked_by_a_connection_that_breaks_is_asked_once_more(pool: PgPool) {
    let parts = parts(&pool);
    let found = looked_up(&parts, &[4, CUT_OFF_ONCE, 5]).await;
    let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    assert_eq!(found, [Some(25), None, Some(20)]);
    assert!(WAS_CUT_OFF.load(Ordering::Relaxed), "the first connection broke");
}

#[sqlx::test(migrations = "../migrations")]
async fn connections_that_break_twice_fail_what_is_asked_by_them_and_nothing_later(pool: PgPool) {
    let parts = parts(&pool);
    let found = looked_up(&parts, &[4, CUT_OFF, 5]).await;
    assert!(found.iter().all(|found| found.as_ref().is_err_and(StoreError::is_outage)), "{found:?}");
    assert_eq!(parts.get(4).await.unwrap(), Some((25, 1)));
}
