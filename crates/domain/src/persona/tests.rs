mod copula;
mod shipped;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use strum::VariantArray;

use super::*;

pub(super) fn model() -> PersonaModel {
    let bucket =
        |n: &str| Buckets { low: format!("low {n}"), medium: format!("medium {n}"), high: format!("high {n}") };
    let tier = |words| Tier {
        words,
        spare_words: 0,
        hides_intent: false,
        guidance: String::new(),
        weight: 1.0,
        favoured: Vec::new(),
    };
    PersonaModel {
        walks_out: None,
        sigma: 0.1,
        breakpoints: [0.35, 0.7],
        demographics: [("channel".into(), [("app".into(), "You type on a phone.".into())].into())].into(),
        traits: [("patience".into(), bucket("patience"))].into(),
        emotions: [("stress".into(), bucket("stress"))].into(),
        intent_deltas: [("dispute".into(), [("stress".into(), 0.4)].into())].into(),
        correlations: vec![Correlation {
            above: [("stress".into(), 0.7)].into(),
            below: [("patience".into(), 0.5)].into(),
            guidance: "You are about to hang up.".into(),
        }],
        trait_correlation: None,
        complexity: Complexity::VARIANTS.iter().map(|name| (*name, tier([3, 8]))).collect(),
        closing_questions: Vec::new(),
    }
}

pub(super) fn profile(patience: f64) -> Profile {
    Profile {
        name: "p".into(),
        description: String::new(),
        demographics: [("channel".into(), [("app".into(), 1.0)].into())].into(),
        traits: [("patience".into(), patience)].into(),
        emotions: [("stress".into(), [0.2, 0.4])].into(),
    }
}

fn patience(base: f64, draws: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..draws).map(|_| model().draw(&profile(base), "", &mut rng).traits["patience"]).collect()
}

#[test]
fn about_95_of_100_draws_lie_within_two_sigma() {
    let within = patience(0.5, 4000).iter().filter(|v| (**v - 0.5).abs() <= 0.2).count();
    assert!((3740..=3900).contains(&within), "found {within} of 4000");
}

#[test]
fn what_lies_beyond_0_and_1_is_clipped_to_them() {
    // Half of the draws around an end of the scale lie beyond it, and all of those come to lie on it.
    for end in [0.0, 1.0] {
        let drawn = patience(end, 1000);
        assert!(drawn.iter().all(|v| (0.0..=1.0).contains(v)));
        let clipped = drawn.iter().filter(|v| (**v - end).abs() < f64::EPSILON).count();
        assert!((450..=550).contains(&clipped), "{clipped} of 1000 lie at {end}");
    }
}

#[test]
fn emotions_lie_in_the_profiles_range_shifted_by_the_intent() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..500 {
        let calm = model().draw(&profile(0.2), "fees", &mut rng).emotions["stress"];
        let upset = model().draw(&profile(0.2), "dispute", &mut rng).emotions["stress"];
        assert!((0.2..=0.4).contains(&calm) && (0.6..=0.8).contains(&upset), "{calm}, {upset}");
    }
}

#[test]
fn a_rule_speaks_only_when_all_its_thresholds_are_crossed() {
    let mut persona = model().draw(&profile(0.2), "", &mut ChaCha8Rng::seed_from_u64(2));
    let mut said = |stress: f64, patience: f64| {
        persona.emotions.insert("stress".into(), stress);
        persona.traits.insert("patience".into(), patience);
        model().guidance(&persona).join(" ")
    };
    assert_eq!(said(0.75, 0.2), "You type on a phone. low patience high stress You are about to hang up.");
    assert_eq!(said(0.7, 0.2), "You type on a phone. low patience high stress", "at the bound is not above it");
    assert_eq!(said(0.75, 0.5), "You type on a phone. medium patience high stress", "at the bound is not below it");
    assert_eq!(said(0.3, 0.9), "You type on a phone. high patience low stress");
}

#[test]
fn the_same_seed_draws_the_same_person() {
    let draw = || model().draw(&profile(0.5), "dispute", &mut ChaCha8Rng::seed_from_u64(9));
    assert_eq!(draw(), draw());
}

#[test]
fn names_that_do_not_exist_and_values_out_of_range_are_found() {
    assert!(model().problems().is_empty());
    let mut broken = model();
    broken.correlations[0].above = [("stres".into(), 0.7)].into();
    broken.intent_deltas.insert("help".into(), [("joy".into(), 0.1)].into());
    broken.complexity.remove(&Complexity::Vague);
    insta::assert_debug_snapshot!(broken.problems(), @r#"
    [
        (
            "/correlations/0/above",
            "there is no trait or emotion `stres` (did you mean `stress`?)",
        ),
        (
            "/intent_deltas/help",
            "there is no emotion `joy`",
        ),
        (
            "/complexity",
            "the tier `vague` is missing",
        ),
    ]
    "#);
    let mut stranger = profile(1.2);
    stranger.traits.insert("patiense".into(), 0.5);
    stranger.emotions = [("stress".into(), [0.4, 0.2])].into();
    stranger.demographics.insert("channel".into(), [("ap".into(), 0.0)].into());
    insta::assert_debug_snapshot!(model().problems_of(&stranger), @r#"
    [
        (
            "/traits",
            "there is no trait `patiense` (did you mean `patience`?)",
        ),
        (
            "/demographics/channel",
            "there is no option `ap` (did you mean `app`?)",
        ),
        (
            "/demographics/channel",
            "weights must not be negative, and one must be above 0",
        ),
        (
            "/traits/patience",
            "expected a value in [0, 1], found 1.2",
        ),
        (
            "/emotions/stress",
            "expected a range within [0, 1], the smaller end first",
        ),
    ]
    "#);
}
