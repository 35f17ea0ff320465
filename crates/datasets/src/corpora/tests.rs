//! What holds of every selection.

use std::collections::{BTreeMap, BTreeSet};

use domain::corpus::{Balance, Dimension, Duplicates, Side, Spec, Split, Step};
use domain::filter::Symbols;
use domain::persona::Complexity;
use proptest::prelude::*;
use strum::VariantArray;
use uuid::Uuid;

use super::scan;
use super::select::{Candidate, CandidateOutcome, Candidates, SelectionResult, select};
use super::shingles::{Shingles, resemblance};
use super::sketch::Sketch;
use super::utterances::{Speaker, Utterance, Utterances};

/// A conversation in a test: what is said is `length` words after the `topic`-th hundred of words, some of them changed.
#[derive(Debug, Clone)]
struct Play {
    scenario: u8,
    family: u8,
    persona: u8,
    complexity: usize,
    overall: u8,
    topic: u8,
    changed: Vec<u8>,
}

fn plays() -> impl Strategy<Value = Vec<Play>> {
    let changed = prop::collection::vec(0..60_u8, 0..3);
    let play = (0..8_u8, 0..3_u8, 0..4_usize, 5..10_u8, 0..12_u8, changed).prop_map(
        |(scenario, persona, complexity, overall, topic, changed)| Play {
            scenario,
            family: scenario / 2,
            persona,
            complexity,
            overall,
            topic,
            changed,
        },
    );
    prop::collection::vec(play, 1..40)
}

fn dimensions() -> impl Strategy<Value = Dimension> {
    prop::sample::select(vec![Dimension::Scenario, Dimension::Persona, Dimension::Complexity])
}

fn specs() -> impl Strategy<Value = Spec> {
    let near = prop::option::of(prop::sample::select(vec![0.5, 0.8, 0.95]));
    let balance =
        prop::option::of((dimensions(), prop::option::of(1..5_u32)).prop_map(|(by, at_most)| Balance { by, at_most }));
    let split = (0.0..0.9, any::<u8>()).prop_map(|(golden, seed)| Split { golden, seed: seed.into(), near: 0.7 });
    (any::<bool>(), near, balance, prop::option::of(1..30_u32), split).prop_map(
        |(exact, near, balance, limit, split)| Spec {
            duplicates: Duplicates { exact, near },
            balance,
            limit,
            split,
            ..Spec::default()
        },
    )
}

fn utterances(play: &Play) -> Utterances {
    let word = |i: u8| match play.changed.iter().position(|changed| *changed == i) {
        Some(how) => format!("other{how}x{i}"),
        None => format!("w{}x{i}", play.topic),
    };
    let text: Vec<String> = (0..60).map(word).collect();
    Utterances(vec![Utterance { by: Speaker::User, text: text.join(" ") }])
}

fn candidates(plays: &[(usize, Play)]) -> Candidates {
    let mut symbols = Symbols::default();
    let mut shingles = Shingles::new().unwrap();
    let (mut all, mut sketches) = (Vec::new(), Vec::new());
    for (i, play) in plays {
        let utterances = utterances(play);
        let own = utterances.shingles();
        shingles.push(&own).unwrap();
        sketches.push(Sketch::of(&own));
        all.push(Candidate {
            id: Uuid::from_u128(*i as u128),
            run: Uuid::nil(),
            position: i32::try_from(*i).unwrap(),
            scenario: symbols.intern(&format!("scenario {}", play.scenario)),
            family: symbols.intern(&format!("family {}", play.family)),
            persona: symbols.intern(&format!("persona {}", play.persona)),
            complexity: Complexity::VARIANTS[play.complexity],
            overall: Some(play.overall),
            hash: utterances.hash("playbook"),
            findings: scan::Findings::default(),
        });
    }
    Candidates { all, sketches, shingles: shingles.finish().unwrap(), symbols }
}

fn numbered(plays: &[Play]) -> Vec<(usize, Play)> {
    plays.iter().cloned().enumerate().collect()
}

fn selected(spec: &Spec, candidates: &Candidates) -> SelectionResult {
    select(spec, candidates).unwrap()
}

