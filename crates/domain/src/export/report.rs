//! What a finished export holds and what it left out, counted while it was written: for its card, the API and the app.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Split;
use crate::message::Message;
use crate::row::Row;

type Counts = BTreeMap<String, i64>;

/// The data files of an export. Exports of older versions may lack some of the figures; they are read as 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ExportReport {
    pub parts: Vec<ExportPart>,
    /// Records in all files.
    pub rows: i64,
}

/// A data file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExportPart {
    /// Within the export.
    pub path: String,
    pub split: Split,
    pub bytes: u64,
    /// SHA-256, in hex.
    pub hash: String,
    pub written: RowReport,
    /// Only of preference pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairReport>,
    /// Only of groups of samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupReport>,
}

/// What became of the conversations that were read for a data file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct RowReport {
    /// Conversations that were read.
    pub conversations: i64,
    /// Records that were written.
    pub rows: i64,
    /// Conversations that were not accepted and therefore left out.
    pub not_accepted: i64,
    /// Conversations that ended and that the judging has no verdict on.
    pub not_judged: i64,
    /// Conversations that have not ended.
    pub unfinished: i64,
    /// Reason -> rows that trainers could not load and that were left out for it.
    pub left_out: BTreeMap<String, i64>,
    /// What the records are like.
    pub about: DatasetSummary,
}

/// What the records of a data file are like. Each map counts records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
#[schema(as = DataFileSummary)]
pub struct DatasetSummary {
    pub playbooks: BTreeMap<String, i64>,
    pub scenarios: BTreeMap<String, i64>,
    pub personas: BTreeMap<String, i64>,
    pub complexities: BTreeMap<String, i64>,
    /// Role -> model -> records.
    pub models: BTreeMap<String, BTreeMap<String, i64>>,
    /// Role -> records in which it was played from the script.
    pub scripted_roles: BTreeMap<String, i64>,
    pub endings: BTreeMap<String, i64>,
    /// Overall score -> records.
    // Keys are texts in JSON.
    #[schema(value_type = BTreeMap<String, i64>)]
    pub overall: BTreeMap<u8, i64>,
    /// Criterion -> the number of records with a score for it, and the sum of these scores.
    pub criteria: BTreeMap<String, (i64, i64)>,
    /// Records of conversations that were not accepted.
    pub not_accepted: i64,
    /// Records of what a sub-agent did.
    pub of_sub_agents: i64,
    pub with_reasoning: i64,
    pub with_parallel_calls: i64,
    /// Messages in all records.
    pub messages: i64,
    /// Calls of tools in all records.
    pub tool_calls: i64,
}

/// What became of the conversations that could have been in a preference pair.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct PairReport {
    /// Conversations that were accepted, or that failed through the agent's own fault.
    pub candidates: i64,
    /// Candidates that could be in a pair: at some turn of the agent they differ from another one.
    pub possible: i64,
    /// Pairs that were written.
    pub used: i64,
    /// Pairs that the profile cannot write.
    pub unusable: i64,
    /// Candidates that differ from no other one at a turn of the agent: the user or a tool said something else first, or
    /// both are alike.
    pub alone: i64,
    /// Candidates whose scores are too near to those of all that they differ from.
    pub too_close: i64,
    /// Candidates whose partners are in other pairs.
    pub left_over: i64,
}

/// Counts of the groups in a file, and of their samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct GroupReport {
    /// Groups that were written.
    pub groups: i64,
    /// Of these, groups in which all samples have the same reward, or none has one: nothing can be learned from comparing them.
    pub dead: i64,
    /// Groups without a sample that trainers can load.
    pub unusable: i64,
    /// Conversations of all groups.
    pub samples: i64,
    /// Of these, samples that something else than the agent spoiled.
    pub without_reward: i64,
}

impl GroupReport {
    pub fn add(&mut self, other: Self) {
        self.groups += other.groups;
        self.dead += other.dead;
        self.unusable += other.unusable;
        self.samples += other.samples;
        self.without_reward += other.without_reward;
    }
}

impl RowReport {
    pub fn leave_out(&mut self, reason: &str) {
        one(&mut self.left_out, reason);
    }

    pub fn add(&mut self, other: Self) {
        self.conversations += other.conversations;
        self.rows += other.rows;
        self.not_accepted += other.not_accepted;
        self.not_judged += other.not_judged;
        self.unfinished += other.unfinished;
        add(&mut self.left_out, other.left_out);
        self.about.add(other.about);
    }
}

