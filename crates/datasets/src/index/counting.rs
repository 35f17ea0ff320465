//! What statistics count of rows.

use std::collections::BTreeMap;

use domain::analytics::{Counts, Outcomes, PairCounts};
use domain::filter::{Dimension, Status};
use domain::outcome::Blame;
use domain::persona::Complexity;
use strum::VariantArray;

use super::Columns;
use super::columns::{NONE_16, present, present_16, unpack_state};

/// Counts of some rows of a run. What has not begun counts nowhere.
pub fn counts(columns: &Columns, rows: impl Iterator<Item = usize>) -> Counts {
    let mut counting = Counting::new(columns);
    rows.for_each(|row| counting.add(row));
    counting.finish()
}

/// Counts by number; names come at the end.
struct Counting<'a> {
    columns: &'a Columns,
    /// `overall`, and the criteria, by name.
    scores: Vec<(&'a str, &'a [u8], [u64; 11])>,
    /// Of each two of them, in that order.
    pairs: Vec<PairCounts>,
    states: [u64; 256],
    goal_achieved: (u64, u64),
    verified: (u64, u64),
    personas: Vec<Outcomes>,
    complexities: [Outcomes; 4],
    scenarios: Vec<Outcomes>,
    tool_sets: Vec<Outcomes>,
    turns: Vec<Outcomes>,
    tool_calls: Vec<u64>,
    turn_counts: Vec<u64>,
}

impl<'a> Counting<'a> {
    fn new(columns: &'a Columns) -> Self {
        let criteria = columns.scores.iter().map(|(name, column)| (columns.names.name(*name), column.as_slice()));
        let mut scores: Vec<_> = criteria
            .filter(|(name, _)| *name != "overall")
            .chain([("overall", columns.overall.as_slice())])
            .map(|(name, column)| (name, column, [0; 11]))
            .collect();
        scores.sort_by_key(|(name, ..)| *name);
        let lengths = usize::from(NONE_16);
        Self {
            columns,
            pairs: vec![[[0; 11]; 11]; scores.len() * scores.len().saturating_sub(1) / 2],
            scores,
            states: [0; 256],
            goal_achieved: (0, 0),
            verified: (0, 0),
            personas: vec![Outcomes::default(); columns.names.len()],
            complexities: [Outcomes::default(); 4],
            scenarios: vec![Outcomes::default(); columns.scenarios.len()],
            tool_sets: vec![Outcomes::default(); columns.tool_sets.len()],
            turns: vec![Outcomes::default(); lengths],
            tool_calls: vec![0; lengths],
            turn_counts: vec![0; lengths],
        }
    }

    fn add(&mut self, row: usize) {
        let columns = self.columns;
        let state = columns.state[row];
        let Some((status, blame)) = unpack_state(state) else { return };
        self.states[usize::from(state)] += 1;
        if status == Status::Unfinished || blame.is_some_and(|blame| blame != Blame::Agent) {
            return;
        }
        let overall = present(columns.overall[row]);
        let accepted = u64::from(status == Status::Accepted);
        let outcomes = Outcomes {
            accepted,
            failed: 1 - accepted,
            overall: overall.map_or(0, u64::from),
            judged: u64::from(overall.is_some()),
        };
        self.personas[columns.persona[row] as usize].add(outcomes);
        self.complexities[usize::from(columns.complexity[row])].add(outcomes);
        self.scenarios[columns.scenario[row] as usize].add(outcomes);
        self.tool_sets[columns.tools[row] as usize].add(outcomes);
        if let Some(turns) = present_16(columns.turns[row]) {
            self.turns[turns as usize].add(outcomes);
            self.turn_counts[turns as usize] += 1;
        }
        if let Some(calls) = present_16(columns.tool_calls[row]) {
            self.tool_calls[calls as usize] += 1;
        }
        let flags =
            [(&mut self.goal_achieved, columns.goal_achieved[row]), (&mut self.verified, columns.verified[row])];
        for (counted, flag) in flags.into_iter().filter_map(|(counted, flag)| Some((counted, present(flag)?))) {
            *counted = (counted.0 + u64::from(flag), counted.1 + 1);
        }
        self.add_scores(row);
    }

