//! What others computed: `NumPy`, `SciPy` and statsmodels. See `tests/analytics/make_reference.py`.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Reference {
    distributions: Vec<Recorded>,
    correlations: Vec<Together>,
    means: Vec<Means>,
    rates: Vec<Rates>,
    student: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
struct Recorded {
    values: Vec<usize>,
    mean: f64,
    deviation: Option<f64>,
    quantiles: [f64; 5],
}

#[derive(Deserialize)]
struct Together {
    one: Vec<usize>,
    other: Vec<usize>,
    pearson: Option<f64>,
    spearman: Option<f64>,
}

#[derive(Deserialize)]
struct Means {
    one: Vec<usize>,
    other: Vec<usize>,
    difference: f64,
    low: f64,
    high: f64,
    effect: Option<f64>,
}

#[derive(Deserialize)]
struct Rates {
    one: (u64, u64),
    other: (u64, u64),
    low: f64,
    high: f64,
    gap_low: f64,
    gap_high: f64,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("../../tests/analytics/reference.json")).unwrap()
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found}, expected {expected}");
}

#[track_caller]
fn assert_both(found: Option<f64>, expected: Option<f64>) {
    match (found, expected) {
        (Some(found), Some(expected)) => assert_near(found, expected),
        (found, expected) => assert_eq!(found, expected),
    }
}

/// Conversations with an overall score and one of `tone`.
fn counts(overall: &[usize], tone: &[usize]) -> Counts {
    let mut counts = Counts::default();
    for (name, values) in [("overall", overall), ("tone", tone)] {
        let own = counts.scores.entry(name.to_owned()).or_default();
        values.iter().for_each(|value| own[*value] += 1);
    }
    let mut pairs = [[0; 11]; 11];
    overall.iter().zip(tone).for_each(|(a, b)| pairs[*a][*b] += 1);
    counts.pairs.insert(("overall".to_owned(), "tone".to_owned()), pairs);
    counts
}

#[test]
fn distributions_are_as_others_compute_them() {
    for expected in reference().distributions {
        let found = counts(&expected.values, &[]).report().scores["overall"].clone();
        assert_eq!(usize::try_from(found.n), Ok(expected.values.len()));
        assert_near(found.mean, expected.mean);
        assert_both(found.deviation, expected.deviation);
        found.quantiles.iter().zip(expected.quantiles).for_each(|(found, expected)| assert_near(*found, expected));
        assert_eq!(found.bins.iter().map(|bin| bin.count).sum::<u64>(), found.n);
    }
}

#[test]
fn correlations_are_as_others_compute_them() {
    for expected in reference().correlations {
        let found = counts(&expected.one, &expected.other).report().correlations;
        assert_eq!(found.scores, ["overall", "tone"]);
        for (a, b) in [(0, 1), (1, 0)] {
            assert_both(found.pearson[a][b], expected.pearson);
            assert_both(found.spearman[a][b], expected.spearman);
            assert_eq!(usize::try_from(found.n[a][b]), Ok(expected.one.len()));
        }
        assert_both(found.pearson[0][0], Some(1.0));
    }
}

#[test]
fn differences_of_means_are_as_others_compute_them() {
    for expected in reference().means {
        let found = gaps(&counts(&expected.one, &[]), &counts(&expected.other, &[]))["overall"];
        let gap = found.gap.unwrap();
        assert_near(gap.difference, expected.difference);
        assert_near(gap.interval.low, expected.low);
        assert_near(gap.interval.high, expected.high);
        assert_both(found.effect, expected.effect);
        assert_eq!(gap.significant, expected.low > 0.0 || expected.high < 0.0);
    }
}

#[test]
fn rates_are_as_others_compute_them() {
    for expected in reference().rates {
        let (one, other) =
            (wilson(expected.one.0, expected.one.1).unwrap(), wilson(expected.other.0, expected.other.1).unwrap());
        assert_near(one.interval.low, expected.low);
        assert_near(one.interval.high, expected.high);
        let (_, gap) = difference_of_rates(&one, &other);
        assert_near(gap.low, expected.gap_low);
        assert_near(gap.high, expected.gap_high);
    }
}

#[test]
fn the_distribution_of_student_is_as_others_compute_it() {
    for (freedom, expected) in reference().student {
        assert_near(student::quantile(0.975, freedom), expected);
    }
}

/// R. G. Newcombe 1998, table II, method 10: 56/70 against 48/80.
#[test]
fn a_published_interval_comes_out() {
    let (_, gap) = difference_of_rates(&wilson(48, 80).unwrap(), &wilson(56, 70).unwrap());
    assert_eq!((format!("{:.4}", gap.low), format!("{:.4}", gap.high)), ("0.0524".into(), "0.3339".into()));
}

#[test]
fn sets_are_added_by_adding_counts() {
    let (one, other) = (counts(&[3, 9, 10], &[1, 1, 4]), counts(&[0, 9], &[7, 8]));
    let mut both = one.clone();
    both.add(other.clone());
    assert_eq!(both, counts(&[3, 9, 10, 0, 9], &[1, 1, 4, 7, 8]));
    let mut turned = other;
    turned.add(one);
    assert_eq!(turned.report(), both.report());
}

#[test]
fn of_nothing_nothing_is_said() {
    let report = Counts::default().report();
    assert_eq!((report.conversations, report.accepted, report.scores.len()), (0, None, 0));
    assert_eq!(Comparison::of(&Counts::default(), &Counts::default()).means.len(), 0);
    let alone = gaps(&counts(&[5], &[]), &counts(&[7], &[]))["overall"];
    assert_eq!((alone.gap, alone.effect), (None, None));
}

#[test]
fn of_many_groups_the_largest_are_told_and_all_are_counted() {
    let mut counts = Counts::default();
    let tools = counts.groups.entry("tool".to_owned()).or_default();
    for i in 0..250_u64 {
        tools.insert(format!("tool_{i:03}"), Outcomes { accepted: i + 1, ..Outcomes::default() });
    }
    let told = &counts.report().groups["tool"];
    assert_eq!((told.distinct, told.groups.len()), (250, 200));
    let ends = [&told.groups[0], &told.groups[199]].map(|group| (group.value.as_str(), group.accepted.of));
    assert_eq!(ends, [("tool_249", 250), ("tool_050", 51)]);
}
