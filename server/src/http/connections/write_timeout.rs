//! A stream whose writing fails when the other side takes nothing for too long. How long all of it takes does not matter:
//! each time that something is taken, the time begins anew.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

pub struct WriteTimeout<S> {
    stream: S,
    longest: Duration,
    /// While something waits to be taken.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub const fn new(stream: S, longest: Duration) -> Self {
        Self { stream, longest, waiting: None }
    }

    fn in_time<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let longest = self.longest;
        ready!(self.waiting.get_or_insert_with(|| Box::pin(sleep(longest))).as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, "nothing of the answer was taken for too long")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // That there is nothing to flush does not say that anything was taken.
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if flushed.is_pending() { self.in_time(cx, flushed) } else { flushed }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.in_time(cx, ended)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::{advance, timeout};

    use super::*;

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
}
