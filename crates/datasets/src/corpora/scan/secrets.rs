//! Secrets: what opens something to whoever reads it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::ScannedValue;

/// What each kind looks like. Where there is a group, it is the value.
const PATTERNS: [(&str, &str); 17] = [
    ("aws_key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("github_token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b"),
    ("gitlab_token", r"\bglpat-[A-Za-z0-9_-]{20,64}"),
    ("anthropic_key", r"\bsk-ant-[A-Za-z0-9_-]{20,200}"),
    ("openai_key", r"\bsk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{20,200}|\bsk-[A-Za-z0-9]{40,64}\b"),
    ("stripe_key", r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{16,247}\b"),
    ("slack_token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,250}"),
    ("google_key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("huggingface_token", r"\bhf_[A-Za-z0-9]{30,60}\b"),
    ("npm_token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("sendgrid_key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    ("digitalocean_token", r"\bdo[oprt]_v1_[a-f0-9]{64}\b"),
    ("private_key", r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("bearer_token", r"(?i)\bbearer\s+([a-z0-9._~+/-]{20,}=*)"),
    ("password_in_address", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,64}:([^\s/:@]{3,128})@"),
    (
        "assigned_secret",
        r#"(?i)(?:api[_ -]?key|secret|token|passw(?:or)?d|pwd|access[_ -]?key|credentials?)["']?\s{0,3}[:=]\s{0,3}["']?([a-z0-9+/_=.~-]{16,200})"#,
    ),
];

/// Bits a letter from which on an assigned value is no word. Words of English have 2 to 3, random ones of hexadecimal
/// digits nearly 4.
const ENTROPY: f64 = 3.2;

pub fn find(text: &str) -> Vec<ScannedValue<'_>> {
    static SET: LazyLock<RegexSet> = LazyLock::new(|| {
        #[expect(clippy::unwrap_used, reason = "written here, and compiled by every test")]
        RegexSet::new(PATTERNS.iter().map(|(_, pattern)| pattern)).unwrap()
    });
    static EACH: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        #[expect(clippy::unwrap_used, reason = "written here, and compiled by every test")]
        PATTERNS.iter().map(|(_, pattern)| Regex::new(pattern).unwrap()).collect()
    });
    let mut found: Vec<ScannedValue<'_>> = Vec::new();
    for i in &SET.matches(text) {
        let kind = PATTERNS[i].0;
        let values = EACH[i].captures_iter(text).filter_map(|caught| caught.get(1).or(caught.get(0)));
        let genuine = values.map(|value| value.as_str()).filter(|value| kind != "assigned_secret" || is_random(value));
        // A key of a known provider stays one when it is assigned.
        let new: Vec<&str> = genuine.filter(|value| !found.iter().any(|other| value.contains(other.value))).collect();
        found.extend(new.into_iter().map(|value| ScannedValue { kind, value, reserved: false }));
    }
    found
}

/// Letters and digits that no person would choose.
fn is_random(value: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| value.bytes().any(|b| kind(&b));
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && entropy(value) >= ENTROPY
}

/// Shannon's, in bits a letter.
#[expect(clippy::cast_precision_loss, reason = "at most 200")]
fn entropy(text: &str) -> f64 {
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    text.bytes().for_each(|b| *counts.entry(b).or_default() += 1);
    let share = |count: &usize| *count as f64 / text.len() as f64;
    counts.values().map(share).map(|share| -share * share.log2()).sum()
}
