//! What the columns find is what filters say of each row by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::filter::{Bounds, Filter, Reviewed, Scored, Status, Top};
use domain::outcome::Blame;
use domain::persona::Complexity;
use domain::seed::Seed;
use rand::Rng;
use strum::VariantArray;
use uuid::Uuid;

use super::columns::{Columns, RowValues, VerdictValues};
use super::{By, Place, Query, ScenarioColumns, Sort};

const NAMES: [&str; 4] = ["refund_late", "refund", "card_abroad", "never_seen"];
const TOOLS: [&str; 4] = ["find", "book", "cancel", "no_tool"];
const ENDINGS: [&str; 4] = ["user_ended", "walked_out", "terminal", "nothing"];
const REASONS: [&str; 4] = ["overall 6 is below 7", "overall 5 is below 7", "endpoint down", "nothing"];

struct Chance(Box<dyn Rng>);

impl Chance {
    fn of(seed: i64) -> Self {
        Self(Box::new(Seed::new(seed, "index", 0).rng("test")))
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.0.next_u32()).unwrap() % n
    }

    fn yes(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn small(&mut self, n: u8) -> u8 {
        u8::try_from(self.below(n.into())).unwrap()
    }

    /// Nothing, half of the time.
    fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.yes(2) { Some(value(self)) } else { None }
    }

    /// Some of these names; mostly none.
    fn some(&mut self, names: &[&str]) -> Vec<String> {
        if !self.yes(4) {
            return Vec::new();
        }
        names.iter().filter(|_| self.yes(2)).map(|name| (*name).to_owned()).collect()
    }
}

fn columns(run: u128, rows: usize, chance: &mut Chance) -> Columns {
    let about = |family: &str, tags: &[&str], playbook: &str| ScenarioColumns {
        family: family.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        playbook: playbook.to_owned(),
    };
    let known =
        [("refund", about("refunds", &["money"], "shop")), ("card_abroad", about("cards", &["card", "money"], "bank"))];
    let known: BTreeMap<String, ScenarioColumns> =
        known.into_iter().map(|(id, about)| (id.to_owned(), about)).collect();
    let models = if run == 1 { ["qwen", "agent:qwen"] } else { ["gpt-x", "agent:gpt-x"] }.map(str::to_owned);
    let mut columns = Columns::new(Uuid::from_u128(run), "bank", &models, std::sync::Arc::new(known));
    columns.grow(rows);
    let criteria = ["goal", "tone"].map(|name| columns.names.intern(name));
    for row in 0..rows {
        // Some have not begun.
        if chance.yes(10) {
            continue;
        }
        let tools: Vec<String> = TOOLS[..3].iter().filter(|_| chance.yes(2)).map(|tool| (*tool).to_owned()).collect();
        let status = Status::ALL[chance.below(3)];
        let blame = (status == Status::Failed).then(|| Blame::VARIANTS[chance.below(5)]);
        columns.put(
            row,
            &RowValues {
                id: Uuid::from_u128(run * 1_000_000 + row as u128),
                scenario: NAMES[chance.below(3)],
                persona: NAMES[chance.below(3)],
                complexity: Complexity::VARIANTS[chance.below(4)],
                status: Some(status),
                blame,
                reason: blame.and_then(|_| chance.maybe(|chance| REASONS[chance.below(3)])),
                finished: chance.maybe(moment),
                ending: chance.maybe(|chance| ENDINGS[chance.below(3)]),
                turns: chance.maybe(|chance| u32::from(chance.small(12))),
                tool_calls: chance.maybe(|chance| u32::from(chance.small(5))),
                tools: &tools,
                verified: chance.maybe(|chance| chance.yes(2)),
            },
        );
        let scores: Vec<(u32, u8)> =
            criteria.iter().filter_map(|name| chance.maybe(|chance| (*name, chance.small(11)))).collect();
        columns.set_verdict(
            row,
            &VerdictValues {
                overall: chance.maybe(|chance| chance.small(11)),
                goal_achieved: chance.maybe(|chance| chance.yes(2)),
                scores: &scores,
                weighted_mean: Some(7.25),
                agreement: chance.maybe(|chance| f32::from(chance.small(11)) / 10.0),
            },
        );
        let reviewed = Reviewed { rated: chance.yes(2), annotated: chance.yes(3), corrected: chance.yes(4) };
        columns.set_review(row, reviewed);
    }
    columns
}

/// Few, so that many are the same.
fn moment(chance: &mut Chance) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 500_000 * u32::from(chance.small(9))).unwrap()
}

fn bounds(chance: &mut Chance) -> Bounds {
    let bound = |chance: &mut Chance| if chance.yes(8) { u32::MAX } else { u32::from(chance.small(12)) };
    if !chance.yes(4) {
        return Bounds::default();
    }
    Bounds { min: chance.maybe(bound), max: chance.maybe(bound) }
}

