//! Which turns of a long conversation are on the page: some thousands of them hold a browser up.
//!
//! Turns come in parts. A part that was shown stays, wherever somebody goes from there: they may have begun to write below one
//! of its turns.

use std::collections::BTreeSet;
use std::ops::Range;

use leptos::prelude::*;

/// Turns of a part.
const PART: usize = 50;

/// The parts that are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts(BTreeSet<usize>);

/// What stands on the page, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Piece {
    /// A part.
    Shown(usize),
    /// A gap, counted from the first: the way to what is missing stays where it is while the gap grows less.
    Gap(usize),
}

impl Parts {
    fn first() -> Self {
        Self(BTreeSet::from([0]))
    }

    /// Shows the part of a turn.
    pub fn show(&mut self, at: usize) {
        self.0.insert(at / PART);
    }

    /// Shows what came after the turns that were there, if the last of them is shown: whoever reads on reads that, too.
    fn grow(&mut self, before: usize, now: usize) {
        if now > before && self.holds(before.saturating_sub(1)) {
            self.0.extend(before.saturating_sub(1) / PART..=(now - 1) / PART);
        }
    }

    fn holds(&self, at: usize) -> bool {
        self.0.contains(&(at / PART))
    }

    pub fn pieces(&self, turns: usize) -> Vec<Piece> {
        let (mut pieces, mut gaps) = (Vec::new(), 0);
        for part in 0..turns.div_ceil(PART) {
            if self.0.contains(&part) {
                pieces.push(Piece::Shown(part));
            } else if !matches!(pieces.last(), Some(Piece::Gap(_))) {
                pieces.push(Piece::Gap(gaps));
                gaps += 1;
            }
        }
        pieces
    }

    /// The turns that are missing in each gap.
    pub fn gaps(&self, turns: usize) -> Vec<Range<usize>> {
        let mut gaps: Vec<Range<usize>> = Vec::new();
        for part in (0..turns.div_ceil(PART)).filter(|part| !self.0.contains(part)) {
            let own = turns_of(part, turns);
            match gaps.last_mut() {
                Some(gap) if gap.end == own.start => gap.end = own.end,
                _ => gaps.push(own),
            }
        }
        gaps
    }
}

/// Of so many turns those of a part.
pub fn turns_of(part: usize, turns: usize) -> Range<usize> {
    part * PART..turns.min((part + 1) * PART)
}

/// Whether two turns are of one part.
pub const fn in_same_part(a: usize, b: usize) -> bool {
    a / PART == b / PART
}

/// The first part, what comes after it while somebody reads, and whatever they are led to.
pub fn shown(count: Memo<usize>, looked_at: Memo<Option<usize>>) -> RwSignal<Parts> {
    let mut first = Parts::first();
    looked_at.get_untracked().into_iter().for_each(|at| first.show(at));
    let parts = RwSignal::new(first);
    Effect::new(move |_| {
        if let Some(at) = looked_at.get().filter(|at| !parts.read_untracked().holds(*at)) {
            parts.update(|parts| parts.show(at));
        }
    });
    Effect::new(move |before: Option<usize>| {
        let now = count.get();
        if let Some(before) = before {
            parts.update(|parts| parts.grow(before, now));
        }
        now
    });
    parts
}

#[cfg(test)]
mod tests {
    use super::Piece::{Gap, Shown};
    use super::*;

    #[test]
    fn a_short_conversation_is_there_as_a_whole() {
        assert_eq!(Parts::first().pieces(0), []);
        assert_eq!(Parts::first().pieces(7), [Shown(0)]);
        assert_eq!(turns_of(0, 7), 0..7);
    }

    #[test]
    fn of_a_long_one_only_what_was_asked_for_is_there() {
        let mut parts = Parts::first();
        assert_eq!(parts.pieces(4_990), [Shown(0), Gap(0)]);
        assert_eq!(parts.gaps(4_990).first(), Some(&(50..4_990)));
        parts.show(2_034);
        parts.show(2_049);
        assert_eq!(parts.pieces(4_990), [Shown(0), Gap(0), Shown(40), Gap(1)], "what was shown stays");
        assert_eq!(parts.gaps(4_990), [50..2_000, 2_050..4_990]);
        parts.show(4_989);
        assert_eq!(parts.pieces(4_990).last(), Some(&Shown(99)));
        assert_eq!(turns_of(99, 4_990), 4_950..4_990);
        assert!(in_same_part(4_950, 4_989) && !in_same_part(49, 50));
    }

    #[test]
    fn what_is_said_meanwhile_is_shown_to_whoever_reads_the_end() {
        let mut parts = Parts::first();
        parts.grow(0, 3);
        parts.grow(3, 51);
        assert_eq!(parts.pieces(51), [Shown(0), Shown(1)]);
        let mut elsewhere = Parts::first();
        elsewhere.grow(120, 121);
        assert_eq!(elsewhere.pieces(121), [Shown(0), Gap(0)]);
    }
}
