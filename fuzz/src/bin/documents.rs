//! Any file of any document, saved: it is read and checked with the project that it belongs to.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use projects::documents::CheckDocuments;
use projects::library::{Library, Trials};

/// Proofs and trials of tools take a hundred times as long as reading: one input of so many has them.
const ONE_OF: usize = 32;

fuzz_target!(|input: &[u8]| {
    let Some((path, text, id)) = fuzz::file(input) else { return };
    let before = fuzz::project();
    let mut after = before.clone();
    after.insert(path, text.to_owned());
    let sum: usize = input.iter().map(|byte| usize::from(*byte)).sum();
    if sum.is_multiple_of(ONE_OF) {
        let _ = fuzz::work(CheckDocuments { before, after, changed: BTreeSet::from([id]) });
    } else {
        let _ = fuzz::on_stack(|| Library::build(after, &Trials::NONE).problems.len());
    }
});
