//! Where rows of one height are.

use std::ops::Range;

/// Browsers cannot show elements that are higher; the list then moves faster than the scroll bar.
const HIGHEST: f64 = 12_000_000.0;

/// Lengths in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geometry {
    pub row: f64,
    pub total: usize,
    /// What of the list is in sight.
    pub viewport: f64,
}

impl Geometry {
    /// Of all rows together, as far as the browser can bear it.
    pub fn height(&self) -> f64 {
        self.full().min(HIGHEST)
    }

    /// The rows in sight when so much is scrolled away, and `around` more on each side.
    pub fn shown(&self, top: f64, around: usize) -> Range<usize> {
        let first = whole(self.place(top) / self.row).min(self.total);
        let last = first + whole((self.viewport / self.row).ceil()) + 1;
        first.saturating_sub(around)..(last + around).min(self.total)
    }

    /// How many rows are shown at the most, wherever one is.
    pub fn most_shown(&self, around: usize) -> usize {
        self.total.min(whole((self.viewport / self.row).ceil()) + 1 + 2 * around)
    }

    /// How far below the top of the list the row `first` begins.
    pub fn offset(&self, top: f64, first: usize) -> f64 {
        length(first) * self.row - self.place(top) + top
    }

    /// How far one is in a list of full height.
    fn place(&self, top: f64) -> f64 {
        let room = self.height() - self.viewport;
        if room <= 0.0 || self.full() <= HIGHEST {
            return top.max(0.0);
        }
        top.clamp(0.0, room) * (self.full() - self.viewport) / room
    }

    fn full(&self) -> f64 {
        length(self.total) * self.row
    }
}

/// Which of the rows that are shown a slot holds. A row keeps its slot for as long as it is shown, and then leaves it to another.
pub fn held(shown: &Range<usize>, slots: usize, slot: usize) -> Option<usize> {
    let slots = slots.max(1);
    let index = shown.start + (slot + slots - shown.start % slots) % slots;
    shown.contains(&index).then_some(index)
}

#[expect(clippy::cast_precision_loss, reason = "lists have far fewer than 2^52 rows")]
fn length(rows: usize) -> f64 {
    rows as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rows are few and not negative")]
fn whole(rows: f64) -> usize {
    rows.max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(total: usize) -> Geometry {
        Geometry { row: 40.0, total, viewport: 400.0 }
    }

    #[test]
    fn what_is_in_sight_is_shown_and_a_little_around() {
        assert_eq!(of(100_000).shown(0.0, 5), 0..16);
        assert_eq!(of(100_000).shown(4_010.0, 5), 95..116);
        assert_eq!(of(100_000).shown(3_999_600.0, 5), 99_985..100_000);
        assert_eq!(of(3).shown(0.0, 5), 0..3);
        assert_eq!(of(0).shown(0.0, 5), 0..0);
    }

    #[test]
    fn each_row_that_is_shown_has_a_slot_and_keeps_it() {
        let list = of(100_000);
        let slots = list.most_shown(5);
        for top in [0.0, 10.0, 120.0, 4_010.0, 4_050.0, 3_999_600.0] {
            let shown = list.shown(top, 5);
            let mut held: Vec<usize> = (0..slots).filter_map(|slot| super::held(&shown, slots, slot)).collect();
            held.sort_unstable();
            assert_eq!(held, shown.collect::<Vec<_>>(), "at {top}");
        }
        assert_eq!(
            (super::held(&(95..116), slots, 95 % slots), super::held(&(90..111), slots, 95 % slots)),
            (Some(95), Some(95))
        );
        assert_eq!((of(3).most_shown(5), super::held(&(0..0), 0, 0)), (3, None));
    }

    #[test]
    fn rows_stand_where_the_scroll_bar_says() {
        let list = of(100_000);
        assert_eq!((list.height(), list.offset(4_010.0, 95)), (4_000_000.0, 3_800.0));
    }

    #[test]
    fn a_list_that_is_too_high_is_still_scrolled_to_its_end() {
        let list = of(1_000_000);
        assert!((list.height() - HIGHEST).abs() < f64::EPSILON);
        let end = HIGHEST - 400.0;
        let shown = list.shown(end, 0);
        assert_eq!(shown, 999_990..1_000_000);
        assert!((list.offset(end, 999_990) - end).abs() < f64::EPSILON);
    }
}