fn filter(chance: &mut Chance) -> Filter {
    let rare = |chance: &mut Chance| chance.yes(5);
    let mut filter = Filter {
        scenarios: chance.some(&NAMES),
        families: chance.some(&["refunds", "refund_late", "cards"]),
        tags: chance.some(&["money", "card", "none"]),
        playbooks: chance.some(&["bank", "shop"]),
        personas: chance.some(&NAMES),
        models: chance.some(&["qwen", "agent:gpt-x", "judge:qwen"]),
        endings: chance.some(&ENDINGS),
        tools_any: chance.some(&TOOLS),
        tools_all: chance.some(&TOOLS),
        turns: bounds(chance),
        tool_calls: bounds(chance),
        ..Filter::default()
    };
    filter.complexities = if rare(chance) { Complexity::VARIANTS[..chance.below(4)].to_vec() } else { Vec::new() };
    filter.outcomes = if rare(chance) { Status::ALL[chance.below(3)..].to_vec() } else { Vec::new() };
    filter.blames = if rare(chance) { Blame::VARIANTS[chance.below(5)..].to_vec() } else { Vec::new() };
    filter.min_overall = rare(chance).then(|| chance.small(11));
    filter.goal_achieved = rare(chance).then(|| chance.yes(2));
    filter.verified = rare(chance).then(|| chance.yes(2));
    filter.min_agreement = rare(chance).then(|| f64::from(chance.small(11)) / 10.0);
    for criterion in ["goal", "tone", "unknown"] {
        if chance.yes(12) {
            filter.min_scores.insert(criterion.to_owned(), chance.small(11));
        }
        if chance.yes(12) {
            filter.max_scores.insert(criterion.to_owned(), chance.small(11));
        }
    }
    if rare(chance) {
        let criterion = chance.maybe(|chance| ["goal", "unknown"][usize::from(chance.yes(6))].to_owned());
        filter.top.push(Top { criterion, share: f64::from(chance.small(10) + 1) / 10.0 });
    }
    // All of it together would let nothing pass.
    let rarer = |chance: &mut Chance| chance.yes(20);
    filter.rated = rarer(chance).then(|| chance.yes(2));
    filter.annotated = rarer(chance).then(|| chance.yes(2));
    filter.corrected = rarer(chance).then(|| chance.yes(2));
    let rare = |chance: &mut Chance| chance.yes(10);
    filter.max_overall = rare(chance).then(|| chance.small(11));
    filter.reason = rare(chance).then(|| ["overall", "5", "endpoint down", "else"][chance.below(4)].to_owned());
    filter.finished_from = rare(chance).then(|| moment(chance));
    filter.finished_before = rare(chance).then(|| moment(chance));
    filter
}

/// The rows that pass, each looked at by itself, as (run, position).
fn one_by_one(runs: &[Arc<Columns>], filter: &Filter, search: Option<&str>) -> Vec<(Uuid, usize)> {
    let passing = |keep: &mut dyn FnMut(usize, usize, &domain::filter::Facts<'_>) -> bool| {
        let mut found = Vec::new();
        for (ordinal, columns) in runs.iter().enumerate() {
            let matcher = filter.compile(|name| columns.names.get(name));
            for row in 0..columns.len() {
                let mut room: Vec<Scored> = Vec::new();
                let Some(facts) = columns.facts(row, &mut room) else { continue };
                let named = search.is_none_or(|part| columns.names.name(facts.scenario).contains(part));
                if named && matcher.matches(&facts) && keep(ordinal, row, &facts) {
                    found.push((columns.run, row));
                }
            }
        }
        found
    };
    // Names have the same numbers in all runs here only for criteria: they are given first.
    let mut tops = filter.tops(|name| runs[0].names.get(name));
    passing(&mut |_, _, facts| {
        tops.count(facts);
        true
    });
    let cutoffs = tops.cutoffs();
    passing(&mut |_, _, facts| cutoffs.reached(facts))
}

fn places(found: Vec<Place>) -> Vec<(Uuid, usize)> {
    found.into_iter().map(|place| (place.run, place.position)).collect()
}

#[test]
fn columns_pass_what_the_filter_passes_row_by_row() {
    let mut passed = 0;
    for seed in 0..500 {
        let chance = &mut Chance::of(seed);
        let runs =
            [(2, 700), (1, 5000)].map(|(run, rows)| Arc::new(columns(run, rows / (1 + chance.below(40)), chance)));
        let filter = filter(chance);
        let search = chance.yes(6).then_some("refund");
        let expected = one_by_one(&runs, &filter, search);
        let query = Query::new(&runs, &filter, search);
        let all = query.walk(&Sort::default(), None, usize::MAX, false);
        assert_eq!(places(all), expected, "seed {seed}: {filter:?}");
        assert_eq!(usize::try_from(query.facets().matching), Ok(expected.len()), "seed {seed}");
        passed += usize::from(!expected.is_empty());
    }
    // A condition that is never passed is never compared.
    assert!(passed > 133, "most filters pass nothing: {passed}");
}

