use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::super::TraitCorrelation;
use super::{model, profile};

fn correlation(traits: &[&str], matrix: &[&[f64]]) -> TraitCorrelation {
    TraitCorrelation {
        traits: traits.iter().map(|name| (*name).to_owned()).collect(),
        matrix: matrix.iter().map(|row| row.to_vec()).collect(),
    }
}

/// Vectors of (patience, politeness) drawn with this correlation.
fn vectors(r: f64, draws: usize) -> Vec<Vec<f64>> {
    let (mut model, mut profile) = (model(), profile(0.5));
    profile.traits.insert("politeness".into(), 0.5);
    model.trait_correlation = Some(correlation(&["politeness", "patience"], &[&[1.0, r], &[r, 1.0]]));
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    (0..draws).map(|_| model.draw(&profile, "", &mut rng).traits.into_values().collect()).collect()
}

#[test]
fn draws_have_the_correlation_that_was_given_and_fit_finds_it_again() {
    for r in [-0.6, 0.0, 0.8, 1.0] {
        let names = vec!["patience".to_owned(), "politeness".to_owned()];
        let fitted = TraitCorrelation::fit(names, &vectors(r, 3000)).expect("enough vectors");
        assert!((fitted.matrix[0][1] - r).abs() < 0.05, "{r} was given, {} found", fitted.matrix[0][1]);
        assert_eq!(fitted.factor().map(|_| ()), Ok(()));
    }
}

#[test]
fn correlated_traits_still_lie_within_two_sigma() {
    for trait_ in [0, 1] {
        let within = vectors(0.8, 4000).iter().filter(|v| (v[trait_] - 0.5).abs() <= 0.2).count();
        assert!((3740..=3900).contains(&within), "found {within} of 4000");
    }
}

#[test]
fn what_is_no_correlation_matrix_is_refused_with_the_reason() {
    let why = |matrix: &[&[f64]]| correlation(&["a", "b", "c"], matrix).factor().expect_err("it is refused");
    insta::assert_snapshot!(why(&[&[1.0, 0.2], &[0.2, 1.0]]), @"expected 3 rows of 3 numbers, one for each trait");
    insta::assert_snapshot!(why(&[&[1.0, 0.2, 0.0], &[0.2, 0.9, 0.0], &[0.0, 0.0, 1.0]]), @"`b` with itself must be 1, found 0.9");
    insta::assert_snapshot!(why(&[&[1.0, 0.2, 0.0], &[0.3, 1.0, 0.0], &[0.0, 0.0, 1.0]]), @"not symmetric: `b` with `a` is 0.3, but `a` with `b` is 0.2");
    insta::assert_snapshot!(why(&[&[1.0, 0.9, 0.9], &[0.9, 1.0, -0.9], &[0.9, -0.9, 1.0]]), @"the matrix is not positive semi-definite: what `c` has in common with the traits before it cannot be");
    insta::assert_snapshot!(why(&[&[1.0, 1.0, 0.5], &[1.0, 1.0, -0.5], &[0.5, -0.5, 1.0]]), @"the matrix is not positive semi-definite: what `c` has in common with the traits before it cannot be");
}

#[test]
fn what_is_fitted_can_always_be_drawn_from() {
    // Pairs that contradict each other: three vectors say little about four traits.
    let vectors =
        [[0.1, 0.9, 0.5, 0.3], [0.2, 0.8, 0.5, 0.9], [0.3, 0.7, 0.5, 0.1], [0.9, 0.1, 0.5, 0.2]].map(Vec::from);
    let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let fitted = TraitCorrelation::fit(names.clone(), &vectors).expect("enough vectors");
    assert_eq!(fitted.factor().map(|_| ()), Ok(()));
    assert!(fitted.matrix[2][..2].iter().all(|r| r.abs() < 1e-9), "a trait that never changes is independent");
    assert!(TraitCorrelation::fit(names, &vectors[..2]).is_err());
}

#[test]
fn a_file_of_people_becomes_a_matrix_or_a_reason() {
    let fit = TraitCorrelation::fit_csv;
    let fitted = fit("patience, politeness\n0.1,0.2\n0.3,0.4\n\n0.8,0.9\n").map(|fitted| fitted.to_yaml());
    insta::assert_snapshot!(fitted.expect("it fits"), @"
    trait_correlation:
      traits: [patience, politeness]
      matrix:
        - [1, 1]
        - [1, 1]
    ");
    insta::assert_snapshot!(fit("patience,politeness\n0.1,high\n").expect_err("no number"), @"`high` is not a number");
    insta::assert_snapshot!(fit("patience\n1,2\n1\n1\n").expect_err("one too many"), @"vector 1 is not one of 1 numbers");
    insta::assert_snapshot!(fit("").expect_err("nothing"), @"expected a line of trait names");
}
