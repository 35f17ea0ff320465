//! The liar: tool simulators that fabricate in half of their answers. Nothing they invent reaches a transcript, and
//! what an honest one says in its own words does.
//!
//! `liar/*.yaml` hold the worlds and answers that people wrote; [`expand`] makes thousands of them.
#![expect(clippy::expect_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

mod liar {
    pub mod corpus;
    pub mod expand;
    pub mod play;
}

use std::collections::BTreeMap;

use liar::corpus::{Answer, Domain};
use liar::play::LiarPlaybook;

const CALLS: usize = 10_000;

#[derive(Default)]
struct Tally {
    calls: usize,
    wrong: usize,
}

#[derive(Default)]
struct Heard {
    by_kind: BTreeMap<(&'static str, String), Tally>,
    /// What passed or was refused wrongly, to read.
    wrong: Vec<String>,
}

/// All answers of a domain, those that people wrote and those made from them.
fn hear(domain: &Domain, calls: usize) -> Heard {
    let desk = LiarPlaybook::open(domain);
    let mut heard = Heard::default();
    let mut answers: Vec<Answer> = domain.answers.clone();
    answers.extend(liar::expand::expand(domain, calls));
    for answer in &answers {
        let told = desk.reply_to(answer);
        let wrong = told.passed != answer.truthful;
        let class = match (answer.undecidable, answer.truthful) {
            (true, _) => "undecidable",
            (false, true) => "truth",
            (false, false) => "lie",
        };
        let tally = heard.by_kind.entry((class, answer.kind.clone())).or_default();
        tally.calls += 1;
        tally.wrong += usize::from(wrong);
        if wrong && !answer.undecidable {
            let (name, kind, said) = (domain.name, &answer.kind, &answer.content);
            heard.wrong.push(format!("{class} {name}, {kind}: {said} for {} ({})", answer.arguments, told.reason));
        }
    }
    heard
}

#[test]
fn no_fabrication_reaches_a_transcript_and_truths_do() {
    let domains = Domain::all();
    let heard: Vec<Heard> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            domains.iter().map(|domain| scope.spawn(|| hear(domain, CALLS / domains.len()))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut by_kind: BTreeMap<(&str, String), Tally> = BTreeMap::new();
    let mut shown = Vec::new();
    for domain in heard {
        shown.extend(domain.wrong);
        for (kind, tally) in domain.by_kind {
            let sum = by_kind.entry(kind).or_default();
            sum.calls += tally.calls;
            sum.wrong += tally.wrong;
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
    shown.iter().take(40).for_each(|line| println!("{line}"));
    assert!(truths.calls + lies.calls >= CALLS, "only {} calls", truths.calls + lies.calls);
    assert!(lies.calls.abs_diff(truths.calls) < CALLS / 5, "about half of the answers are lies");
    assert_eq!(lies.wrong, 0, "fabrications in transcripts");
    assert!(truths.wrong * 100 < truths.calls, "{} of {} truths were refused", truths.wrong, truths.calls);
}