impl DatasetSummary {
    pub fn count(&mut self, row: &Row) {
        let metadata = &row.metadata;
        one(&mut self.playbooks, &metadata.playbook.name);
        one(&mut self.scenarios, &metadata.scenario.id);
        one(&mut self.personas, &metadata.persona.profile);
        one(&mut self.complexities, metadata.complexity.into_str());
        one(&mut self.endings, metadata.ending);
        for (role, model) in &metadata.played.models {
            change(&mut self.models, role, |counts| one(counts, model));
        }
        for role in &metadata.played.scripted_roles {
            one(&mut self.scripted_roles, role);
        }
        *self.overall.entry(metadata.overall).or_default() += 1;
        for (criterion, score) in metadata.scores.iter().filter_map(|(name, score)| Some((name, (*score)?))) {
            change(&mut self.criteria, criterion, |sum| *sum = (sum.0 + 1, sum.1 + i64::from(score)));
        }
        self.not_accepted += i64::from(!metadata.accepted);
        self.of_sub_agents += i64::from(metadata.branch.depth > 0 || !metadata.branch.call_id.is_empty());
        let spoken = |test: &dyn Fn(&Option<String>, usize) -> bool| {
            row.messages.iter().any(|message| match message {
                Message::Assistant { reasoning_content, tool_calls, .. } => test(reasoning_content, tool_calls.len()),
                _ => false,
            })
        };
        self.with_reasoning += i64::from(spoken(&|thought, _| thought.is_some()));
        self.with_parallel_calls += i64::from(spoken(&|_, calls| calls > 1));
        self.messages += i64::try_from(row.messages.len()).unwrap_or_default();
        self.tool_calls += i64::try_from(metadata.tool_calls).unwrap_or_default();
    }

    fn add(&mut self, other: Self) {
        add(&mut self.playbooks, other.playbooks);
        add(&mut self.scenarios, other.scenarios);
        add(&mut self.personas, other.personas);
        add(&mut self.complexities, other.complexities);
        add(&mut self.scripted_roles, other.scripted_roles);
        add(&mut self.endings, other.endings);
        for (role, models) in other.models {
            add(self.models.entry(role).or_default(), models);
        }
        for (overall, rows) in other.overall {
            *self.overall.entry(overall).or_default() += rows;
        }
        for (criterion, (rows, sum)) in other.criteria {
            let own = self.criteria.entry(criterion).or_default();
            *own = (own.0 + rows, own.1 + sum);
        }
        self.not_accepted += other.not_accepted;
        self.of_sub_agents += other.of_sub_agents;
        self.with_reasoning += other.with_reasoning;
        self.with_parallel_calls += other.with_parallel_calls;
        self.messages += other.messages;
        self.tool_calls += other.tool_calls;
    }
}

fn one(counts: &mut Counts, key: &str) {
    change(counts, key, |count| *count += 1);
}

/// A key that is there already, as almost all are, is not copied.
fn change<T: Default>(map: &mut BTreeMap<String, T>, key: &str, how: impl FnOnce(&mut T)) {
    match map.get_mut(key) {
        Some(value) => how(value),
        None => how(map.entry(key.to_owned()).or_default()),
    }
}

fn add(counts: &mut Counts, others: Counts) {
    for (key, count) in others {
        *counts.entry(key).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_of_an_older_version_is_read() {
        let about = json!({"scripted_roles": {"agent": 1}, "overall": {"7": 1}, "criteria": {"tone": [1, 8]}});
        let written = json!({"conversations": 2, "rows": 1, "left_out": {"it has no turn": 1}, "about": about});
        let part = json!({"path": "data/train.jsonl", "split": "train", "bytes": 9, "hash": "ab", "written": written});
        let text = json!({"parts": [part], "rows": 1}).to_string();
        let report: ExportReport = serde_json::from_str(&text).expect("a report");
        let RowReport { conversations, not_judged, about, .. } = &report.parts[0].written;
        assert_eq!((report.rows, *conversations, *not_judged), (1, 2, 0));
        assert_eq!((about.overall[&7], about.criteria["tone"]), (1, (1, 8)));
        let again = serde_json::to_string(&report).expect("JSON");
        assert_eq!(serde_json::from_str::<ExportReport>(&again).expect("a report"), report);
    }
}
