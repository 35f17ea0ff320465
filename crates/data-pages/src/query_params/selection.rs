//! What becomes of the conversations that a corpus is selected from, as parameters of the form's address. What is as usual is
//! left out.

use domain::corpus::{Balance, Spec, Treatment};

pub const NAMES: [&str; 10] =
    ["pii", "secrets", "duplicates", "near", "balance", "at_most", "most", "golden", "apart", "seed"];
const KEEP: &str = "keep";

/// A selection but for its filter; what cannot be read is as usual.
pub fn parse(pairs: &[(String, String)]) -> Spec {
    let mut spec = Spec::default();
    for (name, value) in pairs {
        take(&mut spec, name, value);
    }
    let at_most = pairs.iter().find(|(name, _)| name == "at_most").and_then(|(_, value)| value.parse().ok());
    if let Some(balance) = &mut spec.balance {
        balance.at_most = at_most;
    }
    spec
}

fn take(spec: &mut Spec, name: &str, value: &str) {
    let treatment = if value == KEEP { Treatment::Keep } else { Treatment::Drop };
    match name {
        "pii" => spec.scan.pii = treatment,
        "secrets" => spec.scan.secrets = treatment,
        "duplicates" => spec.duplicates.exact = value != KEEP,
        "near" => spec.duplicates.near = value.parse().ok(),
        "balance" => {
            spec.balance = value.parse().ok().map(|by| Balance { by, at_most: None });
        }
        "most" => spec.limit = value.parse().ok(),
        "golden" => spec.split.golden = value.parse().unwrap_or(spec.split.golden),
        "apart" => spec.split.near = value.parse().unwrap_or(spec.split.near),
        "seed" => spec.split.seed = value.parse().unwrap_or(spec.split.seed),
        _ => {}
    }
}

/// The parameters of a selection but for its filter.
pub fn encode(spec: &Spec) -> Vec<(String, String)> {
    let usual = Spec::default();
    let kept = |treatment: Treatment| (treatment == Treatment::Keep).then(|| KEEP.to_owned());
    let other = |own: f64, usual: f64| (own.to_bits() != usual.to_bits()).then(|| own.to_string());
    let balance = spec.balance;
    let values = [
        kept(spec.scan.pii),
        kept(spec.scan.secrets),
        (!spec.duplicates.exact).then(|| KEEP.to_owned()),
        spec.duplicates.near.map(|near| near.to_string()),
        balance.map(|balance| balance.by.to_string()),
        balance.and_then(|balance| balance.at_most).map(|most| most.to_string()),
        spec.limit.map(|most| most.to_string()),
        other(spec.split.golden, usual.split.golden),
        other(spec.split.near, usual.split.near),
        (spec.split.seed != usual.split.seed).then(|| spec.split.seed.to_string()),
    ];
    NAMES.into_iter().zip(values).filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