fn fates(spec: &Spec, plays: &[(usize, Play)]) -> BTreeMap<Uuid, CandidateOutcome> {
    let candidates = candidates(plays);
    candidates.all.iter().map(|candidate| candidate.id).zip(selected(spec, &candidates).fates).collect()
}

/// How many of each group there are before they are balanced, and after.
fn balanced(balance: Balance, plays: &[Play]) -> (BTreeMap<usize, u32>, BTreeMap<usize, u32>) {
    let spec = Spec { balance: Some(balance), ..Spec::default() };
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    for (play, fate) in plays.iter().zip(selected(&spec, &candidates(&numbered(plays))).fates) {
        let group = match balance.by {
            Dimension::Scenario => play.scenario.into(),
            Dimension::Persona => play.persona.into(),
            Dimension::Complexity => play.complexity,
        };
        let dropped = if let CandidateOutcome::Dropped { by, .. } = fate { Some(by) } else { None };
        if dropped != Some(Step::ExactDuplicates) {
            *before.entry(group).or_default() += 1;
            *after.entry(group).or_default() += u32::from(dropped != Some(Step::Balance));
        }
    }
    (before, after)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_is_on_both_sides(spec in specs(), plays in plays()) {
        let candidates = candidates(&numbered(&plays));
        let selected = selected(&spec, &candidates);
        let on = |side: Side| -> Vec<usize> {
            (0..plays.len()).filter(|i| selected.fates[*i] == CandidateOutcome::Kept(side)).collect()
        };
        let (train, golden) = (on(Side::Train), on(Side::Golden));
        let families = |side: &[usize]| side.iter().map(|i| plays[*i].family).collect::<BTreeSet<_>>();
        prop_assert!(families(&train).is_disjoint(&families(&golden)));
        // Every pair, without any of the means by which it was selected.
        for (one, other) in train.iter().flat_map(|one| golden.iter().map(move |other| (one, other))) {
            let found = resemblance(&candidates.shingles.of(*one).unwrap(), &candidates.shingles.of(*other).unwrap());
            prop_assert!(found < spec.split.near, "{one} and {other} resemble each other by {found}");
        }
        prop_assert_eq!((selected.leakage.families, selected.leakage.near_duplicates), (0, 0));
        prop_assert_eq!(selected.leakage.pairs, (train.len() * golden.len()) as u64);
        let blocks: BTreeSet<_> = families(&train).union(&families(&golden)).copied().collect();
        prop_assert!(spec.split.golden == 0.0 || blocks.len() < 2 || !selected.split.together.is_empty() || !golden.is_empty());
    }

    #[test]
    fn the_funnel_counts_what_the_manifest_lists(spec in specs(), plays in plays()) {
        let selected = selected(&spec, &candidates(&numbered(&plays)));
        prop_assert_eq!(selected.fates.len(), plays.len());
        let mut left = plays.len() as u64;
        for stage in &selected.funnel {
            let listed = selected.fates.iter().filter(|fate| matches!(fate, CandidateOutcome::Dropped { by, .. } if *by == stage.step));
            prop_assert_eq!(listed.count() as u64, stage.dropped);
            prop_assert_eq!(stage.reasons.iter().map(|reason| reason.conversations).sum::<u64>(), stage.dropped);
            left -= stage.dropped;
            prop_assert_eq!(stage.left, left);
        }
        prop_assert_eq!(left, selected.split.train.conversations + selected.split.golden.conversations);
        prop_assert!(left >= 1, "of something, something is left");
    }

    #[test]
    fn the_order_says_nothing(spec in specs(), plays in plays(), turn in any::<prop::sample::Index>()) {
        let mut turned = numbered(&plays);
        let straight = fates(&spec, &turned);
        prop_assert_eq!(&straight, &fates(&spec, &turned));
        turned.reverse();
        turned.rotate_left(turn.index(plays.len()));
        prop_assert_eq!(straight, fates(&spec, &turned));
    }

    #[test]
    fn duplicates_are_removed_once(near in prop::sample::select(vec![0.5, 0.8]), plays in plays()) {
        let spec = Spec { duplicates: Duplicates { exact: true, near: Some(near) }, ..Spec::default() };
        let all = numbered(&plays);
        let first = fates(&spec, &all);
        let kept = |(i, _): &(usize, Play)| matches!(first[&Uuid::from_u128(*i as u128)], CandidateOutcome::Kept(_));
        let kept: Vec<_> = all.into_iter().filter(kept).collect();
        let again = fates(&spec, &kept);
        prop_assert!(again.values().all(|fate| matches!(fate, CandidateOutcome::Kept(_))));
        prop_assert!(again.iter().all(|(id, fate)| first[id] == *fate), "the same selection has the same split");
    }

    #[test]
    fn balanced_groups_are_equal(by in dimensions(), plays in plays()) {
        let (before, after) = balanced(Balance { by, at_most: None }, &plays);
        let smallest = before.values().min().copied();
        prop_assert!(before.keys().eq(after.keys()) && after.values().all(|size| Some(*size) == smallest), "{before:?} {after:?}");
    }

    #[test]
    fn of_each_group_so_many_stay_at_most(by in dimensions(), most in 1..5_u32, plays in plays()) {
        let (mut before, after) = balanced(Balance { by, at_most: Some(most) }, &plays);
        before.values_mut().for_each(|size| *size = (*size).min(most));
        prop_assert_eq!(before, after);
    }

    #[test]
    fn a_sketch_tells_the_resemblance(all in prop::collection::btree_set(any::<u32>(), 1000), lacking in 0..400_u32) {
        // Each of two sets lacks so many of a thousand that the other one has.
        let all: Vec<u32> = all.into_iter().collect();
        let (one, other) = (&all[lacking as usize..], &all[..1000 - lacking as usize]);
        let expected = f64::from(1000 - 2 * lacking) / 1000.0;
        prop_assert!((resemblance(one, other) - expected).abs() < 1e-9);
        let told = Sketch::of(one).resemblance(&Sketch::of(other));
        // Five standard deviations of the share of 128 numbers that agree, and four numbers more: few differences are not
        // normally distributed.
        let most = 5.0 * (expected * (1.0 - expected) / 128.0).sqrt() + 4.0 / 128.0;
        prop_assert!((told - expected).abs() <= most, "{expected}, told {told}");
    }
}

