//! What an export holds and what it left out, counted while it is written: for its card, and for whoever asked for it.

use std::collections::BTreeMap;

use domain::message::Message;
use domain::row::Row;
use serde::Serialize;

type Counts = BTreeMap<String, i64>;

/// Reasons that are listed one by one.
const LISTED: usize = 1_000;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Written {
    /// Conversations that were looked at.
    pub conversations: i64,
    /// Records that were written.
    pub rows: i64,
    pub not_accepted: i64,
    /// Conversations that came to their end and that the judging has no verdict on.
    pub not_judged: i64,
    pub unfinished: i64,
    /// Rows that would break a trainer, by reason.
    pub left_out: Counts,
    /// The first of them: place of the conversation, and why.
    #[serde(skip)]
    pub unusable: Vec<(i32, String)>,
    pub about: About,
}

/// What the rows are like.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct About {
    pub playbooks: Counts,
    pub scenarios: Counts,
    pub personas: Counts,
    pub complexities: Counts,
    /// Role -> model -> rows.
    pub models: BTreeMap<String, Counts>,
    /// Role -> rows in which it was played from the script.
    pub scripted_roles: Counts,
    pub endings: Counts,
    /// Rows by overall score.
    pub overall: BTreeMap<u8, i64>,
    /// Criterion -> how many rows it was scored in, and the sum.
    pub criteria: BTreeMap<String, (i64, i64)>,
    pub not_accepted: i64,
    pub of_sub_agents: i64,
    pub with_reasoning: i64,
    pub with_parallel_calls: i64,
    pub messages: i64,
    pub tool_calls: i64,
}

impl Written {
    pub fn leave_out(&mut self, index: i32, reason: String) {
        *self.left_out.entry(reason.clone()).or_default() += 1;
        if self.unusable.len() < LISTED {
            self.unusable.push((index, reason));
        }
    }

    pub fn add(&mut self, other: Self) {
        self.conversations += other.conversations;
        self.rows += other.rows;
        self.not_accepted += other.not_accepted;
        self.not_judged += other.not_judged;
        self.unfinished += other.unfinished;
        add(&mut self.left_out, other.left_out);
        self.unusable.extend(other.unusable);
        self.unusable.truncate(LISTED);
        self.about.add(other.about);
    }
}

impl About {
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
