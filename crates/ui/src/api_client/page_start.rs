//! Where pages of long lists begin.

use domain::api::Page;

/// Rows of a page: as many as the API gives at once.
pub const PAGE: usize = 200;

/// Where a page begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageStart {
    /// After what this cursor stands for; `None`: at the beginning.
    pub after: Option<String>,
    /// After so many rows more.
    pub skip: usize,
}

impl PageStart {
    /// As fields of parameters that take them: limit, cursor, rows to pass over.
    pub fn parts(self) -> (Option<u16>, Option<String>, Option<u32>) {
        let skip = u32::try_from(self.skip).unwrap_or(u32::MAX);
        (u16::try_from(PAGE).ok(), self.after, (skip > 0).then_some(skip))
    }
}

/// Rows of a page of what comes in one piece: as many as the API gives of other lists.
const CUT: usize = 50;

/// A page of what the API answers in one piece, however long it is. The cursor is how many rows stand before the page.
pub fn cut<T>(all: Vec<T>, after: Option<String>) -> Page<T> {
    let from: usize = after.and_then(|after| after.parse().ok()).unwrap_or(0);
    let to = from.saturating_add(CUT);
    let next = (to < all.len()).then(|| to.to_string());
    Page { items: all.into_iter().skip(from).take(CUT).collect(), next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_one_piece_is_read_page_by_page() {
        let page = |after: Option<&str>| cut((0..120).collect::<Vec<_>>(), after.map(str::to_owned));
        let (first, second, last) = (page(None), page(Some("50")), page(Some("100")));
        assert_eq!([first.items.len(), second.items.len(), last.items.len()], [50, 50, 20]);
        assert_eq!((first.next.as_deref(), second.next.as_deref(), last.next), (Some("50"), Some("100"), None));
        assert_eq!(second.items.first(), Some(&50));
        assert_eq!(page(Some("120")).items.len(), 0);
    }

    #[test]
    fn a_place_is_asked_for_with_what_it_needs() {
        let place = PageStart { after: Some("a".to_owned()), skip: 0 };
        assert_eq!(place.parts(), (Some(200), Some("a".to_owned()), None));
        assert_eq!(PageStart { after: None, skip: 400 }.parts(), (Some(200), None, Some(400)));
    }
}
