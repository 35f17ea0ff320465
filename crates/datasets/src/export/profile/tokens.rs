//! The tokens of a sample as trainers load them, if the agent's endpoint returned them for all of its turns.

use std::sync::Arc;

use domain::sampling::SampledTokens;
use serde::Serialize;

/// Tokens that a model reads as one. A sample has several sequences if a prompt does not extend the turn before it, such as where a
/// template leaves earlier thoughts out.
#[derive(Debug, PartialEq, Serialize)]
pub struct Sequence<'a> {
    pub token_ids: Vec<u32>,
    /// 1 for tokens that the agent sampled in a turn of this sequence, 0 for all others. No token of a turn counts in two sequences.
    pub mask: Vec<u8>,
    /// 0 where the mask is 0.
    pub logprobs: Vec<f32>,
    pub policy_versions: Vec<&'a str>,
    /// Where each of its turns ends.
    #[serde(skip)]
    pub ends: Vec<usize>,
}

/// `None` if the endpoint did not return the prompts.
pub fn sequences(turns: &[Arc<SampledTokens>]) -> Option<Vec<Sequence<'_>>> {
    let mut all: Vec<Sequence<'_>> = Vec::new();
    for turn in turns {
        let prompt = turn.prompt.as_ref()?;
        let last = all.last().map_or(&[][..], |last| &last.token_ids);
        if all.is_empty() || last.len() != turn.shared {
            all.push(Sequence::beginning(last.get(..turn.shared)?));
        }
        all.last_mut()?.extend(prompt, turn);
    }
    Some(all)
}

/// The versions of the weights that turns were sampled from, each once.
pub fn policy_versions(turns: &[Arc<SampledTokens>]) -> Vec<&str> {
    let mut all = Vec::new();
    turns.iter().for_each(|turn| note_policy(&mut all, &turn.policy));
    all
}

fn note_policy<'a>(all: &mut Vec<&'a str>, policy: &'a str) {
    if !policy.is_empty() && !all.contains(&policy) {
        all.push(policy);
    }
}

impl<'a> Sequence<'a> {
    fn beginning(tokens: &[u32]) -> Self {
        let (mask, logprobs) = (vec![0; tokens.len()], vec![0.0; tokens.len()]);
        Self { token_ids: tokens.to_vec(), mask, logprobs, policy_versions: Vec::new(), ends: Vec::new() }
    }

    fn extend(&mut self, prompt: &[u32], turn: &'a SampledTokens) {
        self.token_ids.extend(prompt.iter().chain(&turn.completion));
        self.mask.resize(self.mask.len() + prompt.len(), 0);
        self.mask.resize(self.token_ids.len(), 1);
        self.logprobs.resize(self.logprobs.len() + prompt.len(), 0.0);
        self.logprobs.extend(&turn.logprobs);
        note_policy(&mut self.policy_versions, &turn.policy);
        self.ends.push(self.token_ids.len());
    }

    /// The tokens that one of its turns adds: ids, whether each was sampled, and the log-probabilities of those.
    pub fn turn(&self, number: usize) -> Option<(&[u32], Vec<bool>, &[f32])> {
        let end = *self.ends.get(number)?;
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mask: Vec<bool> = self.mask[begin..end].iter().map(|sampled| *sampled == 1).collect();
        let unsampled = mask.iter().take_while(|sampled| !**sampled).count();
        Some((&self.token_ids[begin..end], mask, &self.logprobs[begin + unsampled..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(shared: usize, prompt: &[u32], completion: &[u32], policy: &str) -> Arc<SampledTokens> {
        let logprobs = completion.iter().map(|_| -0.5).collect();
        let (prompt, completion) = (Some(prompt.to_vec()), completion.to_vec());
        Arc::new(SampledTokens { shared, prompt, completion, logprobs, policy: policy.to_owned() })
    }

    #[test]
    fn turns_that_extend_each_other_are_one_sequence() {
        let turns = [turn(0, &[1, 2], &[3, 4], "m 1"), turn(4, &[5], &[6], "m 2")];
        let found = sequences(&turns).unwrap();
        let [one] = &found[..] else { panic!("{found:?}") };
        assert_eq!(one.token_ids, [1, 2, 3, 4, 5, 6]);
        assert_eq!(one.mask, [0, 0, 1, 1, 0, 1]);
        assert_eq!(one.logprobs, [0.0, 0.0, -0.5, -0.5, 0.0, -0.5]);
        assert_eq!(one.policy_versions, ["m 1", "m 2"]);
        assert_eq!(one.turn(1), Some((&[5, 6][..], vec![false, true], &[-0.5][..])));
        assert_eq!(one.turn(2), None);
    }

    #[test]
    fn a_turn_that_extends_nothing_begins_a_sequence_in_which_only_it_counts() {
        let turns = [turn(0, &[1, 2], &[3, 4], "m"), turn(3, &[5], &[6], "m"), turn(5, &[], &[7], "m")];
        let found = sequences(&turns).unwrap();
        let told: Vec<_> = found.iter().map(|one| (one.token_ids.clone(), one.mask.clone())).collect();
        assert_eq!(told[0], (vec![1, 2, 3, 4], vec![0, 0, 1, 1]));
        assert_eq!(told[1], (vec![1, 2, 3, 5, 6, 7], vec![0, 0, 0, 0, 1, 1]));
        assert_eq!(told.len(), 2);
    }

    #[test]
    fn without_prompts_or_with_a_broken_beginning_there_are_none() {
        let unknown = Arc::new(SampledTokens { prompt: None, ..SampledTokens::clone(&turn(0, &[], &[1], "")) });
        assert_eq!(sequences(&[unknown]), None);
        assert_eq!(sequences(&[turn(2, &[1], &[2], "")]), None);
        assert_eq!(sequences(&[turn(0, &[1], &[2], ""), turn(3, &[1], &[2], "")]), None);
    }
}
