//! Requests to embedding models and rerankers, and what their answers mean.

use std::sync::Arc;

use domain::chat::ChatReply;
use domain::encoder::{EncoderRequest, EncoderTask};
use domain::role::RoleId;
use domain::workflow::BuiltInEnd;
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::asking::{Asking, OpenRequest, Sample, Who};
use super::{Ending, Fold, Slot, StepId};
use crate::datum::Datum;
use crate::limits::{MOST_BATCH_BYTES, MOST_BATCH_TEXTS, MOST_RERANK_BYTES, MOST_TEXTS};
use crate::plan::{Embed, Rerank};

/// Why a step cannot ask: how the row ends, and the reason.
type Refusal = (BuiltInEnd, String);

impl Fold {
    pub(super) fn start_embed(&mut self, id: StepId, embed: &Embed) {
        match self.embed_tasks(id, embed) {
            Ok(tasks) => self.start_encoder(id, embed.role, tasks),
            Err((end, reason)) => self.fail(id, end, reason),
        }
    }

    pub(super) fn start_rerank(&mut self, id: StepId, rerank: &Rerank) {
        match self.rerank_task(id, rerank) {
            Ok(task) => self.start_encoder(id, rerank.role, task.into_iter().collect()),
            Err((end, reason)) => self.fail(id, end, reason),
        }
    }

    /// Opens a request for each task. Where nothing is to be asked, the value is an empty list.
    fn start_encoder(&mut self, id: StepId, role: RoleId, tasks: Vec<EncoderTask>) {
        if tasks.is_empty() {
            return self.done(id, json!([]).into());
        }
        let samples = tasks.iter().map(|_| Sample::default()).collect();
        let numbers = 0..u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        let who = Who::Encoder { role, tasks: tasks.into() };
        *self.slot_mut(id) = Slot::Asking(Box::new(Asking { who, samples, is_stream: false }));
        numbers.for_each(|sample| self.open_request(id, sample, 0));
    }

    fn embed_tasks(&self, id: StepId, embed: &Embed) -> Result<Vec<EncoderTask>, Refusal> {
        let given = self.evaluate(id.scope, &embed.texts).map_err(failed_code)?;
        let texts = match given.json() {
            Value::String(_) => texts_of("texts", std::slice::from_ref(given.json()))?,
            Value::Array(items) => texts_of("texts", items)?,
            _ => return Err(failed_code("`texts` is neither a text nor a list of texts".to_owned())),
        };
        Ok(batches(texts).into_iter().map(|texts| EncoderTask::Embed { texts: texts.into() }).collect())
    }

    /// `None` if there are no documents.
    fn rerank_task(&self, id: StepId, rerank: &Rerank) -> Result<Option<EncoderTask>, Refusal> {
        let query = self.evaluate(id.scope, &rerank.query).map_err(failed_code)?;
        let query = query.json().as_str().filter(|query| !query.trim().is_empty());
        let query = query.ok_or_else(|| failed_code("`query` is no text, or an empty one".to_owned()))?;
        let documents = self.evaluate(id.scope, &rerank.documents).map_err(failed_code)?;
        let no_list = || failed_code("`documents` is no list".to_owned());
        let documents = texts_of("documents", documents.json().as_array().ok_or_else(no_list)?)?;
        if documents.iter().map(String::len).sum::<usize>() > MOST_RERANK_BYTES {
            return Err((BuiltInEnd::TooLarge, format!("the documents have more than {MOST_RERANK_BYTES} bytes")));
        }
        let most = rerank.k.min(documents.len());
        let task = EncoderTask::Rerank { query: Arc::from(query), documents: documents.into(), most };
        Ok((most > 0).then_some(task))
    }

    pub(super) fn task_of(&self, open: OpenRequest) -> Option<EncoderTask> {
        match &self.asking(open.step)?.who {
            Who::Encoder { tasks, .. } => tasks.get(open.sample as usize).cloned(),
            _ => None,
        }
    }

    /// What an embedding model or a reranker is asked.
    pub fn encoder_request(&self, request: u64) -> Option<EncoderRequest> {
        let open = self.open.get(&request)?;
        let Who::Encoder { role, .. } = &self.asking(open.step)?.who else { return None };
        let purpose = format!("{}/{}/{}", self.address(open.step), open.sample, open.attempt);
        Some(EncoderRequest { role: *role, seed: self.seed.sampling(&purpose), task: self.task_of(*open)? })
    }

    /// Takes an answer. It is not asked for again: the same request gives the same one.
    pub(super) fn encoded(&mut self, open: OpenRequest, reply: &ChatReply) {
        let Some(task) = self.task_of(open) else { return };
        let value = match &task {
            EncoderTask::Embed { texts } => read_vectors(&reply.content, texts.len()),
            EncoderTask::Rerank { documents, most, .. } => read_scores(&reply.content, documents.len(), *most),
        };
        match value {
            Ok(value) => self.result(open, Ok(value.into())),
            Err(reason) => self.refuse_encoded(open, &reason),
        }
    }

    pub(super) fn refuse_encoded(&mut self, open: OpenRequest, reason: &str) {
        let reason = format!("the reply cannot be used: {reason}");
        self.result(open, Err(Ending::failed(BuiltInEnd::InvalidReply, reason)));
    }

