//! Values in what was said that may belong to a person, and secrets.
//!
//! The product's data is made up, and models make up more; but a model may also repeat what it was trained on, and an
//! author may have pasted what is real. What a program can recognise is found here. A value that the conversation's own
//! documents hold is the product's data, and one that is set apart for examples can belong to nobody: both are counted
//! apart and are no reason to drop anything.

mod checksums;
mod pii;
mod secrets;

use std::collections::{BTreeMap, BTreeSet};

use domain::corpus::{ScanReport, Values};

use super::authored_values::AuthoredValues;
use super::utterances::{Speaker, Utterances};

/// A value in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedValue<'a> {
    pub kind: &'static str,
    pub value: &'a str,
    /// Set apart for examples and tests: it can belong to nobody.
    pub reserved: bool,
}

/// What a conversation holds. Values themselves are not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The first value that may belong to somebody: its kind, and where it stands.
    pub pii: Option<(&'static str, Speaker)>,
    pub secret: Option<(&'static str, Speaker)>,
    /// How many different values there are of each kind.
    pub found: BTreeMap<&'static str, u32>,
    pub own_data: BTreeMap<&'static str, u32>,
    pub reserved: BTreeMap<&'static str, u32>,
}

pub fn scan(utterances: &Utterances, authored: &AuthoredValues) -> Findings {
    let mut findings = Findings::default();
    let mut seen = BTreeSet::new();
    for utterance in &utterances.0 {
        let personal = pii::find(&utterance.text).into_iter().map(|found| (found, false));
        for (found, secret) in personal.chain(secrets::find(&utterance.text).into_iter().map(|found| (found, true))) {
            if !seen.insert((found.kind, found.value)) {
                continue;
            }
            let counted = if authored.holds(found.value) {
                &mut findings.own_data
            } else if found.reserved {
                &mut findings.reserved
            } else {
                let first = if secret { &mut findings.secret } else { &mut findings.pii };
                first.get_or_insert((found.kind, utterance.by));
                &mut findings.found
            };
            *counted.entry(found.kind).or_default() += 1;
        }
    }
    findings
}

/// Counts what conversations hold.
pub fn count(scanned: &mut ScanReport, findings: &Findings) {
    for (total, own) in [
        (&mut scanned.found, &findings.found),
        (&mut scanned.own_data, &findings.own_data),
        (&mut scanned.reserved, &findings.reserved),
    ] {
        for (kind, values) in own {
            let sum: &mut Values = total.entry((*kind).to_owned()).or_default();
            sum.conversations += 1;
            sum.values += u64::from(*values);
        }
    }
}

#[cfg(test)]
mod tests;
