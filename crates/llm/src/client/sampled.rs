//! The tokens of a reply, as engines return them: vLLM and SGLang with `return_token_ids`, llama-server with `logprobs`. If they are
//! malformed, the tokens are dropped and the reply is kept.

use std::fmt;
use std::marker::PhantomData;

use domain::event::Usage;
use domain::sampling::{HIGHEST_LOGPROB, SampledTokens, Sampling};
use domain::text;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::limits::{LONGEST_POLICY, MOST_COMPLETION_TOKENS, MOST_PROMPT_TOKENS};

/// One is asked for.
const MOST_CHOICES: usize = 8;

/// The tokens of a reply in the making.
#[derive(Debug, Default)]
pub struct SampledDraft {
    prompt: Vec<u32>,
    /// As a list of their own.
    ids: Vec<u32>,
    /// Beside their log-probabilities.
    listed: Vec<u32>,
    logprobs: Vec<f32>,
    /// The model, the version of its weights, and a fingerprint.
    policy: [Option<String>; 3],
    /// Why nothing of it can be used.
    fault: Option<String>,
}

/// The tokens in a chunk of a stream, or in a whole completion.
#[derive(Deserialize)]
struct TokenChunk {
    /// Of vLLM.
    prompt_token_ids: Option<PromptIds>,
    choices: Option<AtMost<TokenChoice, MOST_CHOICES>>,
}

#[derive(Deserialize)]
struct TokenChoice {
    /// Of SGLang.
    prompt_token_ids: Option<PromptIds>,
    token_ids: Option<AtMost<u32, MOST_COMPLETION_TOKENS>>,
    logprobs: Option<LogProbs>,
}

#[derive(Deserialize)]
struct LogProbs {
    content: Option<AtMost<LogProb, MOST_COMPLETION_TOKENS>>,
}

#[derive(Deserialize)]
struct LogProb {
    /// Of llama-server.
    id: Option<u32>,
    /// `token_id:123` where vLLM was started with `--return-tokens-as-token-ids`.
    token: Option<String>,
    logprob: Option<f64>,
}

type PromptIds = AtMost<u32, MOST_PROMPT_TOKENS>;

/// The names of the weights in a chunk.
#[derive(Deserialize)]
struct PolicyChunk {
    model: Option<String>,
    /// SGLang names its weights here.
    metadata: Option<Metadata>,
    system_fingerprint: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    weight_version: Option<String>,
}

/// A list that is not read any further when it is longer.
struct AtMost<T, const MOST: usize>(Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for AtMost<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for ListVisitor<T, MOST> {
    type Value = AtMost<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut read = Vec::new();
        while let Some(item) = list.next_element()? {
            if read.len() == MOST {
                return Err(A::Error::invalid_length(MOST + 1, &self));
            }
            read.push(item);
        }
        Ok(AtMost(read))
    }
}

impl SampledDraft {
    /// Reads the JSON of a chunk or of a whole completion.
    pub fn read(&mut self, json: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        if let Ok(chunk) = serde_json::from_slice(json) {
            self.add_policy(chunk);
        }
        let read = serde_json::from_slice(json)
            .map_err(|error| text::line(&format!("the endpoint's tokens cannot be read: {error}")));
        if let Err(fault) = read.and_then(|chunk| self.add(chunk)) {
            *self = Self { fault: Some(fault), ..Self::default() };
        }
    }

    fn add_policy(&mut self, chunk: PolicyChunk) {
        let weights = chunk.metadata.and_then(|metadata| metadata.weight_version);
        for (known, told) in self.policy.iter_mut().zip([chunk.model, weights, chunk.system_fingerprint]) {
            *known = known.take().or(told).filter(|told| !told.is_empty());
        }
    }

    fn add(&mut self, chunk: TokenChunk) -> Result<(), String> {
        let choice = chunk.choices.and_then(|choices| choices.0.into_iter().next());
        let of_choice = |choice: TokenChoice| (choice.prompt_token_ids, choice.token_ids, choice.logprobs);
        let (prompt, ids, logprobs) = choice.map_or((None, None, None), of_choice);
        if let Some(prompt) = chunk.prompt_token_ids.or(prompt).filter(|_| self.prompt.is_empty()) {
            self.prompt = prompt.0;
        }
        self.ids.extend(ids.into_iter().flat_map(|ids| ids.0));
        for entry in logprobs.and_then(|logprobs| logprobs.content).into_iter().flat_map(|content| content.0) {
            let written = || entry.token.as_ref()?.strip_prefix("token_id:")?.parse().ok();
            self.listed.extend(entry.id.or_else(written));
            self.logprobs.push(logprob(entry.logprob)?);
        }
        if self.ids.len().max(self.logprobs.len()) > MOST_COMPLETION_TOKENS {
            return Err(format!("the endpoint returns more than {MOST_COMPLETION_TOKENS} tokens of the reply"));
        }
        Ok(())
    }

    /// `usage`: what the endpoint counted.
    pub fn finish(self, usage: Usage) -> Sampling {
        self.checked(usage).map_or_else(Sampling::Missing, |tokens| Sampling::Tokens(tokens.into()))
    }

    fn checked(self, usage: Usage) -> Result<SampledTokens, String> {
        let Self { prompt, ids, listed, logprobs, policy, fault } = self;
        if let Some(fault) = fault {
            return Err(fault);
        }
        let completion = if ids.is_empty() { listed } else { ids };
        match (completion.len(), logprobs.len()) {
            (0, 0) => return Err("the endpoint returns neither token ids nor log-probabilities".to_owned()),
            (0, _) => return Err("the endpoint returns log-probabilities without token ids".to_owned()),
            (_, 0) => return Err("the endpoint returns token ids without log-probabilities".to_owned()),
            (ids, logprobs) if ids != logprobs => {
                return Err(format!("the endpoint returns {ids} token ids and {logprobs} log-probabilities"));
            }
            _ => {}
        }
        let counts = [
            ("of the prompt", usage.prompt_tokens, prompt.len()),
            ("of the reply", usage.completion_tokens, completion.len()),
        ];
        for (what, counted, returned) in counts {
            if counted > 0 && returned > 0 && counted != returned as u64 {
                return Err(format!("the endpoint counts {counted} tokens {what} and returns {returned}"));
            }
        }
        let policy = policy.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let policy = policy.chars().filter(|letter| !letter.is_control()).take(LONGEST_POLICY).collect();
        let prompt = Some(prompt).filter(|prompt| !prompt.is_empty());
        Ok(SampledTokens { shared: 0, prompt, completion, logprobs, policy })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "models compute no more digits")]
fn logprob(told: Option<f64>) -> Result<f32, String> {
    let number = told.map(|told| told as f32).filter(|number| number.is_finite());
    let number = number.ok_or("the endpoint returns a log-probability that is no finite number")?;
    if number > HIGHEST_LOGPROB {
        return Err(format!("the endpoint returns {number} as a log-probability"));
    }
    Ok(number)
}
