//! How many of each group stay.

use std::collections::BTreeMap;

/// Of each group the first `at_most`; without it, as many as the smallest group has. `groups` names the group of each
/// one, the best first. True: it stays.
pub fn balance(groups: &[u32], at_most: Option<u32>) -> (Vec<bool>, u32) {
    let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
    groups.iter().for_each(|group| *sizes.entry(*group).or_default() += 1);
    let most = at_most.or_else(|| sizes.values().copied().min()).unwrap_or(u32::MAX);
    (ranks(groups).into_iter().map(|rank| rank < most).collect(), most)
}

/// The best `most` of all; with several groups, each gives one in its turn, so that what was balanced stays so.
pub fn limit(groups: &[u32], most: u32) -> Vec<bool> {
    let mut turns: Vec<(u32, usize)> = ranks(groups).into_iter().zip(0..).collect();
    turns.sort_unstable();
    let mut stays = vec![false; groups.len()];
    turns.iter().take(most as usize).for_each(|(_, place)| stays[*place] = true);
    stays
}

/// How many of its group come before each one.
fn ranks(groups: &[u32]) -> Vec<u32> {
    let mut before: BTreeMap<u32, u32> = BTreeMap::new();
    let mut rank = |group: &u32| {
        let next = before.entry(*group).or_default();
        *next += 1;
        *next - 1
    };
    groups.iter().map(&mut rank).collect()
}
