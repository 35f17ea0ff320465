//! The liar: tool simulators that fabricate in half of their answers. Nothing they invent reaches a transcript, and
//! what an honest one says in its own words does.
//!
//! `liar/*.yaml` hold the worlds and answers that people wrote; [`expand`] makes thousands of them.

mod liar {
    pub mod corpus;
    pub mod expand;
    pub mod play;
}

use std::collections::BTreeMap;

use liar::corpus::{Answer, Domain};
use liar::play::Desk;

const CALLS: usize = 10_000;

#[derive(Default)]
struct Tally {
    calls: usize,
    wrong: usize,
}

#[test]
fn no_fabrication_reaches_a_transcript_and_truths_do() {
    let mut by_kind: BTreeMap<(&'static str, String), Tally> = BTreeMap::new();
    let mut shown = Vec::new();
    for domain in Domain::all() {
        let desk = Desk::open(&domain);
        let mut answers: Vec<Answer> = domain.answers.clone();
        answers.extend(liar::expand::expand(&domain, CALLS / 4));
        for answer in &answers {
            let told = desk.told(answer);
            let wrong = told.passed != answer.truthful;
            let class = match (answer.undecidable, answer.truthful) {
                (true, _) => "undecidable",
                (false, true) => "truth",
                (false, false) => "lie",
            };
            let tally = by_kind.entry((class, answer.kind.clone())).or_default();
            tally.calls += 1;
            tally.wrong += usize::from(wrong);
            if wrong && !answer.undecidable {
                let line = format!("{class} {} {} {}: {} ({})", domain.name, answer.kind, answer.arguments, answer.content, told.reason);
                shown.push(line);
            }
        }
    }
    shown.sort();
    shown.dedup_by_key(|line| line.chars().take(80).collect::<String>());
    let mut sums: BTreeMap<&str, Tally> = BTreeMap::new();
    for ((class, kind), tally) in &by_kind {
        println!("{class:12} {kind:24} {:6} calls {:4} wrong", tally.calls, tally.wrong);
        let sum = sums.entry(class).or_default();
        sum.calls += tally.calls;
        sum.wrong += tally.wrong;
    }
    let (truths, lies) = (&sums["truth"], &sums["lie"]);
    println!("{} lies, {} in a transcript; {} truths, {} refused", lies.calls, lies.wrong, truths.calls, truths.wrong);
    shown.iter().take(std::env::var("LIAR_SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(40)).for_each(|line| println!("{line}"));
    assert!(truths.calls + lies.calls >= CALLS, "only {} calls", truths.calls + lies.calls);
    assert!(lies.calls.abs_diff(truths.calls) < CALLS / 5, "about half of the answers are lies");
    assert_eq!(lies.wrong, 0, "fabrications in transcripts");
    assert!(truths.wrong * 100 < truths.calls, "{} of {} truths were refused", truths.wrong, truths.calls);
}
