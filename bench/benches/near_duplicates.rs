//! What it costs to find the near-duplicates among 10,000 descriptions of scenarios: 50 million pairs.

use std::time::Instant;

use domain::similarity::NearDuplicates;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const TEXTS: usize = 10_000;
const THREADS: usize = 2;

const WHO: [&str; 8] = [
    "A pensioner",
    "A student abroad",
    "A small shop owner",
    "A nurse after a night shift",
    "An impatient traveller",
    "A father of three",
    "A new customer",
    "A long-standing client",
];
const WHAT: [&str; 16] = [
    "asks why an overdraft fee was charged twice",
    "wants a card blocked that was stolen on a train",
    "disputes a payment to a restaurant",
    "cannot find the transfer that a tenant says was sent",
    "moves to another town and changes the address",
    "wants to send more than the daily limit allows",
    "hands in a renewed passport",
    "asks for the balance of somebody else's account",
    "cancels a booking the day before",
    "merges two contacts that are the same person",
    "has no mobile data since the holiday",
    "wants to pay a bill in two parts",
    "asks for a refund of a subscription",
    "reports a phone that was lost at the beach",
    "adds a payee and pays the rent at once",
    "claims that an amount on the statement is wrong",
];
const TURN: [&str; 8] = [
    "but gives the wrong postcode at first",
    "and insists on speaking to a person",
    "while the backend answers with an error once",
    "although the deadline has passed",
    "and remembers the date wrongly",
    "but changes their mind half-way",
    "and has a second question about opening hours",
    "without knowing the account number",
];
const END: [&str; 8] = [
    "the agent explains the rule and refuses",
    "the agent grants it once and notes why",
    "the case is handed to a colleague",
    "the agent finds the record and corrects it",
    "nothing is changed",
    "the agent offers what the policy allows",
    "a ticket is opened and its number told",
    "the customer accepts a smaller amount",
];

/// Sentences of about 120 characters that share their phrases, as scenarios of a few playbooks do. They are more alike
/// than those of people: 524,288 exist, and one in some thousand pairs is a near-duplicate.
fn descriptions() -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut one = |phrases: &[&'static str]| phrases[rng.random_range(0..phrases.len())];
    (0..TEXTS)
        .map(|i| format!("{} {} {}; {} ({}).", one(&WHO), one(&WHAT), one(&TURN), one(&END), 100 + i % 64))
        .collect()
}

/// One search takes seconds, so it is timed once for each threshold, on as many threads as `groundstate validate` uses.
fn main() {
    let texts = descriptions();
    let letters: usize = texts.iter().map(|text| text.chars().count()).sum();
    println!("{TEXTS} texts of {} letters on average, {THREADS} threads", letters / texts.len());
    for threshold in [0.85, 0.90] {
        let start = Instant::now();
        let search = &NearDuplicates::new(texts.iter().map(String::as_str), threshold);
        let found: usize = std::thread::scope(|scope| {
            let parts: Vec<_> =
                (0..THREADS).map(|part| scope.spawn(move || search.part(part, THREADS).len())).collect();
            parts.into_iter().map(|part| part.join().unwrap_or_default()).sum()
        });
        println!("{threshold}: {:.2} s, {found} pairs reach it", start.elapsed().as_secs_f64());
    }
}
