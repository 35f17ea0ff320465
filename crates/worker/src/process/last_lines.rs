//! What an engine writes: its last lines are kept, and each is logged.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tracing::debug;

/// How many lines are kept, and how many bytes of each.
const KEPT: usize = 200;
const LONGEST: usize = 2000;

#[derive(Clone)]
pub struct LastLines {
    name: Arc<str>,
    key: Option<Arc<str>>,
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Open streams.
    open: watch::Sender<usize>,
}

impl LastLines {
    pub fn new(name: &str, key: Option<&str>) -> Self {
        Self { name: name.into(), key: key.map(Into::into), lines: Arc::default(), open: watch::Sender::new(0) }
    }

    /// Reads to the end: a process stops when nobody takes what it writes.
    pub fn follow(&self, mut stream: impl AsyncRead + Unpin + Send + 'static) {
        self.open.send_modify(|open| *open += 1);
        let heard = self.clone();
        tokio::spawn(async move {
            let (mut buffer, mut line) = ([0; 4096], Vec::new());
            while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                for &byte in &buffer[..read] {
                    // A progress bar ends its lines so that the next one overwrites it.
                    if matches!(byte, b'\n' | b'\r') {
                        heard.push(&std::mem::take(&mut line));
                    } else if line.len() < LONGEST {
                        line.push(byte);
                    }
                }
            }
            heard.push(&line);
            heard.open.send_modify(|open| *open -= 1);
        });
    }

    fn push(&self, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        let mut line = String::from_utf8_lossy(line).into_owned();
        if let Some(key) = &self.key {
            line = line.replace(&**key, "[key]");
        }
        debug!(worker = &*self.name, "{line}");
        let mut lines = self.lines.lock();
        if lines.len() == KEPT {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    pub fn all(&self) -> Vec<String> {
        self.lines.lock().iter().cloned().collect()
    }

    /// The last line that says something.
    pub fn last(&self) -> Option<String> {
        self.all().into_iter().rfind(|line| !line.trim().is_empty())
    }

    pub async fn closed(&self) {
        self.open.subscribe().wait_for(|open| *open == 0).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_lines_are_kept_without_the_key() {
        let lines = LastLines::new("w", Some("s3cret"));
        let mut text: String = (0..300).map(|n| format!("line {n}\n")).collect();
        text.push_str("10%\r20%\r\nkey=s3cret\nno end \u{fc}");
        lines.follow(std::io::Cursor::new(text.into_bytes()));
        lines.closed().await;
        let all = lines.all();
        assert_eq!(all.len(), KEPT);
        assert_eq!(all[KEPT - 4..], ["10%", "20%", "key=[key]", "no end ü"]);
    }
}