#[test]
fn the_best_one_stays_for_its_duplicates() {
    let play = |overall, changed: &[u8]| Play {
        scenario: 0,
        family: 0,
        persona: 0,
        complexity: 0,
        overall,
        topic: 1,
        changed: changed.to_vec(),
    };
    let plays = numbered(&[play(7, &[]), play(9, &[]), play(8, &[59]), play(9, &[10, 20, 30])]);
    let spec = Spec { duplicates: Duplicates { exact: true, near: Some(0.8) }, ..Spec::default() };
    let said: Vec<String> = fates(&spec, &plays)
        .values()
        .map(|fate| match fate {
            CandidateOutcome::Kept(side) => side.to_string(),
            CandidateOutcome::Dropped { by, reason } => format!("{by}: {reason}"),
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    exact_duplicates: says the same as 00000000-0000-0000-0000-000000000001
    train
    near_duplicates: resembles 00000000-0000-0000-0000-000000000001 by 0.965
    train
    ");
}

#[test]
fn white_space_and_the_order_of_arguments_make_no_difference() {
    use domain::event::{Event, EventKind, Usage};
    use domain::message::ToolCall;
    use domain::transcript::Transcript;
    let hash = |content: &str, arguments: &str| {
        let call = ToolCall::new("call_1".into(), "send".into(), arguments.into());
        let kind = EventKind::AgentSpoke {
            content: content.into(),
            reasoning: None,
            tool_calls: vec![call],
            usage: Usage::default(),
            sampling: None,
        };
        let transcript: Transcript = [Event { seq: 0, ancestry: Vec::new(), kind }].into_iter().collect();
        Utterances::from(transcript).hash("bank")
    };
    let one = hash("I send it.", r#"{"to": "Ann", "amount": 12.0}"#);
    assert_eq!(one, hash(" I  send\nit. ", r#"{"amount": 12, "to": "Ann"}"#));
    assert_ne!(one, hash("I send it.", r#"{"to": "Ann", "amount": 13}"#));
}
