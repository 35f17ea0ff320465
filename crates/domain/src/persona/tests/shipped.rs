//! The documents in personas/ are what the design asks for.

use std::path::Path;
use std::{fs, iter};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;

fn read(path: impl AsRef<Path>) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn model() -> PersonaModel {
    crate::parse("model.yaml", &read("personas/model.yaml")).expect("the model is read")
}

fn names(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = fs::read_dir(folder).expect("the folder is there");
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name")).collect()
}

fn profiles() -> Vec<Profile> {
    let files = names("personas/profiles").into_iter();
    files.map(|f| crate::parse(&f, &read(format!("personas/profiles/{f}"))).expect("a profile")).collect()
}

#[test]
fn they_have_23_dimensions_8_profiles_7_rules_and_4_tiers() {
    let model = model();
    assert_eq!((model.demographics.len(), model.traits.len(), model.emotions.len()), (6, 12, 5));
    assert_eq!(model.correlations.len(), 7);
    let words = [Complexity::Simple, Complexity::Medium, Complexity::Complex, Complexity::Vague]
        .map(|name| model.complexity[&name].words);
    assert_eq!(words, [[3, 8], [8, 15], [15, 30], [3, 15]]);
    assert!(model.complexity[&Complexity::Vague].hides_intent);
    assert_eq!(model.problems(), []);
    assert!(profiles().len() >= 8);
    for profile in profiles() {
        assert_eq!(model.problems_of(&profile), [], "{}", profile.name);
    }
}

#[test]
fn each_intent_of_each_playbook_shifts_emotions() {
    let model = model();
    for name in names("playbooks") {
        let file = format!("playbooks/{name}/playbook.yaml");
        let playbook: crate::playbook::Playbook = crate::parse(&file, &read(&file)).expect("a playbook");
        for intent in playbook.intents {
            assert!(model.intent_deltas.contains_key(&intent), "{file}: {intent} has no deltas");
        }
    }
}

#[test]
fn draws_lie_within_two_sigma_of_each_base() {
    let (model, mut rng) = (model(), ChaCha8Rng::seed_from_u64(3));
    for profile in profiles() {
        let drawn: Vec<Persona> = iter::repeat_with(|| model.draw(&profile, "", &mut rng)).take(1000).collect();
        for (name, base) in &profile.traits {
            // Half a thousandth for the rounding. Clipping moves values towards the base, never away from it.
            let near = |p: &&Persona| (p.traits[name] - base).abs() <= 2.0 * model.sigma + 0.0005;
            let clear = *base > 2.0 * model.sigma && *base < 1.0 - 2.0 * model.sigma;
            let within = drawn.iter().filter(near).count();
            assert!(within >= 930, "{} of {}: {within} of 1000", name, profile.name);
            assert!(!clear || within <= 978, "{} of {}: {within} of 1000", name, profile.name);
        }
    }
}

#[test]
fn emotions_lie_in_their_range_plus_delta() {
    let (model, mut rng) = (model(), ChaCha8Rng::seed_from_u64(4));
    for profile in profiles() {
        for (intent, deltas) in &model.intent_deltas {
            let persona = model.draw(&profile, intent, &mut rng);
            for (name, [low, high]) in &profile.emotions {
                let delta = deltas.get(name).copied().unwrap_or_default();
                let range = (low + delta - 0.0005).clamp(0.0, 1.0)..=(high + delta + 0.0005).clamp(0.0, 1.0);
                assert!(range.contains(&persona.emotions[name]), "{name} of {} with {intent}", profile.name);
            }
        }
    }
}