#[test]
fn pages_follow_each_other_without_gaps_in_every_order() {
    for seed in 0..60 {
        let chance = &mut Chance::of(seed);
        let runs = [(2, 90), (1, 9000)].map(|(run, rows)| Arc::new(columns(run, rows, chance)));
        let query = Query::new(&runs, &Filter::default(), None);
        for by in [By::Position, By::Overall, By::Criterion("tone".into()), By::Criterion("unknown".into())] {
            let sort = Sort { by, descending: chance.yes(2) };
            let all = query.walk(&sort, None, usize::MAX, false);
            let score = |place: &Place| {
                let columns = runs.iter().find(|run| run.run == place.run).unwrap();
                let column =
                    if sort.by == By::Overall { Some(&columns.overall[..]) } else { columns.scores_of("tone") };
                i32::from(column.unwrap()[place.position])
            };
            if matches!(&sort.by, By::Overall) || sort.by == By::Criterion("tone".into()) {
                let key = |place: &Place| match score(place) {
                    255 => 255,
                    score if sort.descending => -score,
                    score => score,
                };
                assert!(all.is_sorted_by_key(key), "{sort:?}");
            }
            let (limit, mut after, mut paged) = (1 + chance.below(3000), None, Vec::new());
            loop {
                let page = query.walk(&sort, after, limit, false);
                let Some(last) = page.last() else { break };
                // A cursor goes through a URL.
                after = Some(last.to_string().parse().unwrap());
                paged.extend(page);
            }
            assert_eq!(paged, all, "seed {seed}: {sort:?}, {limit} a page");
            let (skip, from) = (chance.below(all.len() + 9), chance.below(all.len()));
            let far: Vec<Place> = all[from + 1..].iter().copied().skip(skip).take(limit).collect();
            assert_eq!(query.page(&sort, Some(all[from]), skip, limit), far, "{sort:?}: {skip} after {from}");
            let at = chance.below(all.len());
            let place = query.place(&sort, all[at].run, all[at].position);
            assert_eq!(place, Some(all[at]));
            let before = query.walk(&sort, place, 2, true);
            assert_eq!(before, all[at.saturating_sub(2)..at].iter().rev().copied().collect::<Vec<_>>(), "{sort:?}");
        }
    }
}

#[test]
fn each_facet_is_counted_without_what_is_asked_of_it() {
    for seed in 0..40 {
        let chance = &mut Chance::of(seed);
        let runs = [Arc::new(columns(1, 5000, chance))];
        let mut filter = filter(chance);
        filter.top.clear();
        filter.personas = vec!["refund".to_owned()];
        filter.min_scores = [("goal".to_owned(), 5)].into();
        filter.max_scores = [("goal".to_owned(), 8)].into();
        let facets = Query::new(&runs, &filter, None).facets();
        let without = |change: &dyn Fn(&mut Filter)| {
            let mut other = filter.clone();
            change(&mut other);
            one_by_one(&runs, &other, None)
        };
        for persona in &NAMES[..3] {
            let expected = without(&|filter| filter.personas = vec![(*persona).to_owned()]).len() as u64;
            assert_eq!(facets.values["persona"].get(*persona).copied().unwrap_or_default(), expected, "seed {seed}");
        }
        let scored = without(&|filter| {
            filter.min_scores = [("goal".to_owned(), 0)].into();
            filter.max_scores.clear();
        });
        let scored = scored.len() as u64;
        assert_eq!(facets.scores["goal"].iter().sum::<u64>(), scored, "seed {seed}");
        for (value, corrected) in [("true", true), ("false", false)] {
            let expected = without(&|filter| filter.corrected = Some(corrected)).len() as u64;
            assert_eq!(facets.values["corrected"].get(value).copied().unwrap_or_default(), expected, "seed {seed}");
        }
        for tool in &TOOLS[..3] {
            let expected = without(&|filter| {
                filter.tools_all = vec![(*tool).to_owned()];
                filter.tools_any.clear();
            });
            assert_eq!(facets.values["tool"].get(*tool).copied().unwrap_or_default(), expected.len() as u64);
        }
    }
}

#[test]
fn what_is_no_cursor() {
    for text in ["", "x", "1.5", "99999999999", "0.x.1", "12.00000000000000000000000000000001.0", "0.1.2.3", "-1.0.0"] {
        assert!(text.parse::<Place>().is_err(), "{text}");
    }
}
