//! What is asked at once, against the same engine that asks one after another.

use super::cases::{check, ended, rate, row, stats};
use super::program::{Database, Place};

/// Conversations at once.
const AT_ONCE: u32 = 32;
const ONE_BY_ONE: &str = "--no-pipelining";

pub async fn case(place: &Place, n: u32) -> anyhow::Result<()> {
    let db = place.database().await?;
    judges(place, &db, n).await?;
    reads(place, &db, n).await?;
    db.stop().await;
    Ok(())
}

/// A panel of three judges that take their time, asked one after another, at once, and by criteria.
async fn judges(place: &Place, db: &Database, n: u32) -> anyhow::Result<()> {
    let (_model, url) = place.model(&["--median-ms", "250", "--token-ms", "10"]).await?;
    place.name_model(&url, 10_000)?;
    let panel = ["--agent", "mock", "--judge", "mock", "--judge", "mock", "--judge", "mock"];
    for (what, more) in [
        ("three judges, one after another", &[ONE_BY_ONE][..]),
        ("three judges at once", &[]),
        ("criteria of their verdicts at once as well", &["--criteria-apart"]),
    ] {
        played(place, db, n, &url, "desk", what, &[&panel[..], more].concat()).await?;
    }
    Ok(())
}

/// A reply with four calls that only read, each answered by a model: with a wait for the first byte alone, where what is won
/// is that they are asked at once; and written token by token, where each is also asked while the next one is written.
async fn reads(place: &Place, db: &Database, n: u32) -> anyhow::Result<()> {
    for (how, token_ms) in [("replies come whole", "0"), ("replies are streamed", "10")] {
        let model = ["--playbook", "advice", "--median-ms", "250", "--token-ms", token_ms];
        let (_model, url) = place.model(&model).await?;
        place.name_model(&url, 10_000)?;
        let cast = ["--agent", "mock", "--tool-simulator", "mock"];
        for (order, more) in [("one after another", &[ONE_BY_ONE][..]), ("at once", &[])] {
            let what = format!("four calls, {how}, {order}");
            played(place, db, n, &url, "advice", &what, &[&cast[..], more].concat()).await?;
        }
    }
    Ok(())
}

async fn played(
    place: &Place,
    db: &Database,
    n: u32,
    model: &str,
    playbook: &str,
    what: &str,
    flags: &[&str],
) -> anyhow::Result<()> {
    let run = place.run_of(db, playbook, n, flags).await?;
    let (requests, ..) = stats(model).await?;
    let mut players = [place.play(db, AT_ONCE, &[])?];
    let done = ended(&db.pool, &run, &mut players).await?;
    players[0].kill().await?;
    let calls = (stats(model).await?.0 - requests) / f64::from(n);
    let seconds = f64::from(AT_ONCE) / rate(&done)?;
    row(what, &format!("{seconds:.2} s a conversation, {calls:.1} calls, {} of {n} accepted", done.accepted));
    check(db, &run).await
}
