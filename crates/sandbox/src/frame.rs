//! Messages between a process and its sandboxed processes: a byte that says what it is, the length, the bytes.

use std::io::{self, Read, Write};
use std::sync::mpsc::Receiver;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Messages that were received by another thread.
pub type Frames = Receiver<(Kind, Vec<u8>)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// To the sandbox: the name of the work.
    Name = 1,
    /// To the sandbox: what is needed for it.
    Given = 2,
    /// From the sandbox: how far it is.
    Progress = 3,
    Answer = 4,
    /// From the sandbox: the work panicked, or cannot be read.
    Broken = 5,
    /// From the sandbox: the place and the length of bytes that it needs.
    Read = 6,
    /// To the sandbox: these bytes.
    Bytes = 7,
    /// To the sandbox: why there are none.
    Unread = 8,
    /// From the sandbox: a piece of what comes of the work.
    Piece = 9,
}

impl Kind {
    fn of(byte: u8) -> io::Result<Self> {
        [
            Self::Name,
            Self::Given,
            Self::Progress,
            Self::Answer,
            Self::Broken,
            Self::Read,
            Self::Bytes,
            Self::Unread,
            Self::Piece,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == byte)
        .ok_or_else(|| io::Error::other(format!("a frame of kind {byte}")))
    }
}

fn head(kind: Kind, bytes: &[u8]) -> io::Result<[u8; 5]> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::Error::other("a frame of more than 4 GiB"))?;
    let [a, b, c, d] = length.to_le_bytes();
    Ok([kind as u8, a, b, c, d])
}

fn parse_head([kind, a, b, c, d]: [u8; 5]) -> io::Result<(Kind, usize)> {
    Ok((Kind::of(kind)?, u32::from_le_bytes([a, b, c, d]) as usize))
}

pub async fn send(to: &mut (impl AsyncWrite + Unpin), kind: Kind, bytes: &[u8]) -> io::Result<()> {
    to.write_all(&head(kind, bytes)?).await?;
    to.write_all(bytes).await?;
    to.flush().await
}

/// `None` if it is larger than `most`: the rest is not read.
pub async fn receive(from: &mut (impl AsyncRead + Unpin), most: usize) -> io::Result<Option<(Kind, Vec<u8>)>> {
    let mut start = [0; 5];
    from.read_exact(&mut start).await?;
    let (kind, length) = parse_head(start)?;
    if length > most {
        return Ok(None);
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).await?;
    Ok(Some((kind, bytes)))
}

pub fn send_blocking(to: &mut impl Write, kind: Kind, bytes: &[u8]) -> io::Result<()> {
    to.write_all(&head(kind, bytes)?)?;
    to.write_all(bytes)?;
    to.flush()
}

pub fn receive_blocking(from: &mut impl Read) -> io::Result<(Kind, Vec<u8>)> {
    let mut start = [0; 5];
    from.read_exact(&mut start)?;
    let (kind, length) = parse_head(start)?;
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok((kind, bytes))
}
