//! What is left of the candidates, and why the others are not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use domain::corpus::{Balance, Dimension, Reason, Stage, Step, Treatment};
use domain::persona::Complexity;
use strum::VariantArray;
use uuid::Uuid;

use super::{CandidateOutcome, Candidates};
use crate::corpora::scan::Findings;
use crate::corpora::utterances::Speaker;
use crate::corpora::{balance, near_duplicates};

/// What is left of the candidates, the best first.
pub struct Selection<'a> {
    candidates: &'a Candidates,
    pub places: Vec<usize>,
    /// By candidate; those that are left have none yet.
    pub fates: Vec<Option<CandidateOutcome>>,
    pub funnel: Vec<Stage>,
}

impl<'a> Selection<'a> {
    /// By their overall score; of equals by their ids, which say nothing of what they are worth.
    pub fn new(candidates: &'a Candidates) -> Self {
        let all = &candidates.all;
        let mut places: Vec<usize> = (0..all.len()).collect();
        places.sort_unstable_by_key(|place| (Reverse(all[*place].overall), all[*place].id));
        Self { candidates, places, fates: vec![None; all.len()], funnel: Vec::new() }
    }

    /// Drops what `why` names a reason for: one that funnels count by, and one for the manifest.
    fn drop(&mut self, step: Step, mut why: impl FnMut(usize) -> Option<(String, String)>) {
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        let fates = &mut self.fates;
        self.places.retain(|place| {
            let Some((counted, reason)) = why(*place) else { return true };
            *reasons.entry(counted).or_default() += 1;
            fates[*place] = Some(CandidateOutcome::Dropped { by: step, reason });
            false
        });
        let mut reasons: Vec<Reason> =
            reasons.into_iter().map(|(reason, conversations)| Reason { reason, conversations }).collect();
        reasons.sort_by_key(|reason| Reverse(reason.conversations));
        let dropped = reasons.iter().map(|reason| reason.conversations).sum();
        self.funnel.push(Stage { step, dropped, left: self.places.len() as u64, reasons });
    }

    pub fn scanned(
        &mut self,
        step: Step,
        treatment: Treatment,
        first: impl Fn(&Findings) -> Option<(&'static str, Speaker)>,
    ) {
        if treatment == Treatment::Keep {
            return;
        }
        let all = &self.candidates.all;
        self.drop(step, |place| {
            let (kind, speaker) = first(&all[place].findings)?;
            Some((kind.to_owned(), format!("{kind} in {}", speaker.place())))
        });
    }

    pub fn exact_duplicates(&mut self) {
        let all = &self.candidates.all;
        let mut kept: HashMap<[u8; 16], Uuid> = HashMap::new();
        self.drop(Step::ExactDuplicates, |place| {
            let own = &all[place];
            let first = *kept.entry(own.hash).or_insert(own.id);
            (first != own.id).then(|| ("says the same as a better one".to_owned(), format!("says the same as {first}")))
        });
    }

    pub fn near_duplicates(&mut self, least: f64) -> io::Result<()> {
        let candidates = self.candidates;
        let found = near_duplicates::drop_near(&candidates.sketched(&self.places), least)?;
        let found: HashMap<usize, near_duplicates::NearDuplicate> =
            found.into_iter().map(|near| (near.dropped, near)).collect();
        self.drop(Step::NearDuplicates, |place| {
            let near = found.get(&place)?;
            let reason = format!("resembles {} by {:.3}", candidates.all[near.kept].id, near.resemblance);
            Some((format!("resembles a better one by {least} or more"), reason))
        });
        Ok(())
    }

    pub fn balance(&mut self, rule: Balance) {
        let groups = self.groups(Some(rule.by));
        let (stays, most) = balance::balance(&groups, rule.at_most);
        let over: HashMap<usize, u32> = Self::over(&stays).map(|i| (self.places[i], groups[i])).collect();
        let (candidates, by) = (self.candidates, rule.by.into_str());
        self.drop(Step::Balance, |place| {
            let name = name(candidates, rule.by, *over.get(&place)?);
            Some((format!("{by} {name}"), format!("{most} of {by} {name} are better")))
        });
    }

    /// `by`: what it was balanced by.
    pub fn limit(&mut self, most: u32, by: Option<Dimension>) {
        let stays = balance::limit(&self.groups(by), most);
        let over: HashSet<usize> = Self::over(&stays).map(|i| self.places[i]).collect();
        let reason = format!("{most} are enough");
        self.drop(Step::Limit, |place| over.contains(&place).then(|| (reason.clone(), reason.clone())));
    }

    fn over(stays: &[bool]) -> impl Iterator<Item = usize> {
        stays.iter().enumerate().filter(|(_, stays)| !**stays).map(|(i, _)| i)
    }

    /// The group of each one that is left; one for all of them if there are no groups.
    fn groups(&self, by: Option<Dimension>) -> Vec<u32> {
        let own = |place: &usize| &self.candidates.all[*place];
        self.places
            .iter()
            .map(|place| match by {
                None => 0,
                Some(Dimension::Scenario) => own(place).scenario,
                Some(Dimension::Persona) => own(place).persona,
                Some(Dimension::Complexity) => own(place).complexity as u32,
            })
            .collect()
    }
}

fn name(candidates: &Candidates, by: Dimension, group: u32) -> &str {
    match by {
        Dimension::Scenario | Dimension::Persona => candidates.symbols.name(group),
        Dimension::Complexity => Complexity::VARIANTS.get(group as usize).map_or("", Complexity::into_str),
    }
}
