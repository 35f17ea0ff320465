use proptest::prelude::*;

use super::{Likeness, NearDuplicates, SAME_DESCRIPTION, SAME_GOAL, SimilarPair, ratio};

#[test]
fn the_ratio_is_that_of_python() {
    let recorded = include_str!("../../tests/similarity/pairs.json");
    let recorded: Vec<(String, String, f64)> = serde_json::from_str(recorded).unwrap();
    assert!(recorded.len() > 300);
    for (a, b, expected) in recorded {
        assert_eq!(ratio(&a, &b).to_bits(), expected.to_bits(), "{a:?} {b:?}");
    }
}

/// Every pair, compared letter by letter.
fn naive(texts: &[String], threshold: f64) -> Vec<SimilarPair> {
    let pairs = (0..texts.len()).flat_map(|first| (first + 1..texts.len()).map(move |second| (first, second)));
    pairs
        .map(|(first, second)| SimilarPair { first, second, ratio: ratio(&texts[first], &texts[second]) })
        .filter(|near| near.ratio >= threshold)
        .collect()
}

#[test]
fn counts_that_do_not_fit_a_byte_lose_nothing() {
    let texts = ["a".repeat(600), "a".repeat(590) + "b", "b".repeat(600), "ab".repeat(300)];
    assert_eq!(NearDuplicates::new(texts.iter().map(String::as_str), 0.9).all(), naive(&texts, 0.9));
}

/// Texts that are often much alike: variations of one another over few letters, or over many.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = prop_oneof!["[ab]{0,12}", "[a-e ]{0,40}", "[ab]{250,270}", "\\PC{0,30}"];
    let edits = prop::collection::vec((any::<prop::sample::Index>(), "[a-c]{0,3}"), 0..6);
    prop::collection::vec((text, edits), 0..5).prop_map(|seeds| {
        let vary = |(text, edits): (String, Vec<(prop::sample::Index, String)>)| {
            let mut varied: Vec<char> = text.chars().collect();
            for (at, new) in edits {
                let at = at.index(varied.len() + 1);
                varied.splice(at..(at + 1).min(varied.len()), new.chars());
            }
            [text, varied.into_iter().collect()]
        };
        seeds.into_iter().flat_map(vary).collect()
    })
}

proptest! {
    #[test]
    fn ratios_are_between_none_and_the_same(a in "\\PC{0,60}", b in "\\PC{0,60}") {
        prop_assert!((0.0..=1.0).contains(&ratio(&a, &b)));
        prop_assert!(ratio(&a, &a) >= 1.0);
        prop_assert_eq!(ratio(&a, &b) >= 1.0, a == b);
    }

    #[test]
    fn the_search_finds_what_comparing_all_pairs_finds(texts in texts(), threshold in 0.0..=1.0) {
        let search = NearDuplicates::new(texts.iter().map(String::as_str), threshold);
        let found = search.all();
        prop_assert_eq!(&found, &naive(&texts, threshold));
        let mut parts = [search.part(0, 2), search.part(1, 2)].concat();
        parts.sort_by_key(|near| (near.first, near.second));
        prop_assert_eq!(&parts, &found);
    }
}

#[test]
fn scenarios_are_reported_by_their_descriptions_or_their_goals() {
    let alike = |description, goal| Likeness { description, goal };
    assert!(alike(SAME_DESCRIPTION, 0.0).is_reported() && alike(0.0, SAME_GOAL).is_reported());
    assert!(!alike(SAME_DESCRIPTION - 0.01, SAME_GOAL - 0.01).is_reported());
    let reaches = |alike: Likeness| alike.nearness() >= 1.0;
    assert!(reaches(alike(SAME_DESCRIPTION, 0.0)) && reaches(alike(0.0, SAME_GOAL)));
    assert!(!reaches(alike(SAME_DESCRIPTION - 0.01, SAME_GOAL - 0.01)));
    // A goal has farther to go.
    assert!(alike(0.8, 0.0).nearness() > alike(0.0, 0.8).nearness());
}
