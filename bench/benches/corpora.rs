//! What it costs to select a corpus out of 200,000 conversations: to sketch what was said, to drop near-duplicates, to
//! split what is left, and to prove that nothing leaks.

use std::time::Instant;

use datasets::corpora::authored_values::AuthoredValues;
use datasets::corpora::scan;
use datasets::corpora::select::{Candidate, Candidates, select};
use datasets::corpora::shingles::Shingles;
use datasets::corpora::sketch::Sketch;
use datasets::corpora::utterances::{Speaker, Utterance, Utterances};
use domain::corpus::{Duplicates, Spec, Step};
use domain::filter::Symbols;
use domain::persona::Complexity;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

const CONVERSATIONS: usize = 200_000;
const FAMILIES: usize = 200;
/// Scenarios of a family, and words of a conversation.
const SCENARIOS: usize = 4;
const WORDS: usize = 600;
/// Words there are: names and ids beside those of a language.
const VOCABULARY: u32 = 30_000;

/// Each scenario has a text, and each conversation changes a share of its words, from none to two fifths: some are the
/// same, some are near-duplicates, most are neither.
struct Plays {
    texts: Vec<Vec<u32>>,
    rng: ChaCha8Rng,
}

impl Plays {
    fn new() -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut text = || (0..WORDS).map(|_| rng.random_range(0..VOCABULARY)).collect();
        Self { texts: (0..FAMILIES * SCENARIOS).map(|_| text()).collect(), rng }
    }

    fn next(&mut self, scenario: usize) -> Utterances {
        let changed = f64::from(self.rng.random_range(0..5_u32)) / 10.0 * self.rng.random::<f64>();
        let mut utterances = Vec::new();
        for turn in self.texts[scenario].chunks(WORDS / 12) {
            let rng = &mut self.rng;
            let word = |own: &u32| if rng.random_bool(changed) { rng.random_range(0..VOCABULARY) } else { *own };
            let words: Vec<String> = turn.iter().map(word).map(|word| format!("word{word}")).collect();
            utterances.push(Utterance { by: Speaker::Agent, text: words.join(" ") });
        }
        Utterances(utterances)
    }
}

/// Done once: it takes minutes.
fn main() -> anyhow::Result<()> {
    let (mut plays, mut symbols) = (Plays::new(), Symbols::default());
    let mut shingles = Shingles::new()?;
    let (mut all, mut sketches) = (Vec::new(), Vec::new());
    let (mut sketching, mut scanning, mut letters) = (0.0, 0.0, 0);
    for i in 0..CONVERSATIONS {
        let scenario = i % (FAMILIES * SCENARIOS);
        let utterances = plays.next(scenario);
        letters += utterances.0.iter().map(|utterance| utterance.text.len()).sum::<usize>();
        let start = Instant::now();
        let (hash, own) = (utterances.hash("bench"), utterances.shingles());
        shingles.push(&own)?;
        sketches.push(Sketch::of(&own));
        sketching += start.elapsed().as_secs_f64();
        let start = Instant::now();
        let findings = scan::scan(&utterances, &AuthoredValues::default());
        scanning += start.elapsed().as_secs_f64();
        all.push(Candidate {
            id: Uuid::from_u128(i as u128),
            run: Uuid::nil(),
            position: i32::try_from(i)?,
            scenario: symbols.intern(&format!("scenario {scenario}")),
            family: symbols.intern(&format!("family {}", scenario / SCENARIOS)),
            persona: symbols.intern("somebody"),
            complexity: Complexity::Medium,
            overall: Some(8),
            hash,
            findings,
        });
    }
    let candidates = Candidates { all, sketches, shingles: shingles.finish()?, symbols };
    println!("{CONVERSATIONS} conversations of {} letters on average, one thread", letters / CONVERSATIONS);
    println!("hash, shingles, sketch: {sketching:.1} s; scan: {scanning:.1} s; {} MB at most so far", megabytes());
    for near in [None, Some(0.8)] {
        let spec = Spec { duplicates: Duplicates { exact: true, near }, ..Spec::default() };
        let start = Instant::now();
        let selected = select(&spec, &candidates)?;
        let dropped: Vec<String> = selected
            .funnel
            .iter()
            .filter(|stage| matches!(stage.step, Step::ExactDuplicates | Step::NearDuplicates))
            .map(|stage| format!("{} {}", stage.dropped, stage.step))
            .collect();
        let (split, leakage) = (&selected.split, &selected.leakage);
        println!(
            "select, near {near:?}: {:.1} s; {}; {} train, {} golden, {} pairs compared in the proof, {} leak; {} MB at most",
            start.elapsed().as_secs_f64(),
            dropped.join(", "),
            split.train.conversations,
            split.golden.conversations,
            leakage.compared,
            leakage.near_duplicates,
            megabytes()
        );
    }
    Ok(())
}

/// The most memory that the process had.
fn megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}
