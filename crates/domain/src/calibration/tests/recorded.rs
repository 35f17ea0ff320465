//! What others computed: scikit-learn, `SciPy` and published examples. See `tests/calibration/make_reference.py`.

use serde::Deserialize;

use crate::calibration::{Agreement, krippendorff_alpha, spearman, unweighted_kappa};

#[derive(Deserialize)]
struct Reference {
    agreement: Vec<Recorded>,
    alpha: Vec<Alpha>,
}

#[derive(Deserialize)]
struct Recorded {
    pairs: Vec<(u8, u8)>,
    human_mean: f64,
    judge_mean: f64,
    mean_absolute_error: f64,
    spearman: Option<f64>,
    weighted_kappa: Option<f64>,
    band_kappa: Option<f64>,
    bands: [[u32; 5]; 5],
    /// Of the least-squares line, before anything is done to it.
    slope: Option<f64>,
}

#[derive(Deserialize)]
struct Alpha {
    units: Vec<Vec<Option<f64>>>,
    alpha: Option<f64>,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("../../../tests/calibration/reference.json")).unwrap()
}

#[track_caller]
fn assert_near(found: Option<f64>, expected: Option<f64>) {
    match (found, expected) {
        (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}"),
        (found, expected) => assert_eq!(found, expected),
    }
}

#[test]
fn agreement_is_as_others_compute_it() {
    let recorded = reference().agreement;
    assert!(recorded.len() > 15);
    for expected in recorded {
        let found = Agreement::between("tool_usage", &expected.pairs).unwrap();
        assert_eq!(found.n as usize, expected.pairs.len());
        assert_near(Some(found.human_mean), Some(expected.human_mean));
        assert_near(Some(found.judge_mean), Some(expected.judge_mean));
        assert_near(Some(found.bias), Some(expected.judge_mean - expected.human_mean));
        assert_near(Some(found.mean_absolute_error), Some(expected.mean_absolute_error));
        assert_near(found.spearman, expected.spearman);
        assert_near(found.weighted_kappa, expected.weighted_kappa);
        assert_near(found.band_kappa, expected.band_kappa);
        assert_eq!(found.bands, expected.bands);
        let n = f64::from(found.n);
        let drawn_to_one = |slope: f64| (n * slope.clamp(0.0, 2.0) + 20.0) / (n + 20.0);
        let slope = expected.slope.filter(|_| n >= 20.0).map_or(1.0, drawn_to_one);
        assert_near(Some(found.line.slope), Some(slope));
    }
}

#[test]
fn alpha_is_as_others_compute_it() {
    let recorded = reference().alpha;
    for expected in &recorded {
        assert_near(krippendorff_alpha(&expected.units), expected.alpha);
    }
    let published = krippendorff_alpha(&recorded[0].units).unwrap();
    assert!((published - 0.849).abs() < 0.000_5, "Krippendorff 2011, section C: {published}");
}

#[test]
fn published_examples_come_out() {
    // Two readers of fifty grant proposals, of 0.4: the textbook example of Cohen's kappa.
    assert_near(unweighted_kappa(&[[20, 5], [10, 15]]), Some(0.4));
    assert_near(unweighted_kappa(&[[45, 15], [25, 15]]), Some(0.6 - 0.54).map(|above: f64| above / 0.46));
    // Ten people's IQ and hours of television a week: rho is -29/165.
    let ranks = [(1, 1), (2, 6), (3, 8), (4, 7), (5, 10), (6, 9), (7, 3), (8, 5), (9, 2), (10, 4)];
    assert_near(spearman(&ranks), Some(-29.0 / 165.0));
}
