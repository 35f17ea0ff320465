//! Runs that are stored, and that nobody plays yet.

use std::time::Instant;

use store::measure;

use super::cases::row;
use super::program::Place;

/// A run of a thousand conversations and one of very many: what storing it takes, documents read and proved included.
pub async fn case(place: &Place, n: u32) -> anyhow::Result<()> {
    let db = place.database().await?;
    for n in [1_000, n] {
        let before = measure::size(&mut *db.pool.acquire().await?).await?;
        let begun = Instant::now();
        let run = place.run(&db, n, &[]).await?;
        let took = begun.elapsed().as_secs_f64();
        let left = measure::left_to_begin(&mut *db.pool.acquire().await?, run.id).await?;
        let grown = measure::size(&mut *db.pool.acquire().await?).await? - before;
        row(
            &format!("a run of {n} conversations, stored in one transaction"),
            &format!("{took:.2} s, {left} wait, {} KB of database", grown / 1000),
        );
    }
    db.stop().await;
    Ok(())
}
