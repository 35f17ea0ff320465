//! Words that state no fact by themselves, and words that say the same.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

static ORDINARY: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let lines = include_str!("vocabulary.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).map(|word| stem(&word.replace('-', ""))).collect()
});

static SYNONYMS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut meanings: HashMap<String, Vec<String>> = HashMap::new();
    for line in include_str!("synonyms.txt").lines().filter(|line| !line.starts_with('#')) {
        let stems: Vec<String> =
            line.trim_start_matches('!').split_whitespace().map(|word| stem(&word.replace('-', ""))).collect();
        for word in &stems {
            meanings.entry(word.clone()).or_default().extend(stems.iter().filter(|s| *s != word).cloned());
        }
    }
    meanings
});

/// Lines of states, which a record is in or is not, in their very forms.
static STATES: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let lines = include_str!("synonyms.txt").lines().filter_map(|line| line.strip_prefix('!')).enumerate();
    lines.flat_map(|(i, line)| line.split_whitespace().map(move |word| (word, i))).collect()
});

/// Whether a word by itself says in which state something is.
pub fn is_state(word: &str) -> bool {
    STATES.contains_key(word)
}

/// Whether two words name the same state.
pub fn same_state(a: &str, b: &str) -> bool {
    a == b || STATES.get(a).is_some_and(|line| STATES.get(b) == Some(line))
}

/// Words without meaning of their own, which a value may lose or gain when it is said in other words.
const PARTICLES: [&str; 28] = [
    "a", "an", "the", "of", "in", "on", "at", "by", "for", "from", "to", "and", "or", "with", "is", "are", "was",
    "has", "have", "been", "be", "your", "my", "our", "mr", "ms", "mrs", "dr",
];

/// Names that are ordinary words, too: with a capital within a sentence they are names.
const ALSO_NAMES: [&str; 12] =
    ["will", "may", "mark", "bill", "grant", "rose", "frank", "hope", "grace", "jack", "drew", "art"];

pub fn is_ordinary(stem: &str) -> bool {
    ORDINARY.contains(stem)
}

pub fn is_particle(word: &str) -> bool {
    PARTICLES.contains(&word)
}

pub fn may_be_name(word: &str) -> bool {
    ALSO_NAMES.contains(&word)
}

pub fn synonyms(stem: &str) -> &'static [String] {
    SYNONYMS.get(stem).map_or(&[], Vec::as_slice)
}

/// Words that deny what the sentence says.
pub fn denies(word: &str) -> bool {
    matches!(word, "not" | "no" | "never" | "neither" | "nor" | "non" | "none" | "without" | "cannot")
        || word.ends_with("n't")
}

/// A word without the ending of plural, past, participle or adverb. Crude on purpose: both sides are cut alike.
pub fn stem(word: &str) -> String {
    let mut stem = word;
    let mut cut_off = false;
    for (ending, rest) in
        [("ies", 2), ("ings", 4), ("ing", 4), ("ed", 3), ("es", 3), ("ly", 4), ("s", 3), ("e", 3), ("y", 3)]
    {
        if let Some(cut) = stem.strip_suffix(ending)
            && cut.chars().count() >= rest
            && !(ending == "s" && cut.ends_with('s'))
        {
            stem = cut;
            cut_off = matches!(ending, "ing" | "ings" | "ed");
            break;
        }
    }
    let stem = stem.strip_suffix(['e', 'i']).filter(|cut| cut.chars().count() >= 3).unwrap_or(stem);
    let mut chars: Vec<char> = stem.chars().collect();
    // "cancelled" and "cancel", "shipped" and "ship".
    if let [.., a, b] = chars[..]
        && a == b
        && !"aeiou".contains(a)
        && chars.len() > 3
        && cut_off
    {
        chars.pop();
    }
    chars.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_their_stem() {
        for forms in [
            ["cards", "card"],
            ["expires", "expired"],
            ["shipped", "ship"],
            ["cancelled", "canceled"],
            ["replace", "replacing"],
            ["fee", "fees"],
            ["activity", "activities"],
        ] {
            assert_eq!(stem(forms[0]), stem(forms[1]), "{forms:?}");
        }
        assert_ne!(stem("lost"), stem("last"));
    }
}
