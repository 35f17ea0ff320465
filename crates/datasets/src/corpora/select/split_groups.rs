//! The split, and its proof.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use domain::corpus::{Group, Leakage, Part, Side, Split, SplitReport};

use super::{Candidate, Candidates};
use crate::corpora::leakage::{self, Leak, Member};
use crate::corpora::near_duplicates::{self, Union};
use crate::corpora::split::{self, Block};

/// The side of each of these candidates. Families with near-duplicates of each other stay together. If the proof finds
/// what sketches missed, those families are put together as well, and all is split again, so that nothing leaks.
pub fn split(rule: Split, candidates: &Candidates, places: &[usize]) -> io::Result<(Vec<Side>, SplitReport, Leakage)> {
    let own = |place: &usize| &candidates.all[*place];
    let families: Vec<u32> = places.iter().map(|place| own(place).family).collect();
    let mut together = Union::default();
    join_shared_scenarios(places.iter().map(own), &mut together);
    if rule.golden > 0.0 {
        for (one, other) in near_duplicates::linked_groups(&candidates.sketched(places), &families, rule.near)? {
            together.join(one, other);
        }
    }
    loop {
        let blocks = blocks(candidates, &families, &together);
        let drawn =
            split::golden(&blocks.iter().map(|(_, block)| block.clone()).collect::<Vec<_>>(), rule.golden, rule.seed);
        let golden: BTreeSet<u32> =
            blocks.iter().zip(drawn).filter(|(_, golden)| *golden).map(|((root, _), _)| *root).collect();
        let side = |family: &u32| if golden.contains(&together.root(*family)) { Side::Golden } else { Side::Train };
        let sides: Vec<Side> = families.iter().map(side).collect();
        let (leakage, leaks) = prove(rule, candidates, places, &sides)?;
        if leaks.is_empty() {
            let report = report(rule, candidates, places, &sides, &families, &together);
            return Ok((sides, report, leakage));
        }
        leaks.into_iter().for_each(|(one, other)| together.join(one, other));
    }
}

/// A scenario whose family changed from run to run holds its families together.
fn join_shared_scenarios<'a>(all: impl Iterator<Item = &'a Candidate>, together: &mut Union) {
    let mut family_of: BTreeMap<u32, u32> = BTreeMap::new();
    for candidate in all {
        together.join(*family_of.entry(candidate.scenario).or_insert(candidate.family), candidate.family);
    }
}

/// Families that stay together, by the one that stands for them.
fn blocks(candidates: &Candidates, families: &[u32], together: &Union) -> Vec<(u32, Block)> {
    let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
    for family in families {
        let name = candidates.symbols.name(*family);
        let block =
            blocks.entry(together.root(*family)).or_insert_with(|| Block { name: name.to_owned(), conversations: 0 });
        block.conversations += 1;
        if name < block.name.as_str() {
            name.clone_into(&mut block.name);
        }
    }
    let mut blocks: Vec<(u32, Block)> = blocks.into_iter().collect();
    blocks.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
    blocks
}

fn prove(
    rule: Split,
    candidates: &Candidates,
    places: &[usize],
    sides: &[Side],
) -> io::Result<(Leakage, BTreeSet<Leak>)> {
    let on = |side: Side| -> Vec<Member> {
        let own = places.iter().zip(sides).filter(|(_, own)| **own == side);
        own.map(|(place, _)| {
            let candidate = &candidates.all[*place];
            Member { shingles: *place, scenario: candidate.scenario, family: candidate.family }
        })
        .collect()
    };
    leakage::check(&on(Side::Train), &on(Side::Golden), &candidates.shingles, rule.near)
}

fn report(
    rule: Split,
    candidates: &Candidates,
    places: &[usize],
    sides: &[Side],
    families: &[u32],
    together: &Union,
) -> SplitReport {
    let part = |side: Side| {
        let own: Vec<&Candidate> = places
            .iter()
            .zip(sides)
            .filter(|(_, own)| **own == side)
            .map(|(place, _)| &candidates.all[*place])
            .collect();
        Part {
            conversations: own.len() as u64,
            scenarios: own.iter().map(|candidate| candidate.scenario).collect::<BTreeSet<_>>().len() as u64,
            families: own.iter().map(|candidate| candidate.family).collect::<BTreeSet<_>>().len() as u64,
        }
    };
    let (train, golden) = (part(Side::Train), part(Side::Golden));
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let golden_share = golden.conversations as f64 / (places.len().max(1)) as f64;
    let mut groups: BTreeMap<u32, (BTreeSet<&str>, u64)> = BTreeMap::new();
    for family in families {
        let (names, conversations) = groups.entry(together.root(*family)).or_default();
        names.insert(candidates.symbols.name(*family));
        *conversations += 1;
    }
    let mut together: Vec<Group> = groups
        .into_values()
        .filter(|(names, _)| names.len() > 1)
        .map(|(names, conversations)| Group { families: names.into_iter().map(str::to_owned).collect(), conversations })
        .collect();
    together.sort_by(|one, other| one.families.cmp(&other.families));
    SplitReport { train, golden, golden_wanted: rule.golden, golden_share, together }
}
