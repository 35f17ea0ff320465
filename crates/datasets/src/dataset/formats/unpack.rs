//! What was compressed, as it was before.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::super::format::Packing;
use crate::dataset::stored_file::{SequentialReader, StoredFile};

/// No text is compressed to less than a thousandth of its size by gzip; what unpacks to more is there to fill disks.
const MOST_RATIO: u64 = 1_000;
/// But this much is never too much.
const ALWAYS: u64 = 1 << 30;
const BUFFER: usize = 128 << 10;

/// # Errors
/// The file cannot be read.
pub fn reader(file: &StoredFile, packing: Packing) -> io::Result<Box<dyn BufRead>> {
    let most = file.bytes().saturating_mul(MOST_RATIO).max(ALWAYS);
    let packed = BufReader::with_capacity(BUFFER, file.reader(0));
    Ok(match packing {
        Packing::None => Box::new(packed),
        Packing::Gzip => limited(MultiGzDecoder::new(packed), most),
        Packing::Zstd => limited(zstd_reader(packed)?, most),
    })
}

fn zstd_reader(packed: BufReader<SequentialReader>) -> io::Result<impl Read> {
    zstd::stream::read::Decoder::with_buffer(packed)
}

fn limited(unpacked: impl Read + 'static, most: u64) -> Box<dyn BufRead> {
    Box::new(BufReader::with_capacity(BUFFER, Limited { unpacked, left: most }))
}

struct Limited<R> {
    unpacked: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.unpacked.read(to)?;
        let left = self.left.checked_sub(n as u64);
        let wrong = || io::Error::other(format!("it unpacks to more than {MOST_RATIO} times its size"));
        self.left = left.ok_or_else(wrong)?;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_unpacks_without_end_is_refused() {
        let mut limited = Limited { unpacked: io::repeat(0), left: 1 << 20 };
        let error = io::copy(&mut limited, &mut io::sink()).unwrap_err().to_string();
        assert_eq!(error, "it unpacks to more than 1000 times its size");
    }
}
