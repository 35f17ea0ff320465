//! The shapes that trainers load: each profile makes one record of one canonical row, of a pair or of a group of them, and knows
//! of nothing else.

mod art;
mod canonical;
mod groups;
mod huggingface;
mod json_strings;
mod llamafactory;
mod message;
mod ms_swift;
mod object;
mod openai;
mod openai_dpo;
mod tokens;
mod trl;
mod trl_dpo;
mod trl_kto;
mod verifiers;
mod verl;
mod verl_groups;

use std::collections::BTreeMap;

use domain::export::{Arguments, Data, Profile, Shape};
use domain::message::Message;
use domain::reward::{self, GroupRewards, Penalties};
use domain::row::Row;

use super::columns::Columns;

/// Where a row stands in an export.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Of its conversation in the run or corpus.
    pub index: i32,
    /// `train` or `golden`; rows of a run are all for training.
    pub split: &'static str,
}

/// Two ways to go on from the same words, of which one is preferred.
pub struct Pair<'a> {
    pub chosen: &'a Row,
    pub rejected: &'a Row,
    /// What both have in common: so many messages, after which both agents speak, and not alike.
    pub common: usize,
}

/// The conversations that were played from one start.
pub struct Group<'a> {
    /// Of the run, and the number of the group in it.
    pub id: String,
    /// Of its first conversation in the run or corpus.
    pub index: i32,
    /// How many conversations the run plays from each start.
    pub of_each: u32,
    pub split: &'a str,
    /// Of all of them, also of those that trainers cannot load.
    pub rewards: GroupRewards,
    /// Those that trainers can load.
    pub samples: Vec<GroupSample>,
}

/// One of them.
pub struct GroupSample {
    /// From 0.
    pub number: u32,
    /// `None`: what went wrong is not the agent's.
    pub reward: Option<u8>,
    pub row: Row,
}

/// Why a row cannot be written for a trainer.
pub type UnfitReason = String;

/// Whether a row has a form in a profile of groups, which is asked of each sample by itself: the others do without it.
///
/// # Errors
/// Why it has none.
pub fn fits(shape: &Shape, row: &Row) -> Result<(), UnfitReason> {
    if shape.arguments == Arguments::String {
        return Ok(());
    }
    let calls = row.messages.iter().flat_map(|message| match message {
        Message::Assistant { tool_calls, .. } => &tool_calls[..],
        _ => &[],
    });
    calls.map(message::object).try_for_each(|found| found.map(drop))
}

/// Appends the record of a row, a JSON object without a line end.
///
/// # Errors
/// The row has no form in this profile, and why; what was appended is then to be thrown away.
pub fn record(shape: &Shape, row: &Row, place: Place, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    match shape.profile {
        Profile::Huggingface => huggingface::record(shape, row, out),
        Profile::Canonical => canonical::record(shape, row, out),
        Profile::Trl => trl::record(shape, row, out),
        Profile::Openai => openai::record(row, out),
        Profile::Llamafactory => llamafactory::record(shape, row, out),
        Profile::MsSwift => ms_swift::record(shape, row, out),
        Profile::Verl => verl::record(row, place, out),
        Profile::JsonStrings => json_strings::record(shape, row, out),
        Profile::OpenaiDpo | Profile::TrlDpo => Err("the profile is one of pairs".to_owned()),
        Profile::Groups | Profile::Verifiers | Profile::Art | Profile::TrlKto | Profile::VerlGroups => {
            Err("the profile is one of groups".to_owned())
        }
    }
}

/// Appends the record of a pair.
///
/// # Errors
/// As of [`record`].
pub fn pair(shape: &Shape, pair: &Pair<'_>, out: &mut Vec<u8>) -> Result<(), UnfitReason> {
    match shape.profile {
        Profile::OpenaiDpo => openai_dpo::record(pair, out),
        Profile::TrlDpo => trl_dpo::record(shape, pair, out),
        _ => Err("the profile is not one of pairs".to_owned()),
    }
}

/// Appends the records of a group, and returns how many they are: in most profiles one. There is a line end between two records.
///
/// # Errors
/// As of [`record`].
pub fn group(shape: &Shape, group: &Group<'_>, out: &mut Vec<u8>) -> Result<usize, UnfitReason> {
    let one = |()| 1;
    match shape.profile {
        Profile::Groups => groups::record(shape, group, out).map(one),
        Profile::Verifiers => verifiers::records(shape, group, out),
        Profile::Art => art::record(shape, group, out).map(one),
        Profile::TrlKto => trl_kto::records(shape, group, out),
        Profile::VerlGroups => verl_groups::record(group, out).map(one),
        _ => Err("the profile is not one of groups".to_owned()),
    }
}

/// The columns of a Parquet file of this shape; `None` if it is written as JSONL.
pub fn columns(shape: &Shape) -> Option<Columns> {
    match (shape.data, shape.profile) {
        (Data::Parquet, Profile::Verl) => Some(verl::columns()),
        (Data::Parquet, Profile::VerlGroups) => Some(verl_groups::columns()),
        (Data::Parquet, _) => Some(json_strings::columns()),
        (Data::Jsonl, _) => None,
    }
}

impl Pair<'_> {
    pub fn prompt(&self) -> &[Message] {
        &self.chosen.messages[..self.common]
    }

    /// What the agents said and did until the user spoke again, the preferred side first.
    pub fn sides(&self) -> [&[Message]; 2] {
        [self.chosen, self.rejected].map(|row| {
            let rest = &row.messages[self.common..];
            let end = rest.iter().position(|message| matches!(message, Message::User { .. })).unwrap_or(rest.len());
            &rest[..end]
        })
    }
}

/// The metrics of a sample beside its reward: the components of the reward, and the penalties.
fn metrics(sample: &GroupSample) -> BTreeMap<String, f64> {
    let Penalties { malformed_calls, failed_calls, refused_messages, truncated } = sample.row.penalties;
    let components = reward::components(&sample.row.metadata.verifier.items);
    let components = components.into_iter().map(|(rule, share)| (rule.to_string(), share));
    let penalties = [
        ("malformed_calls", malformed_calls),
        ("failed_calls", failed_calls),
        ("refused_messages", refused_messages),
        ("truncated", truncated.into()),
    ];
    components.chain(penalties.map(|(name, count)| (name.to_owned(), count.into()))).collect()
}

fn never(error: serde_json::Error) -> UnfitReason {
    format!("it cannot be written as JSON: {error}")
}
