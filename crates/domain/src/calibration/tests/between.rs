use std::collections::BTreeMap;

use crate::calibration::ratings::{Rating, Ratings};
use crate::calibration::{disagreements, inter_rater};

/// Scores of one criterion: `scores[conversation][rater]`.
fn ratings(scores: &[&[Option<u8>]]) -> Ratings {
    let rated = |(c, unit): (usize, &&[Option<u8>])| {
        let rating = |(r, score): (usize, &Option<u8>)| Rating {
            conversation: format!("c{c}"),
            rater: format!("r{r}"),
            scores: score.map(|score| ("tone".to_owned(), score)).into_iter().collect::<BTreeMap<_, _>>(),
            goal_achieved: None,
        };
        unit.iter().enumerate().map(rating).collect::<Vec<_>>()
    };
    Ratings { criteria: vec!["tone".into()], rows: scores.iter().enumerate().flat_map(rated).collect() }
}

#[test]
fn alpha_and_shares_of_the_published_example() {
    // Krippendorff 2011, section C: four observers, twelve units, some of them missing. Alpha for interval data is 0.849.
    const N: Option<u8> = None;
    let s = Some::<u8>;
    let units: [&[Option<u8>]; 12] = [
        &[s(1), s(1), N, s(1)],
        &[s(2), s(2), s(3), s(2)],
        &[s(3), s(3), s(3), s(3)],
        &[s(3), s(3), s(3), s(3)],
        &[s(2), s(2), s(2), s(2)],
        &[s(1), s(2), s(3), s(4)],
        &[s(4), s(4), s(4), s(4)],
        &[s(1), s(1), s(2), s(1)],
        &[s(2), s(2), s(2), s(2)],
        &[N, s(5), s(5), s(5)],
        &[N, N, s(1), s(1)],
        &[N, N, s(3), N],
    ];
    let found = &inter_rater(&ratings(&units))[0];
    assert!((found.alpha.unwrap() - 0.849).abs() < 0.000_5, "{found:?}");
    // Twelve pairs differ, three of them by more than a point.
    assert_eq!((found.conversations, found.pairs), (11, 55));
    assert!((found.exact - 43.0 / 55.0).abs() < 1e-12, "{found:?}");
    assert!((found.within_one - 52.0 / 55.0).abs() < 1e-12, "{found:?}");
    let far: Vec<_> = disagreements(&ratings(&units)).into_iter().map(|d| (d.conversation, d.spread)).collect();
    assert_eq!(far, [("c5".to_owned(), 3), ("c1".to_owned(), 1), ("c7".to_owned(), 1)]);
}

#[test]
fn who_rates_alone_agrees_with_nobody() {
    assert_eq!(inter_rater(&ratings(&[&[Some(3)], &[None, Some(4)]])), []);
    let same = &inter_rater(&ratings(&[&[Some(3), Some(3)], &[Some(3), Some(3)]]))[0];
    assert_eq!((same.alpha, same.exact, same.within_one), (None, 1.0, 1.0));
    assert_eq!(disagreements(&ratings(&[&[Some(3), Some(3)]])), []);
}
