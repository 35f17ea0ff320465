//! What is wrong with a selection, though it reads well.

use super::{Spec, Split};
use crate::filter::Status;

/// The least resemblance that is looked for: below it, conversations have little more in common than their language.
const LEAST_NEAR: f64 = 0.3;
/// Above it, JSON readers may round.
const LARGEST_SEED: u64 = (1 << 53) - 1;

impl Spec {
    /// Everything that is out of range: the pointer of a field (RFC 6901), and what is wrong with it.
    pub fn problems(&self) -> Vec<(String, String)> {
        let filter = self.filter.problems().into_iter();
        let mut found: Vec<_> = filter.map(|(at, message)| (format!("/filter{at}"), message)).collect();
        if let Some(i) = self.filter.outcomes.iter().position(|status| *status == Status::Unfinished) {
            let message = "conversations that have not ended may still change, and a corpus may not".to_owned();
            found.push((format!("/filter/outcomes/{i}"), message));
        }
        let near = self.duplicates.near.map(|near| ("/duplicates/near", near));
        for (at, near) in near.into_iter().chain([("/split/near", self.split.near)]) {
            if !(LEAST_NEAR..=1.0).contains(&near) {
                found.push((at.to_owned(), format!("expected {LEAST_NEAR} to 1, found {near}")));
            }
        }
        if self.balance.is_some_and(|balance| balance.at_most == Some(0)) {
            found.push(("/balance/at_most".into(), "nothing would be left; expected 1 or more".into()));
        }
        if self.limit == Some(0) {
            found.push(("/limit".into(), "nothing would be left; expected 1 or more".into()));
        }
        found.extend(self.split.problems());
        found
    }
}

impl Split {
    fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if !(0.0..1.0).contains(&self.golden) {
            let message = format!("expected a share from 0 to below 1, found {}", self.golden);
            found.push(("/split/golden".into(), message));
        }
        if self.seed > LARGEST_SEED {
            found.push(("/split/seed".into(), format!("expected at most {LARGEST_SEED}, found {}", self.seed)));
        }
        found
    }
}

/// What is wrong with a corpus' name; `None` if nothing is. It is used in addresses and file names.
pub fn name_problem(name: &str) -> Option<String> {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let good =
        name.len() <= 64 && name.starts_with(letter) && name.chars().all(|c| letter(c) || matches!(c, '_' | '-' | '.'));
    (!good).then(|| {
        "expected 1 to 64 lower-case letters, digits, `_`, `-` and `.`, the first one a letter or digit".to_owned()
    })
}