    fn add_scores(&mut self, row: usize) {
        let mut pair = 0;
        for i in 0..self.scores.len() {
            let (_, column, counts) = &mut self.scores[i];
            let one = present(column[row]).map(usize::from);
            if let Some(one) = one {
                counts[one.min(10)] += 1;
            }
            for (_, column, _) in &self.scores[i + 1..] {
                if let (Some(one), Some(other)) = (one, present(column[row])) {
                    self.pairs[pair][one.min(10)][usize::from(other.min(10))] += 1;
                }
                pair += 1;
            }
        }
    }

    fn finish(self) -> Counts {
        let mut pairs = self.pairs.iter();
        let names: Vec<&str> = self.scores.iter().map(|(name, ..)| *name).collect();
        let mut named_pairs = BTreeMap::new();
        for (i, one) in names.iter().enumerate() {
            for (other, counts) in names[i + 1..].iter().zip(&mut pairs) {
                named_pairs.insert(((*one).to_owned(), (*other).to_owned()), *counts);
            }
        }
        let given = self.scores.iter().filter(|(_, _, counts)| counts.iter().any(|count| *count > 0));
        Counts {
            outcomes: outcomes(&self.states),
            scores: given.map(|(name, _, counts)| ((*name).to_owned(), *counts)).collect(),
            pairs: named_pairs,
            lengths: [
                (Dimension::Turns, lengths(&self.turn_counts)),
                (Dimension::ToolCalls, lengths(&self.tool_calls)),
            ]
            .map(|(dimension, counts)| (dimension.to_string(), counts))
            .into(),
            flags: [(Dimension::GoalAchieved, self.goal_achieved), (Dimension::Verified, self.verified)]
                .map(|(dimension, counts)| (dimension.to_string(), counts))
                .into(),
            groups: self.groups(),
        }
    }

    fn groups(&self) -> BTreeMap<String, BTreeMap<String, Outcomes>> {
        let columns = self.columns;
        let name = |number: u32| columns.names.name(number).to_owned();
        let named = |groups: &[Outcomes], name: &dyn Fn(usize) -> Vec<String>| {
            let mut all: BTreeMap<String, Outcomes> = BTreeMap::new();
            for (number, outcomes) in groups.iter().enumerate().filter(|(_, o)| o.accepted + o.failed > 0) {
                name(number).into_iter().for_each(|value| all.entry(value).or_default().add(*outcomes));
            }
            all
        };
        let personas = |number: usize| u32::try_from(number).map(name).into_iter().collect();
        let complexities = |number: usize| vec![Complexity::VARIANTS[number].to_string()];
        let scenarios = |number: usize| vec![name(columns.scenarios[number].name)];
        let tools = |number: usize| columns.tool_sets[number].iter().map(|tool| name(*tool)).collect();
        [
            (Dimension::Persona, named(&self.personas, &personas)),
            (Dimension::Complexity, named(&self.complexities, &complexities)),
            (Dimension::Scenario, named(&self.scenarios, &scenarios)),
            (Dimension::Tool, named(&self.tool_sets, &tools)),
            (Dimension::Turns, named(&self.turns, &|number| vec![number.to_string()])),
        ]
        .map(|(dimension, groups)| (dimension.to_string(), groups))
        .into()
    }
}

fn outcomes(states: &[u64; 256]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (state, count) in (0..=u8::MAX).zip(states).filter(|(_, count)| **count > 0) {
        let Some((status, blame)) = unpack_state(state) else { continue };
        *all.entry(blame.map_or(status.into_str(), |blame| blame.into_str()).to_owned()).or_default() += count;
    }
    all
}

fn lengths(counts: &[u64]) -> BTreeMap<u32, u64> {
    (0..).zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect()
}
