//! The longest common subsequence: matching blocks are one, so they never hold more letters.
//!
//! Bit-parallel, 128 letters at a step, after Hyyrö, "Bit-parallel LCS-length computation revisited" (2004).

use super::alphabet::Letter;

/// How many letters are read between two looks at whether there is still hope.
const STRIDE: usize = 16;

/// One text, ready to be compared with many.
pub struct Subsequence {
    words: usize,
    /// By letter, `words` each: the positions where the text has that letter.
    positions: Vec<u128>,
    /// Zero bits: where the subsequence found so far takes a letter of the text.
    open: Vec<u128>,
}

impl Subsequence {
    pub fn new(text: &[Letter], alphabet: usize) -> Self {
        let words = text.len().div_ceil(128);
        let mut positions = vec![0; words * alphabet];
        for (i, letter) in text.iter().enumerate() {
            positions[*letter as usize * words + i / 128] |= 1 << (i % 128);
        }
        Self { words, positions, open: vec![0; words] }
    }

    /// Whether the longest common subsequence has `needed` letters.
    pub fn reaches(&mut self, needed: usize, other: &[Letter]) -> bool {
        self.open.fill(u128::MAX);
        let mut rest = other.len();
        for letters in other.chunks(STRIDE) {
            for letter in letters {
                self.read(*letter);
            }
            rest -= letters.len();
            if self.taken() + rest < needed {
                return false;
            }
        }
        self.taken() >= needed
    }

    fn read(&mut self, letter: Letter) {
        let from = letter as usize * self.words;
        let mut carry = false;
        for (open, here) in self.open.iter_mut().zip(&self.positions[from..from + self.words]) {
            let (sum, over) = open.overflowing_add(*open & here);
            let (sum, more) = sum.overflowing_add(u128::from(carry));
            carry = over || more;
            *open = sum | (*open & !here);
        }
    }

    fn taken(&self) -> usize {
        self.open.iter().map(|word| word.count_zeros() as usize).sum()
    }
}
