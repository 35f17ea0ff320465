use super::corpus::{Answer, Domain};
pub fn expand(_domain: &Domain, _calls: usize) -> Vec<Answer> {
    Vec::new()
}
