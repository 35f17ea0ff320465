//! The proof that training and golden part have nothing in common.
//!
//! It looks at what came out, and by other means than the split was made with: where sketches miss a pair now and then,
//! this finds every one. Two sets that resemble each other at least so much have one of their first elements in common,
//! whatever the order, if each shows one more than it may lack (prefix filtering: S. Chaudhuri, V. Ganti and R. Kaushik,
//! "A primitive operator for similarity joins in data cleaning", 2006). In an order from rare to frequent, few pairs do,
//! and those are compared in full.

use std::collections::BTreeSet;
use std::io;

use domain::corpus::Leakage;

use super::shingles::{ShingleFile, resemblance};

/// Two families that have near-duplicates of each other on both sides.
pub type Leak = (u32, u32);

/// A conversation on one side: its number among the shingles, its scenario and its family.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    pub shingles: usize,
    pub scenario: u32,
    pub family: u32,
}

/// What both sides have in common, and the families that it is in.
pub fn check(
    train: &[Member],
    golden: &[Member],
    shingles: &ShingleFile,
    threshold: f64,
) -> io::Result<(Leakage, BTreeSet<Leak>)> {
    let mut leakage = Leakage {
        scenarios: common(train, golden, |member| member.scenario),
        families: common(train, golden, |member| member.family),
        threshold,
        pairs: (train.len() * golden.len()) as u64,
        ..Leakage::default()
    };
    let mut leaks = BTreeSet::new();
    if train.is_empty() || golden.is_empty() {
        return Ok((leakage, leaks));
    }
    let order = Order::of(train.iter().chain(golden), shingles)?;
    let index = Index::of(golden, shingles, &order, threshold)?;
    let mut seen = vec![usize::MAX; golden.len()];
    for (i, member) in train.iter().enumerate() {
        let own = shingles.of(member.shingles)?;
        for other in index.candidates(&order.prefix(&own, threshold)) {
            if std::mem::replace(&mut seen[other], i) == i
                || !lengths_allow(own.len(), shingles, golden[other], threshold)
            {
                continue;
            }
            let found = resemblance(&own, &shingles.of(golden[other].shingles)?);
            leakage.compared += 1;
            leakage.nearest = Some(leakage.nearest.map_or(found, |nearest| nearest.max(found)));
            if found >= threshold {
                leakage.near_duplicates += 1;
                leaks.insert((member.family, golden[other].family));
            }
        }
    }
    Ok((leakage, leaks))
}

fn common(train: &[Member], golden: &[Member], of: impl Fn(&Member) -> u32) -> u64 {
    let train: BTreeSet<u32> = train.iter().map(&of).collect();
    let golden: BTreeSet<u32> = golden.iter().map(&of).collect();
    train.intersection(&golden).count() as u64
}

/// Of the larger set, what they have in common is at most the smaller one.
#[expect(clippy::cast_precision_loss, reason = "sets are far smaller than 2^52")]
fn lengths_allow(own: usize, shingles: &ShingleFile, other: Member, threshold: f64) -> bool {
    let other = shingles.count(other.shingles);
    own.min(other) as f64 >= threshold * own.max(other) as f64
}

/// From rare shingles to frequent ones. How many conversations have one is counted in cells that several share, which
/// changes the order and nothing else.
struct Order(Vec<u32>);

const CELLS: usize = 1 << 20;

impl Order {
    fn of<'a>(members: impl Iterator<Item = &'a Member>, shingles: &ShingleFile) -> io::Result<Self> {
        let mut counts = vec![0_u32; CELLS];
        for member in members {
            for shingle in shingles.of(member.shingles)? {
                let count = &mut counts[shingle as usize % CELLS];
                *count = count.saturating_add(1);
            }
        }
        Ok(Self(counts))
    }

    /// The first of its shingles: as many as it may lack of a set that resembles it, and one more.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sets are far smaller than 2^52, and a share of one is no more than it"
    )]
    fn prefix(&self, shingles: &[u32], threshold: f64) -> Vec<u32> {
        // Rounded down, so that an unlucky last bit lengthens the prefix.
        let shared = (threshold * shingles.len() as f64 - 1e-6).ceil().max(1.0) as usize;
        let mut first = shingles.to_vec();
        first.sort_unstable_by_key(|shingle| (self.0[*shingle as usize % CELLS], *shingle));
        first.truncate(shingles.len() - shared.min(shingles.len()) + 1);
        first
    }
}

/// Who begins with which shingle, sorted.
struct Index(Vec<(u32, u32)>);

impl Index {
    fn of(members: &[Member], shingles: &ShingleFile, order: &Order, threshold: f64) -> io::Result<Self> {
        let mut index = Vec::new();
        for (member, place) in members.iter().zip(0..) {
            let prefix = order.prefix(&shingles.of(member.shingles)?, threshold);
            index.extend(prefix.into_iter().map(|shingle| (shingle, place)));
        }
        index.sort_unstable();
        Ok(Self(index))
    }

    fn candidates<'a>(&'a self, prefix: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        let from = |shingle: u32| &self.0[self.0.partition_point(|(own, _)| *own < shingle)..];
        let beginning = move |shingle: &u32| {
            let shingle = *shingle;
            from(shingle).iter().take_while(move |(own, _)| *own == shingle)
        };
        prefix.iter().flat_map(beginning).map(|(_, place)| *place as usize)
    }
}
