//! What near-duplicates are told by: runs of words that two conversations have in common.
//!
//! The resemblance of two texts is that of A. Broder, "On the resemblance and containment of documents" (1997): of the
//! runs of five words in either of them, the share that stands in both (the Jaccard index of their sets of shingles).

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;

use tokio_util::sync::CancellationToken;

use super::utterances::Utterances;

/// Words of a shingle.
const WORDS: usize = 5;

impl Utterances {
    /// Hashes of its shingles, sorted, each once; of fewer words than a shingle has, the hash of all of them.
    /// Words are runs of letters and digits, small.
    ///
    /// A hash has 32 bits: of two conversations with a thousand shingles each, one in four thousand pairs has a hash in
    /// common by chance, which adds less than a thousandth to their resemblance.
    pub fn shingles(&self) -> Vec<u32> {
        let mut words: Vec<u64> = Vec::new();
        for utterance in &self.0 {
            let runs = utterance.text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.extend(runs.map(hash_word));
        }
        let run = |words: &[u64]| high(words.iter().fold(SEED, |hash, word| mix(hash ^ word)));
        let mut shingles: Vec<u32> =
            if words.len() < WORDS { vec![run(&words)] } else { words.windows(WORDS).map(run).collect() };
        shingles.sort_unstable();
        shingles.dedup();
        shingles
    }
}

/// The same on every machine, which the hashes of the standard library are not said to be.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// FNV-1a over the small letters.
fn hash_word(word: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut enter = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    if word.is_ascii() {
        word.bytes().for_each(|byte| enter(byte.to_ascii_lowercase()));
    } else {
        word.chars().flat_map(char::to_lowercase).for_each(|c| {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes).bytes().for_each(&mut enter);
        });
    }
    mix(hash)
}

/// The finaliser of splitmix64.
pub(super) const fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

const fn high(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// The resemblance of two sorted sets, from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "sets are far smaller than 2^52")]
pub fn resemblance(one: &[u32], other: &[u32]) -> f64 {
    let (mut i, mut j, mut common) = (0, 0, 0_usize);
    while let (Some(a), Some(b)) = (one.get(i), other.get(j)) {
        common += usize::from(a == b);
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    let union = one.len() + other.len() - common;
    if union == 0 { 1.0 } else { common as f64 / union as f64 }
}

/// The shingles of many conversations, in a file that nobody sees and that is gone with the process.
pub struct Shingles {
    file: BufWriter<File>,
    /// Where those of each one begin, and how many they are.
    spans: Vec<(u64, u32)>,
    end: u64,
}

/// The same, complete.
pub struct ShingleFile {
    file: File,
    spans: Vec<(u64, u32)>,
    stop: CancellationToken,
}

impl Shingles {
    pub fn new() -> io::Result<Self> {
        Ok(Self { file: BufWriter::with_capacity(1 << 20, tempfile::tempfile()?), spans: Vec::new(), end: 0 })
    }

    /// Those of the next conversation.
    pub fn push(&mut self, shingles: &[u32]) -> io::Result<()> {
        let bytes: Vec<u8> = shingles.iter().flat_map(|shingle| shingle.to_ne_bytes()).collect();
        self.file.write_all(&bytes)?;
        self.spans.push((self.end, u32::try_from(shingles.len()).map_err(io::Error::other)?));
        self.end += bytes.len() as u64;
        Ok(())
    }

    pub fn finish(self) -> io::Result<ShingleFile> {
        Ok(ShingleFile { file: self.file.into_inner()?, spans: self.spans, stop: CancellationToken::new() })
    }
}

impl ShingleFile {
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Gives no more shingles once it is stopped: whatever compares many conversations ends by that.
    pub fn until(&mut self, stop: CancellationToken) {
        self.stop = stop;
    }

    /// Forgets the others; what is left is numbered anew.
    pub fn retain(&mut self, keep: &[bool]) {
        let mut keep = keep.iter();
        self.spans.retain(|_| keep.next().is_some_and(|keep| *keep));
    }

    /// How many shingles a conversation has.
    pub fn count(&self, of: usize) -> usize {
        self.spans[of].1 as usize
    }

    pub fn of(&self, of: usize) -> io::Result<Vec<u32>> {
        if self.stop.is_cancelled() {
            return Err(io::Error::other("it is not to be gone on with"));
        }
        let (start, count) = self.spans[of];
        let mut bytes = vec![0; count as usize * 4];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect())
    }
}
