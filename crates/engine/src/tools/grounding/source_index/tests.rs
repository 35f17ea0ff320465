use super::tracing::{COMPUTED, MOST_COMPUTED_AMOUNTS};
use super::*;
use crate::testing::ProcessorTime;

fn heard() -> SourceIndex {
    let mut heard = SourceIndex::default();
    heard.hear(
        "its instructions",
        "A dispute is decided within 10 working days. Abroad costs 1.75 %. Today is 2026-03-02. Call 112 at 9.30am.",
    );
    heard.hear("the user", "It is about 44.17 EUR, card ending 4417, phone +999 (555) 019-0190.");
    heard.hear(
        "call_1",
        r#"{"items": [{"id": "txn_9001", "amount": -44.17, "booked": "2026-02-11"}, {"id": "txn_9002", "amount": -12.5},
           {"id": "txn_9003", "amount": -19.99}], "iban": "DE12 3456 7890", "note": "fee 4.50\nNext: \u20ac7.25", "month": "2026-04"}"#,
    );
    heard
}

fn unknown(text: &str) -> Vec<String> {
    heard().stated(text).into_iter().filter(|s| s.source.is_none()).map(|s| s.fact).collect()
}

#[test]
fn what_was_heard_may_be_said_in_any_form() {
    for text in [
        "€44.17 on February 11th, 2026 with txn_9001, card ending in 4417, card x4417 or XXXX-4417.",
        "Call +9995550190190 or the account ending 7890.",
        "The fee is 4.50 or €7.25, US$44.17, EUR44.17, €4.50-€7.25, €4.50–€44.17.",
        "On 11-Feb-2026, in April 2026, on 2026/02/11 or 02/11/2026.",
        r#"{"task": "Refund:\n- 44.17\n- txn_9001\nThanks", "amount": 7}"#,
    ] {
        assert_eq!(unknown(text), [""; 0], "{text}");
    }
}

#[test]
fn a_list_of_guesses_is_not_computed() {
    let guesses = (1..1_000).map(|n| format!("{}.{:02}", n / 100, n % 100)).collect::<Vec<_>>();
    let known = |stated: Vec<StatedFact>| stated.iter().filter(|stated| stated.source.is_some()).count();
    let heard_itself = 4;
    assert!(known(heard().stated(&guesses.join(" "))) <= MOST_COMPUTED_AMOUNTS + heard_itself);
    // Nor is it, a few at a time.
    let mut speaker = heard();
    let said = guesses.chunks(20).map(|some| known(speaker.speak("its own words", &some.join(" "))));
    assert!(said.sum::<usize>() <= MOST_COMPUTED_AMOUNTS + heard_itself);
}

#[test]
fn what_follows_may_be_said() {
    for text in [
        "That is 56.67 in total, or 31.67 less, twice that is 88.34.",
        "All three, 44.17, 12.50 and 19.99, are 76.66.",
        "44.17 + 12.50 + 19.99 + 4.50 = 81.16.",
        "That is about 44 EUR, or 1.42 a day.",
        "You will hear by March 16, 2026.",
        "1.75 % of 44.17 EUR are 0.77 EUR.",
    ] {
        assert_eq!(unknown(text), [""; 0], "{text}");
    }
}

#[test]
fn ways_of_speaking_are_no_facts() {
    for text in [
        "We work 24/7, 9-5, 10am-12pm and 9.30am, in 4G, 802.11ac, 2.4 GHz, Bluetooth 5.3, within 3 days or 120 minutes.",
        "Pay 10/12 instalments, 02/03, 20%-30%, error 404, since 2019, the 2nd of them, step 1.",
        "Only 1 may come, 50 people at most, iOS 17.2, version 1.2.3?",
    ] {
        assert_eq!(unknown(text), [""; 0], "{text}");
    }
}

#[test]
fn what_comes_from_nowhere_is_found() {
    for (text, fact) in [
        ("It was 144.71 EUR.", "144.71"),
        ("It was 33 EUR.", "33"),
        ("A fee of €151 applies.", "151"),
        ("See txn_9004.", "txn_9004"),
        ("On 2026-02-12.", "2026-02-12"),
        ("On 13 February 2026.", "13 february 2026"),
        ("On 13-Feb-2026.", "13-feb-2026"),
        ("Your code is 99812.", "99812"),
        ("Card ending 4418.", "4418"),
        ("Write to help@example.com.", "help@example.com"),
        (r#"{"summary": "They owe 731.55\nand are sorry"}"#, "731.55"),
    ] {
        assert_eq!(unknown(text), [fact], "{text}");
    }
}

#[test]
fn sources_are_named() {
    let stated = heard().stated("txn_9002 over 12.50, 44.17 and 56.67");
    let sources: Vec<_> = stated.iter().map(|s| s.source.as_deref().unwrap_or("nobody")).collect();
    assert_eq!(sources, ["call_1", "call_1", "the user", COMPUTED]);
}

#[test]
fn hostile_texts_cost_little() {
    let mut heard = SourceIndex::default();
    let many: String = (0..20_000).map(|i| format!("{i}{i}.{:02} ", i % 100)).collect();
    heard.hear("the user", &many);
    heard.hear("call_1", r#"{"at": 99999999999999999999, "n": 9999999999.99}"#);
    assert!(!heard.stated(&many.replace('.', "7.")).is_empty());
}

/// Cubic, this took 85 s.
#[test]
fn a_long_sum_costs_little_and_is_not_traced_to_its_end() {
    let started = ProcessorTime::now();
    let sum = |from: usize, to: usize| (from..to).map(|n| n.to_string()).collect::<Vec<_>>().join(" + ");
    let stated = heard().stated(&sum(1, 20_001));
    assert_eq!(stated.len(), 1_001);
    let last = &stated[1_000];
    assert_eq!((last.fact.as_str(), &last.source), ("17801 more facts than the 1000 that are traced", &None));
    // Totals of lists are still found.
    let listed = (0..300).map(|n| format!("{}.{:02}", 1_000 + n * 7, n % 100)).collect::<Vec<_>>().join(", ");
    let mut many = SourceIndex::default();
    many.hear("call_1", &format!("You paid {listed}."));
    let total: usize = (0..300).map(|n| (1_000 + n * 7) * 100 + n % 100).sum();
    let stated = many.stated(&format!("{listed}: {}.{:02}", total / 100, total % 100));
    assert_eq!(stated.last().and_then(|stated| stated.source.as_deref()), Some(COMPUTED));
    started.assert_took_at_most(10, "");
}

#[test]
fn texts_of_every_kind_cost_little() {
    // As much as is read of a reply, of every kind of fact that is looked up or computed.
    let kinds: [fn(usize) -> String; 6] = [
        |n| format!("{} + ", n + 1_000),
        |n| format!("{}-{:02}-{:02} ", 1900 + n / 336 % 200, n / 28 % 12 + 1, n % 28 + 1),
        |n| format!("txn_{n}, "),
        |n| format!("{} days, {n} weeks, ", n % 400),
        |n| format!("{n}-{n}-x, "),
        |n| format!("{n} "),
    ];
    for kind in kinds {
        let started = ProcessorTime::now();
        let mut text = String::new();
        for n in 0.. {
            text += &kind(n);
            if text.len() > 500_000 {
                break;
            }
        }
        let mut heard = heard();
        heard.hear("the user", &text);
        heard.speak("its own words", &text);
        heard.stated(&text.replace(['1', '2'], "7").replace("days", "nights"));
        started.assert_took_at_most(10, &text);
    }
}
