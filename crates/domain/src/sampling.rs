//! The tokens of a model's reply, as its endpoint returns them: what a trainer needs to train on what was sampled.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The tokens of a reply, or why there are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Shared between the event and the transcript.
    #[schema(value_type = SampledTokens)]
    Tokens(Arc<SampledTokens>),
    /// Nothing that can be used, and why.
    Missing(String),
}

/// The tokens of one reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SampledTokens {
    /// How many of the first tokens of the prompt are those of the agent's last turn, its prompt and its completion together. They are
    /// not repeated in `prompt`, or a conversation would be stored once for each of its turns. If it is as many as that turn has, this
    /// prompt extends it. In the first turn, and where nothing is the same, the whole prompt is stored.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared: usize,
    /// Ids of the other tokens of the prompt; absent if the endpoint does not return the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Vec<u32>>,
    /// Ids of the tokens that were sampled.
    pub completion: Vec<u32>,
    /// The natural logarithm of the probability of each of them, as the endpoint computes it.
    pub logprobs: Vec<f32>,
    /// The weights that were sampled from, as the endpoint names them: model, version and fingerprint, separated by spaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub policy: String,
}

impl Sampling {
    pub const fn tokens(&self) -> Option<&Arc<SampledTokens>> {
        match self {
            Self::Tokens(tokens) => Some(tokens),
            Self::Missing(_) => None,
        }
    }

    /// Without the beginning of the prompt that is known from the agent's turns before.
    #[must_use]
    pub fn following(self, turns: Option<&SampledTurns>) -> Self {
        let Self::Tokens(tokens) = self else { return self };
        let tokens = Arc::unwrap_or_clone(tokens).after(turns.map_or(&[], |turns| &turns.last));
        if turns.map_or(0, SampledTurns::kept) + tokens.kept() > MOST_KEPT {
            return Self::Missing(format!("more than {MOST_KEPT} tokens of a conversation are not kept"));
        }
        Self::Tokens(Arc::new(tokens))
    }
}

/// Log-probabilities are rounded: one may be a little above 0.
pub const HIGHEST_LOGPROB: f32 = 0.001;

/// Most tokens that are kept of one agent in a conversation: 8 MB, where each prompt repeats nothing. Contexts have far fewer.
const MOST_KEPT: usize = 1 << 20;

impl SampledTokens {
    fn kept(&self) -> usize {
        self.prompt.as_ref().map_or(0, Vec::len) + self.completion.len()
    }

    fn after(mut self, last: &[u32]) -> Self {
        if let Some(prompt) = &mut self.prompt {
            let same = prompt.iter().zip(last).take_while(|(own, last)| own == last).count();
            prompt.drain(..same);
            self.shared = same;
        }
        self
    }
}

/// The turns of an agent of which an endpoint returned the tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SampledTurns {
    /// Each with its event.
    pub turns: Vec<(u32, Sampling)>,
    /// Prompt and completion of the last turn whose prompt is known.
    pub last: Vec<u32>,
}

impl SampledTurns {
    fn kept(&self) -> usize {
        self.turns.iter().filter_map(|(_, sampling)| sampling.tokens()).map(|tokens| tokens.kept()).sum()
    }

    pub(crate) fn push(&mut self, seq: u32, sampling: Sampling) {
        if let Sampling::Tokens(tokens) = &sampling
            && let Some(prompt) = &tokens.prompt
        {
            self.last.truncate(tokens.shared);
            self.last.extend(prompt.iter().chain(&tokens.completion));
        }
        self.turns.push((seq, sampling));
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(prompt: &[u32], completion: &[u32]) -> Sampling {
        let logprobs = completion.iter().map(|_| -0.5).collect();
        let (prompt, completion) = (Some(prompt.to_vec()), completion.to_vec());
        Sampling::Tokens(Arc::new(SampledTokens { prompt, completion, logprobs, ..SampledTokens::default() }))
    }

    #[test]
    fn a_prompt_is_stored_from_where_it_differs_from_the_last_turn() {
        let mut turns = SampledTurns::default();
        let stored = [
            (reply(&[1, 2, 3], &[4, 5]), (0, vec![1, 2, 3])),
            // It extends the last turn.
            (reply(&[1, 2, 3, 4, 5, 6], &[7]), (5, vec![6])),
            // The template leaves the thoughts of the last turn out.
            (reply(&[1, 2, 3, 4, 5, 6, 9, 10], &[11]), (6, vec![9, 10])),
            (reply(&[8], &[12]), (0, vec![8])),
        ];
        for (seq, (sampling, expected)) in (0..).zip(stored) {
            let stored = sampling.clone().following(Some(&turns));
            let tokens = stored.tokens().unwrap();
            assert_eq!((tokens.shared, tokens.prompt.clone().unwrap()), expected);
            turns.push(seq, stored);
            let whole = sampling.tokens().unwrap();
            let all: Vec<u32> = whole.prompt.iter().flatten().chain(&whole.completion).copied().collect();
            assert_eq!(turns.last, all, "what is left out can be put back");
        }
    }

    #[test]
    fn a_reply_whose_prompt_is_unknown_leaves_the_last_turn_as_it_is() {
        let mut turns = SampledTurns { last: vec![1, 2], ..SampledTurns::default() };
        let tokens = SampledTokens { completion: vec![3], logprobs: vec![-1.0], ..SampledTokens::default() };
        let sampling = Sampling::Tokens(Arc::new(tokens.clone())).following(Some(&turns));
        assert_eq!(**sampling.tokens().unwrap(), tokens);
        turns.push(4, sampling);
        turns.push(6, Sampling::Missing("it returns none".to_owned()));
        assert_eq!((turns.turns.len(), &turns.last), (2, &vec![1, 2]));
    }
}
