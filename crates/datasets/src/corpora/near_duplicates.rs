//! Near-duplicates among many conversations.

use std::collections::HashMap;
use std::io;

use super::shingles::{ShingleFile, resemblance};
use super::sketch::{Buckets, NONE, Sketch, Threshold};

/// A conversation that resembles one that stays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearDuplicate {
    pub dropped: usize,
    pub kept: usize,
    pub resemblance: f64,
}

/// Conversations that are looked at: which, and their sketches. Numbers in what is found are those of `which`.
pub struct SketchSet<'a> {
    pub which: &'a [usize],
    pub sketches: &'a [Sketch],
    pub shingles: &'a ShingleFile,
}

/// Drops each conversation that resembles an earlier one that stays at least so much. Afterwards no two that stay do, as
/// far as the bands tell: they miss one pair in a thousand that resembles each other just enough.
pub fn drop_near(all: &SketchSet<'_>, least: f64) -> io::Result<Vec<NearDuplicate>> {
    let threshold = Threshold::new(least);
    let sketches: Vec<&Sketch> = all.which.iter().map(|i| &all.sketches[*i]).collect();
    let mut bands: Vec<Band> = threshold.buckets(&sketches).into_iter().map(Band::new).collect();
    let mut seen = vec![NONE; sketches.len()];
    let mut dropped = Vec::new();
    for place in 0..sketches.len() {
        let found = nearest_kept(all, &sketches, &threshold, &bands, &mut seen, place)?;
        match found {
            Some(near) => dropped.push(near),
            None => bands.iter_mut().for_each(|band| band.record(place)),
        }
    }
    Ok(dropped)
}

fn nearest_kept(
    all: &SketchSet<'_>,
    sketches: &[&Sketch],
    threshold: &Threshold,
    bands: &[Band],
    seen: &mut [u32],
    place: usize,
) -> io::Result<Option<NearDuplicate>> {
    let stamp = number(place);
    // Read when it is first needed: most have no candidate.
    let mut own = None;
    for other in bands.iter().flat_map(|band| band.beside(place)) {
        if std::mem::replace(&mut seen[other], stamp) == stamp || !threshold.allows(sketches[place], sketches[other]) {
            continue;
        }
        let own = match &mut own {
            Some(own) => own,
            none => none.insert(all.shingles.of(all.which[place])?),
        };
        let resemblance = resemblance(own, &all.shingles.of(all.which[other])?);
        if resemblance >= threshold.least {
            return Ok(Some(NearDuplicate { dropped: all.which[place], kept: all.which[other], resemblance }));
        }
    }
    Ok(None)
}

/// The conversations of one band that stay: by bucket a list, whose links stand beside each other.
struct Band {
    buckets: Buckets,
    /// By bucket: the last one that stayed.
    last: Vec<u32>,
    /// By conversation: the one that stayed before it in its bucket.
    before: Vec<u32>,
}

impl Band {
    fn new(buckets: Buckets) -> Self {
        let before = vec![NONE; buckets.sketches()];
        Self { last: vec![NONE; buckets.count], before, buckets }
    }

    fn record(&mut self, place: usize) {
        if let Some(bucket) = self.buckets.of(place) {
            self.before[place] = std::mem::replace(&mut self.last[bucket], number(place));
        }
    }

    /// Those that stay and share its bucket.
    fn beside(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.buckets.of(place).map_or(NONE, |bucket| self.last[bucket]);
        let linked = |place: u32| Some(place).filter(|place| *place != NONE);
        std::iter::successors(linked(first), move |place| linked(self.before[*place as usize]))
            .map(|place| place as usize)
    }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(NONE)
}

/// In each bucket so many speak for their group.
const SPEAKERS: usize = 4;

/// Which groups hold near-duplicates of each other: pairs of groups. `groups` names the group of each conversation in
/// `which`. Not every pair is compared; [`super::leakage`] finds what is left.
pub fn linked_groups(all: &SketchSet<'_>, groups: &[u32], least: f64) -> io::Result<Vec<(u32, u32)>> {
    let threshold = Threshold::new(least);
    let sketches: Vec<&Sketch> = all.which.iter().map(|i| &all.sketches[*i]).collect();
    let mut found = Union::default();
    for buckets in threshold.buckets(&sketches) {
        let mut speakers: Vec<Vec<usize>> = vec![Vec::new(); buckets.count];
        for place in 0..sketches.len() {
            let Some(bucket) = buckets.of(place) else { continue };
            for other in &speakers[bucket] {
                if !found.same(groups[place], groups[*other])
                    && threshold.allows(sketches[place], sketches[*other])
                    && resemblance(&all.shingles.of(all.which[place])?, &all.shingles.of(all.which[*other])?) >= least
                {
                    found.join(groups[place], groups[*other]);
                }
            }
            let own = speakers[bucket].iter().filter(|other| groups[**other] == groups[place]).count();
            if own < SPEAKERS {
                speakers[bucket].push(place);
            }
        }
    }
    Ok(found.pairs)
}

/// Groups that belong together.
#[derive(Debug, Default)]
pub struct Union {
    parent: HashMap<u32, u32>,
    /// What was joined that was not joined before.
    pairs: Vec<(u32, u32)>,
}

impl Union {
    /// The group that stands for all that belong together.
    pub fn root(&self, mut group: u32) -> u32 {
        while let Some(parent) = self.parent.get(&group) {
            group = *parent;
        }
        group
    }

    pub fn same(&self, one: u32, other: u32) -> bool {
        self.root(one) == self.root(other)
    }

    pub fn join(&mut self, one: u32, other: u32) {
        let (root, below) = (self.root(one), self.root(other));
        if root != below {
            self.parent.insert(below, root);
            self.pairs.push((one, other));
        }
    }
}
