//! Where pages of long lists begin.

/// Rows of a page: as many as the API gives at once.
pub const PAGE: usize = 200;

/// Where a page begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// After what this cursor stands for; `None`: at the beginning.
    pub after: Option<String>,
    /// After so many rows more.
    pub skip: usize,
}

impl Place {
    /// As parameters of the API.
    pub fn pairs(self) -> Vec<(&'static str, String)> {
        let skip = (self.skip > 0).then(|| ("skip", self.skip.to_string()));
        let after = self.after.map(|after| ("after", after));
        [("limit", PAGE.to_string())].into_iter().chain(after).chain(skip).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_asked_for_with_what_it_needs() {
        let pairs = Place { after: Some("a".to_owned()), skip: 0 }.pairs();
        assert_eq!(pairs, [("limit", PAGE.to_string()), ("after", "a".to_owned())]);
        let pairs = Place { after: None, skip: 400 }.pairs();
        assert_eq!(pairs, [("limit", PAGE.to_string()), ("skip", "400".to_owned())]);
    }
}
