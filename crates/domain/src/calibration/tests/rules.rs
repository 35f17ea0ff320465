//! What holds of every file of ratings.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use proptest::prelude::*;

use crate::calibration::ratings::{Format, read};
use crate::calibration::{
    Agreement, CalibrationReport, Correction, GoalAgreement, Line, calibrate, krippendorff_alpha, quadratic_kappa,
    spearman, unweighted_kappa,
};
use crate::verdict::{Score, Verdict};

fn verdict(tool_usage: u8, overall: u8, goal_achieved: bool) -> Verdict {
    let score = Score { criterion: "tool_usage".into(), score: tool_usage, rationale: String::new() };
    let mean = f64::from(tool_usage);
    Verdict {
        judge: "default".into(),
        scores: vec![score],
        overall,
        rationale: String::new(),
        goal_achieved,
        weighted_mean: mean,
        panel: Vec::new(),
    }
}

fn report() -> CalibrationReport {
    let text = "conversation,rater,tool_usage,overall,goal_achieved\n\
                c1,ana,7,8,true\n\
                c1,ben,4,8,true\n\
                c2,ana,3,,false\n\
                c2,ben,2,2,true\n\
                c2,cem,9,,false\n\
                c3,ana,9,10,true\n\
                c9,ben,5,5,\n";
    let ratings = read("r.csv", text, Format::Csv, &["tool_usage", "consistency"]).unwrap();
    let verdicts = [
        ("c1", verdict(8, 9, true)),
        ("c2", verdict(5, 4, true)),
        ("c3", verdict(9, 9, true)),
        ("c4", verdict(1, 1, false)),
    ];
    calibrate(&ratings, &verdicts.map(|(id, verdict)| (id.to_owned(), verdict)).into())
}

#[test]
fn the_judge_is_set_beside_the_median_of_the_raters() {
    let report = report();
    assert_eq!((report.conversations, report.without_verdict.as_slice()), (3, ["c9".to_owned()].as_slice()));
    let lines = report.criteria.iter().map(|found| {
        let (human, judge, bias) = (found.human_mean, found.judge_mean, found.bias);
        format!("{}: {} pairs, human {human:.2}, judge {judge:.2}, bias {bias:.2}", found.criterion, found.n)
    });
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    tool_usage: 3 pairs, human 5.67, judge 7.33, bias 1.67
    overall: 3 pairs, human 6.67, judge 7.33, bias 0.67
    ");
    assert_eq!(report.goal_achieved.as_ref().unwrap().confusion, [[0, 1], [0, 2]]);
    let between = report.between_raters.iter().map(|b| format!("{}: {} pairs, {:.2?}", b.criterion, b.pairs, b.kappa));
    assert_snapshot!(between.collect::<Vec<_>>().join("\n"), @"
    tool_usage: 3 pairs, Some(0.15)
    goal_achieved: 2 pairs, Some(0.00)
    ");
}

#[test]
fn corrections_stand_beside_the_scores() {
    let report = report();
    let judged = verdict(9, 10, true);
    let correction = Correction::fit(&report);
    assert_snapshot!(format!("{:?}", correction.apply(&judged.scores)), @r#"[CorrectedScore { criterion: "tool_usage", raw: 9, corrected: 7.3 }]"#);
    assert_snapshot!(format!("{:?}", correction.overall(&judged)), @r#"Some(CorrectedScore { criterion: "overall", raw: 10, corrected: 9.3 })"#);
    let unrated = Score { criterion: "consistency".into(), score: 5, rationale: String::new() };
    assert!(correction.apply(&[unrated]).is_empty());
}

#[test]
fn reports_survive_being_stored() {
    let report = report();
    let kept = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<CalibrationReport>(&kept).unwrap(), report);
    let value: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(serde_json::from_value::<CalibrationReport>(value).unwrap(), report);
}

#[test]
fn nothing_in_common_is_no_agreement() {
    let ratings = read("r.csv", "conversation,overall\nc1,3\n", Format::Csv, &[]).unwrap();
    let report = calibrate(&ratings, &BTreeMap::new());
    assert_eq!((report.conversations, report.criteria.len(), report.goal_achieved), (0, 0, None));
    assert_eq!(
        Agreement::between("overall", &[(3, 5)]).map(|a| (a.spearman, a.weighted_kappa)),
        Some((None, Some(0.0)))
    );
    assert_eq!(Agreement::between("overall", &[(5, 5)]).map(|a| (a.weighted_kappa, a.band_kappa)), Some((None, None)));
    assert_eq!(GoalAgreement::between(&[]), None);
    assert_eq!(krippendorff_alpha(&[vec![Some(1.0), None], vec![]]), None);
    assert_eq!(krippendorff_alpha(&[vec![Some(0.1); 3], vec![Some(0.1); 3]]), None);
}

#[test]
fn a_line_neither_falls_nor_doubles() {
    let at = |pairs: &[(u8, u8)]| Agreement::between("overall", pairs).unwrap().line;
    let contrary: Vec<(u8, u8)> = (0..40).map(|i| (10 - i % 11, i % 11)).collect();
    assert!((0.0..0.5).contains(&at(&contrary).slope));
    let steep: Vec<(u8, u8)> = (0..40).map(|i| (10 * (i % 2), 5 + i % 2)).collect();
    assert!((1.0..2.0).contains(&at(&steep).slope));
    assert_eq!(at(&[(4, 7); 30]), Line { intercept: -3.0, slope: 1.0 }, "a judge that always says the same");
}

fn pairs() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((0..=10_u8, 0..=10_u8), 1..60)
}

fn close(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        (one, other) => one.is_none() && other.is_none(),
    }
}

