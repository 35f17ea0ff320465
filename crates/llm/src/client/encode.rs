//! Embeddings and ranking: the questions whose answer is one JSON document of numbers.

use domain::chat::ChatReply;
use domain::encoder::{EncoderRequest, EncoderTask};
use domain::event::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use super::manner::Manner;
use super::nan::without_nan;
use super::{Client, FailedAttempt, TimedReply, body, status};
use crate::error::Failure;
use crate::limits::MOST_SENT_BYTES;

#[derive(Serialize)]
struct EmbedBody<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

/// As Jina, Cohere and vLLM read it.
#[derive(Serialize)]
struct RerankBody<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [String],
    top_n: usize,
    return_documents: bool,
}

#[derive(Deserialize)]
struct Answer {
    model: Option<String>,
    error: Option<Value>,
    usage: Option<Tokens>,
    #[serde(default)]
    data: Vec<Vector>,
    #[serde(default)]
    results: Vec<Score>,
}

#[derive(Deserialize)]
struct Tokens {
    prompt_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

/// 32-bit numbers, as models compute them: written out, they are half as long as what Python makes of them. `None` is no
/// finite number.
#[derive(Deserialize)]
struct Vector {
    index: Option<usize>,
    #[serde(default)]
    embedding: Vec<Option<f32>>,
}

#[derive(Deserialize, Serialize)]
struct Score {
    index: usize,
    #[serde(rename(deserialize = "relevance_score"), alias = "score")]
    score: Option<f32>,
}

impl Client {
    /// One attempt.
    pub async fn encode(&self, ask: &EncoderRequest) -> Result<TimedReply, FailedAttempt> {
        let model = self.spec.name();
        self.limited(async {
            let (sent, limit) = (Instant::now(), self.options.first_byte_timeout);
            let parts = match &ask.task {
                EncoderTask::Embed { texts } => {
                    let body = EmbedBody { model, input: texts, encoding_format: "float" };
                    self.send(&self.urls.embeddings, &body, limit).await
                }
                EncoderTask::Rerank { query, documents, most } => {
                    let body = RerankBody { model, query, documents, top_n: *most, return_documents: false };
                    self.send(&self.urls.rerank, &body, limit).await
                }
            };
            let (body, began) = body::read_whole(parts.map_err(refused)?).await.map_err(too_long)?;
            let reply = self.numbers(&ask.task, &body)?;
            Ok(TimedReply { reply, manner: Manner::default(), first_byte: began - sent })
        })
        .await
    }

    fn numbers(&self, task: &EncoderTask, body: &[u8]) -> Result<ChatReply, Failure> {
        let garbled = |_| Failure::Garbled { found: String::from_utf8_lossy(body).into_owned() };
        let answer: Answer = serde_json::from_slice(&without_nan(body)).map_err(garbled)?;
        if let Some(error) = answer.error.filter(|error| !error.is_null()) {
            return Err(status::failure_within(&error));
        }
        if let (Some(only), Some(found)) = (self.only(), answer.model)
            && only != found
        {
            return Err(Failure::OtherModel { found });
        }
        let usage = answer.usage.map(|usage| usage.prompt_tokens.or(usage.total_tokens).unwrap_or_default());
        let usage = Usage { prompt_tokens: usage.unwrap_or_default(), ..Usage::default() };
        let content = match task {
            EncoderTask::Embed { .. } => {
                let vectors = in_order(answer.data).ok_or_else(|| {
                    let reply = ChatReply { usage, ..ChatReply::default() };
                    unusable("its vectors are not numbered from 0 on, one each".to_owned(), reply)
                })?;
                serde_json::to_string(&vectors)
            }
            EncoderTask::Rerank { .. } => serde_json::to_string(&answer.results),
        };
        Ok(ChatReply { content: content.unwrap_or_default(), usage, ..ChatReply::default() })
    }
}

/// The vectors by their indexes, if each has its own. Servers that give no indexes keep the order.
fn in_order(mut data: Vec<Vector>) -> Option<Vec<Vec<Option<f32>>>> {
    let place = |(i, vector): (usize, &Vector)| vector.index.unwrap_or(i);
    let mut places: Vec<usize> = data.iter().enumerate().map(place).collect();
    if data.iter().all(|vector| vector.index.is_some()) {
        data.sort_by_key(|vector| vector.index);
        places.sort_unstable();
    }
    let in_order = places.into_iter().eq(0..data.len());
    in_order.then(|| data.into_iter().map(|vector| vector.embedding).collect())
}

fn unusable(reason: String, reply: ChatReply) -> Failure {
    Failure::Unusable { reason, reply: Box::new(reply) }
}

/// The endpoint objects to these texts, mostly because one is too long for the model. It would object again.
fn refused(failed: FailedAttempt) -> FailedAttempt {
    match failed.failure {
        Failure::Refused { status: status @ (400 | 413 | 422), message } => {
            unusable(format!("it refuses these texts with {status} ({message})"), ChatReply::default()).into()
        }
        _ => failed,
    }
}

fn too_long(failure: Failure) -> Failure {
    match failure {
        Failure::Stopped { reply, .. } => unusable(format!("it is longer than {MOST_SENT_BYTES} bytes"), *reply),
        other => other,
    }
}
