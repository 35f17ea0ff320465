//! `server::http::WriteTimeout`, over a pipe whose clock stands still.

use std::io::ErrorKind;
use std::time::Duration;

use server::http::WriteTimeout;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::time::{advance, timeout};

const LONGEST: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn whoever_takes_nothing_is_cut_off() {
    let (ours, _theirs) = duplex(16);
    let mut ours = WriteTimeout::new(ours, LONGEST);
    let error = timeout(2 * LONGEST, ours.write_all(&[0; 64])).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn whoever_takes_a_little_now_and_then_gets_all_of_it() {
    let (ours, mut theirs) = duplex(16);
    let mut ours = WriteTimeout::new(ours, LONGEST);
    let writing = tokio::spawn(async move { ours.write_all(&[7; 160]).await });
    let mut taken = Vec::new();
    while taken.len() < 160 {
        advance(LONGEST * 9 / 10).await;
        let mut some = [0; 16];
        let len = theirs.read(&mut some).await.unwrap();
        taken.extend_from_slice(&some[..len]);
        tokio::task::yield_now().await;
    }
    assert!(writing.await.unwrap().is_ok(), "it took five minutes in all");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_has_nothing_to_say_goes_on() {
    let (ours, mut theirs) = duplex(16);
    let mut ours = WriteTimeout::new(ours, LONGEST);
    for _ in 0..3 {
        ours.write_all(b"event").await.unwrap();
        advance(10 * LONGEST).await;
        theirs.read_exact(&mut [0; 5]).await.unwrap();
    }
}