proptest! {
    #[test]
    fn who_agrees_in_all_agrees_perfectly(scores in prop::collection::vec(0..=10_u8, 1..60)) {
        let found = Agreement::between("overall", &scores.iter().map(|s| (*s, *s)).collect::<Vec<_>>()).unwrap();
        for perfect in [found.spearman, found.weighted_kappa, found.band_kappa].into_iter().flatten() {
            prop_assert!((perfect - 1.0).abs() < 1e-9);
        }
        prop_assert!(found.mean_absolute_error.abs() < 1e-9 && found.bias.abs() < 1e-9);
        let units: Vec<Vec<Option<f64>>> = scores.iter().map(|s| vec![Some(f64::from(*s)); 3]).collect();
        prop_assert!(krippendorff_alpha(&units).is_none_or(|alpha| (alpha - 1.0).abs() < 1e-9));
    }

    #[test]
    fn agreement_is_mutual_and_bias_is_not(pairs in pairs()) {
        let turned: Vec<(u8, u8)> = pairs.iter().map(|(human, judge)| (*judge, *human)).collect();
        let (one, other) = (Agreement::between("x", &pairs).unwrap(), Agreement::between("x", &turned).unwrap());
        prop_assert!(close(one.weighted_kappa, other.weighted_kappa));
        prop_assert!(close(one.band_kappa, other.band_kappa));
        prop_assert!(close(one.spearman, other.spearman));
        prop_assert!((one.bias + other.bias).abs() < 1e-9);
    }

    #[test]
    fn coefficients_have_their_ranges(pairs in pairs()) {
        let found = Agreement::between("x", &pairs).unwrap();
        for coefficient in [found.spearman, found.weighted_kappa, found.band_kappa].into_iter().flatten() {
            prop_assert!((-1.0 - 1e-9..=1.0 + 1e-9).contains(&coefficient), "{}", coefficient);
        }
        prop_assert_eq!(found.bands.iter().flatten().sum::<u32>(), found.n);
        prop_assert!(found.mean_absolute_error >= found.bias.abs() - 1e-9);
    }

    #[test]
    fn rho_knows_only_the_order(pairs in pairs(), steps in prop::collection::vec(1..=20_u8, 11)) {
        let stretched: Vec<u8> = steps.iter().scan(0, |sum, step| { *sum += step; Some(*sum) }).collect();
        let monotone: Vec<(u8, u8)> = pairs.iter().map(|(human, judge)| (stretched[usize::from(*human)], *judge)).collect();
        prop_assert!(close(spearman(&pairs), spearman(&monotone)));
    }

    #[test]
    fn corrected_scores_are_scores(pairs in pairs(), raw in 0..=10_u8) {
        let line = Agreement::between("x", &pairs).unwrap().line;
        let corrected = line.at(raw);
        prop_assert!((0.0..=10.0).contains(&corrected));
        prop_assert!((0.0..=2.0).contains(&line.slope));
        prop_assert!(raw == 10 || line.at(raw + 1) >= corrected, "a better score stays a better one");
    }

    #[test]
    fn with_two_categories_both_kappas_are_one(table in prop::array::uniform2(prop::array::uniform2(0..50_u32))) {
        prop_assert!(close(unweighted_kappa(&table), quadratic_kappa(&table)));
    }
}
