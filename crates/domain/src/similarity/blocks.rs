//! The matching blocks of two texts: the longest common run of letters, then the same to its left and to its right.

use std::ops::Range;

use super::alphabet::Letter;

/// "No position": the end of a chain.
const NONE: usize = usize::MAX;

/// Working memory for comparing texts over one alphabet.
pub struct Blocks {
    /// By letter: its last position in `b`.
    last: Vec<usize>,
    /// By position in `b`: the position of the same letter before.
    before: Vec<usize>,
    /// By position in `b`: the run that ends there, and the position in `a` (from 1 on) where it was seen to end.
    runs: Vec<(usize, usize)>,
}

/// A run of equal letters: where it starts in both texts, and how long it is.
struct Block {
    a: usize,
    b: usize,
    size: usize,
}

impl Blocks {
    pub fn new(alphabet: usize) -> Self {
        Self { last: vec![NONE; alphabet], before: Vec::new(), runs: Vec::new() }
    }

    /// How many letters of `a` and `b` are in matching blocks.
    pub fn matched(&mut self, a: &[Letter], b: &[Letter]) -> usize {
        self.enter(b);
        let mut matched = 0;
        // Not recursive: texts without a common run of two letters would go as deep as they are long.
        let mut open = vec![(0..a.len(), 0..b.len())];
        while let Some((in_a, in_b)) = open.pop() {
            let block = self.longest(a, in_a.clone(), in_b.clone());
            if block.size == 0 {
                continue;
            }
            matched += block.size;
            let sides = [
                (in_a.start..block.a, in_b.start..block.b),
                (block.a + block.size..in_a.end, block.b + block.size..in_b.end),
            ];
            open.extend(sides.into_iter().filter(|(a, b)| !a.is_empty() && !b.is_empty()));
        }
        self.leave(b);
        matched
    }

    /// The longest block; of several the one that starts first in `a`, then in `b`.
    fn longest(&mut self, a: &[Letter], in_a: Range<usize>, in_b: Range<usize>) -> Block {
        let mut best = Block { a: in_a.start, b: in_b.start, size: 0 };
        self.runs[in_b.clone()].fill((0, 0));
        for (i, letter) in a.iter().enumerate().take(in_a.end).skip(in_a.start) {
            let mut longest = (best.size, NONE);
            let mut j = self.last[*letter as usize];
            // From right to left, so that the run that ends before `j` is still that of the row before.
            while j != NONE && j >= in_b.start {
                if j < in_b.end {
                    let run = self.run_before(i, j, in_b.start) + 1;
                    self.runs[j] = (run, i + 1);
                    if run > best.size && run >= longest.0 {
                        longest = (run, j);
                    }
                }
                j = self.before[j];
            }
            if let (size, end @ 0..NONE) = longest {
                best = Block { a: i + 1 - size, b: end + 1 - size, size };
            }
        }
        best
    }

    /// How long the run is that ends just before `i` and `j`.
    fn run_before(&self, i: usize, j: usize, start: usize) -> usize {
        if j == start {
            return 0;
        }
        let (run, seen) = self.runs[j - 1];
        if seen == i { run } else { 0 }
    }

    fn enter(&mut self, b: &[Letter]) {
        self.runs.clear();
        self.runs.resize(b.len(), (0, 0));
        self.before.clear();
        for (j, letter) in b.iter().enumerate() {
            let last = &mut self.last[*letter as usize];
            self.before.push(*last);
            *last = j;
        }
    }

    /// Clears only what `b` used: an alphabet may be much longer than a text.
    fn leave(&mut self, b: &[Letter]) {
        for letter in b {
            self.last[*letter as usize] = NONE;
        }
    }
}
