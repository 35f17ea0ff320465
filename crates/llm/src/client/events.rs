//! Server-sent events, as the HTML standard defines them; only their data is of interest.

use std::ops::Range;

/// Takes a stream apart as it comes, without a copy for each event.
#[derive(Debug, Default)]
pub struct Events {
    /// What came. The lines up to `read` are read, and up to `scanned` no further line ends.
    bytes: Vec<u8>,
    read: usize,
    scanned: usize,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    /// The data of the event that is being read, one LF after each line.
    data: Vec<u8>,
    /// The data was given out.
    given: bool,
}

const BOM: &[u8] = "\u{feff}".as_bytes();

impl Events {
    /// A stream that begins with these bytes.
    pub fn new(mut bytes: Vec<u8>) -> Self {
        if bytes.starts_with(BOM) {
            bytes.drain(..BOM.len());
        }
        Self { bytes, ..Self::default() }
    }

    /// Where further bytes are to be appended.
    pub fn end(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.read);
        self.scanned = self.scanned.saturating_sub(self.read);
        self.read = 0;
        &mut self.bytes
    }

    /// The data of the next event, if it has come as a whole.
    pub fn next(&mut self) -> Option<&[u8]> {
        if self.given {
            self.data.clear();
            self.given = false;
        }
        while let Some(line) = self.line() {
            let line = &self.bytes[line];
            if line.is_empty() && !self.data.is_empty() {
                self.given = true;
                return self.data.strip_suffix(b"\n");
            }
            if let Some(data) = data(line) {
                self.data.extend_from_slice(data);
                self.data.push(b'\n');
            }
        }
        None
    }

    /// The next whole line, without its end: LF, CR or both.
    fn line(&mut self) -> Option<Range<usize>> {
        if self.after_cr && self.bytes.get(self.read) == Some(&b'\n') {
            self.read += 1;
            self.after_cr = false;
        }
        self.scanned = self.scanned.max(self.read);
        let rest = &self.bytes[self.scanned..];
        let Some(length) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.scanned = self.bytes.len();
            return None;
        };
        let (start, end) = (self.read, self.scanned + length);
        self.after_cr = self.bytes[end] == b'\r';
        self.read = end + 1;
        Some(start..end)
    }
}

/// The value of a `data` field.
fn data(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(b"data")? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of all events, with the stream coming in parts of this size.
    fn read(stream: &str, size: usize) -> Vec<String> {
        let mut parts = stream.as_bytes().chunks(size);
        let mut events = Events::new(parts.next().unwrap_or_default().to_vec());
        let mut all = Vec::new();
        loop {
            while let Some(data) = events.next() {
                all.push(String::from_utf8_lossy(data).into_owned());
            }
            let Some(part) = parts.next() else { return all };
            events.end().extend_from_slice(part);
        }
    }

    #[test]
    fn streams_give_the_same_events_in_parts_of_any_size() {
        for (stream, expected) in [
            ("data: a\n\ndata:b\n\n", vec!["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec!["a", "b"]),
            ("data: a\r\rdata: b\r\r", vec!["a", "b"]),
            ("data: a\ndata\ndata:  b\n\n", vec!["a\n\n b"]),
            (": ping\n\nevent: x\nid: 1\ndata: a\nretry: 3\ndatabase: no\n\n", vec!["a"]),
            ("\n\n\ndata:\n\ndata: zoë\n\n", vec!["", "zoë"]),
            ("data: a\n\ndata: without an end\n", vec!["a"]),
        ] {
            for size in 1..=stream.len() {
                assert_eq!(read(stream, size), expected, "{stream:?} in parts of {size}");
            }
        }
        assert_eq!(read("\u{feff}data: a\n\n", 99), ["a"]);
    }
}