    /// The value of an `embed`, from its batches.
    pub(super) fn vectors(&self, id: StepId, embed: &Embed, batches: &[Datum]) -> Result<Datum, Ending> {
        let failed = |reason| Ending::failed(BuiltInEnd::FailedCode, reason);
        let is_one = self.evaluate(id.scope, &embed.texts).map_err(failed)?.json().is_string();
        let mut all: Vec<Value> =
            batches.iter().filter_map(|batch| batch.json().as_array()).flatten().cloned().collect();
        let length = |vector: &Value| vector.as_array().map_or(0, Vec::len);
        let first = all.first().map_or(0, length);
        if let Some(other) = all.iter().map(length).find(|other| *other != first) {
            let reason = format!("the reply cannot be used: vectors of {first} and of {other} numbers");
            return Err(Ending::failed(BuiltInEnd::InvalidReply, reason));
        }
        Ok(if is_one { all.pop().unwrap_or_default() } else { Value::Array(all) }.into())
    }

    /// The value of a `rerank`, from the scores.
    pub(super) fn ranked_documents(&self, id: StepId, rerank: &Rerank, ranked: &Datum) -> Result<Datum, Ending> {
        let failed = |reason| Ending::failed(BuiltInEnd::FailedCode, reason);
        let documents = self.evaluate(id.scope, &rerank.documents).map_err(failed)?;
        let with_document = |one: &Value| {
            let place = one["index"].as_u64().and_then(|index| usize::try_from(index).ok());
            let document = place.and_then(|place| documents.json().get(place));
            json!({"index": one["index"], "score": one["score"], "document": document})
        };
        Ok(ranked.json().as_array().into_iter().flatten().map(with_document).collect::<Value>().into())
    }
}

fn failed_code(reason: String) -> Refusal {
    (BuiltInEnd::FailedCode, reason)
}

/// The texts of items that are texts, or records with a `text`.
fn texts_of(name: &str, items: &[Value]) -> Result<Vec<String>, Refusal> {
    if items.len() > MOST_TEXTS {
        return Err((BuiltInEnd::TooManyItems, format!("`{name}` has {} items; at most {MOST_TEXTS}", items.len())));
    }
    let text = |(i, item): (usize, &Value)| {
        let text = item.as_str().or_else(|| item.get("text")?.as_str());
        let text = text.ok_or_else(|| failed_code(format!("`{name}[{i}]` is no text")))?;
        if text.trim().is_empty() { Err(failed_code(format!("`{name}[{i}]` is empty"))) } else { Ok(text.to_owned()) }
    };
    items.iter().enumerate().map(text).collect()
}

fn batches(texts: Vec<String>) -> Vec<Vec<String>> {
    let (mut all, mut bytes) = (Vec::<Vec<String>>::new(), 0);
    for text in texts {
        let is_full = |batch: &Vec<String>| batch.len() >= MOST_BATCH_TEXTS || bytes + text.len() > MOST_BATCH_BYTES;
        if all.last().is_none_or(is_full) {
            all.push(Vec::new());
            bytes = 0;
        }
        bytes += text.len();
        if let Some(batch) = all.last_mut() {
            batch.push(text);
        }
    }
    all
}

fn read_vectors(content: &str, count: usize) -> Result<Value, String> {
    let vectors: Vec<Vec<Option<Number>>> =
        serde_json::from_str(content).map_err(|error| format!("it is no list of vectors: {error}"))?;
    if vectors.len() != count {
        return Err(format!("it has {} vectors for {count} texts", vectors.len()));
    }
    let read = |(i, vector): (usize, Vec<Option<Number>>)| {
        let numbers: Option<Vec<Value>> = vector.into_iter().map(finite).collect();
        match numbers {
            Some(numbers) if numbers.is_empty() => Err(format!("vector {i} is empty")),
            Some(numbers) => Ok(Value::Array(numbers)),
            None => Err(format!("vector {i} holds something that is no finite number")),
        }
    };
    vectors.into_iter().enumerate().map(read).collect()
}

#[derive(Deserialize)]
struct Score {
    index: usize,
    score: Option<Number>,
}

/// A list of `{index, score}`, best first, ties in the order of the documents.
fn read_scores(content: &str, count: usize, most: usize) -> Result<Value, String> {
    let scores: Vec<Score> =
        serde_json::from_str(content).map_err(|error| format!("it is no list of {{index, score}}: {error}"))?;
    if scores.len() < most {
        return Err(format!("it ranks {} documents; {most} were asked for", scores.len()));
    }
    let mut is_ranked = vec![false; count];
    let mut ranked = Vec::new();
    for Score { index, score } in scores {
        let place = is_ranked.get_mut(index).ok_or_else(|| format!("it ranks document {index} of {count}"))?;
        if std::mem::replace(place, true) {
            return Err(format!("it ranks document {index} twice"));
        }
        let score = finite(score).ok_or_else(|| format!("the score of document {index} is no finite number"))?;
        ranked.push((index, score));
    }
    let value = |score: &Value| score.as_f64().unwrap_or_default();
    ranked.sort_by(|(i, a), (j, b)| value(b).total_cmp(&value(a)).then(i.cmp(j)));
    Ok(ranked.into_iter().take(most).map(|(index, score)| json!({"index": index, "score": score})).collect())
}

fn finite(number: Option<Number>) -> Option<Value> {
    number.filter(|number| number.as_f64().is_some_and(f64::is_finite)).map(Value::Number)
}
