//! What the columns find is what filters say of each row by itself.

mod rows;

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::filter::{
    Comparison, Condition, Dimension, Filter, PARAMETERS, Row, ScoreHistogram, Status, Value, ValueKind,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use strum::VariantArray;
use uuid::Uuid;

use self::rows::{SeenRow, TestRun, filter, filter_by, run};
use super::columns::{Columns, NONE};
use super::{Facets, Groups, Place, Query, Sort, SortKey};

type Runs = [(TestRun, Arc<Columns>); 2];

fn runs(rows: usize) -> impl Strategy<Value = Runs> {
    let with_columns = |run: TestRun| {
        let columns = run.columns();
        (run, columns)
    };
    (run(2, 200), run(1, rows)).prop_map(move |(one, other)| [one, other].map(with_columns))
}

fn columns(runs: &Runs) -> [Arc<Columns>; 2] {
    runs.each_ref().map(|(_, columns)| Arc::clone(columns))
}

/// The conditions of a filter in the numbers of a run.
fn conditions(filter: &Filter, columns: &Columns) -> Vec<Condition> {
    filter.conditions(|name| columns.names.get(name))
}

fn score(row: &SeenRow<'_>, columns: &Columns, criterion: Option<&str>) -> Option<u8> {
    let criterion = criterion.map(|name| columns.names.get(name).unwrap_or(u32::MAX));
    match row.value(Dimension::Score, criterion) {
        Value::Number(score) => u8::try_from(score).ok(),
        _ => None,
    }
}

/// The rows that pass, each looked at by itself, as (run, position).
fn one_by_one(runs: &Runs, filter: &Filter, search: Option<&str>) -> Vec<(Uuid, usize)> {
    let passing = |(run, columns): &(TestRun, Arc<Columns>)| {
        let conditions = conditions(filter, columns);
        let passes = move |row: &SeenRow<'_>| {
            let scores = filter.top.iter().map(|top| score(row, columns, top.criterion.as_deref())).collect::<Vec<_>>();
            let found = search.is_none_or(|part| row.scenario().contains(part));
            (found && conditions.iter().all(|condition| condition.holds(row))).then_some(scores)
        };
        let passing = run.judged(columns, passes).filter_map(|(position, scores)| Some((run.id, position, scores?)));
        passing.collect::<Vec<_>>()
    };
    let mut found: Vec<(Uuid, usize, Vec<Option<u8>>)> = runs.iter().flat_map(passing).collect();
    let mut best: Vec<ScoreHistogram> = filter.top.iter().map(ScoreHistogram::of).collect();
    for (_, _, scores) in &found {
        scores.iter().zip(&mut best).for_each(|(score, best)| score.iter().for_each(|score| best.count(*score)));
    }
    let least: Vec<u8> = best.iter().map(ScoreHistogram::least).collect();
    found.retain(|(_, _, scores)| scores.iter().zip(&least).all(|(score, least)| *score >= Some(*least)));
    found.into_iter().map(|(run, position, _)| (run, position)).collect()
}

fn places(found: Vec<Place>) -> Vec<(Uuid, usize)> {
    found.into_iter().map(|place| (place.run, place.position)).collect()
}

/// Facets by the rows: each is counted as if nothing were asked of it.
fn facets_one_by_one(runs: &Runs, filter: &Filter) -> Facets {
    let mut facets = Facets::default();
    for (run, columns) in runs {
        let conditions = conditions(filter, columns);
        let criteria = ["goal", "tone"].into_iter().filter_map(|name| Some((name, columns.names.get(name)?)));
        let subjects = Dimension::VARIANTS.iter().map(|dimension| (*dimension, "overall", None));
        let subjects = subjects.chain(criteria.map(|(name, number)| (Dimension::Score, name, Some(number))));
        facets.total += run.rows().flatten().count() as u64;
        let passes = |row: &SeenRow<'_>| conditions.iter().all(|condition| condition.holds(row));
        facets.matching += run.counted(columns, passes).filter(|(passes, _)| *passes).map(|(_, n)| n).sum::<u64>();
        for (dimension, name, criterion) in subjects {
            let count = |row: &SeenRow<'_>| {
                let mut others = conditions
                    .iter()
                    .filter(|condition| (condition.dimension, condition.criterion) != (dimension, criterion));
                others.all(|condition| condition.holds(row)).then(|| row.written(dimension, criterion))
            };
            let counted = run.counted(columns, count).filter_map(|(values, n)| Some((values?, n)));
            for (value, n) in counted.flat_map(|(values, n)| values.into_iter().map(move |value| (value, n))) {
                match dimension.kind() {
                    ValueKind::Score => {
                        let scores = facets.scores.entry(name.to_owned()).or_default();
                        scores[value.parse::<usize>().unwrap()] += n;
                    }
                    ValueKind::Count => {
                        let lengths = facets.lengths.entry(dimension.into()).or_default();
                        *lengths.entry(value.parse().unwrap()).or_default() += n;
                    }
                    _ if dimension.has_facet() => {
                        *facets.values.entry(dimension.into()).or_default().entry(value).or_default() += n;
                    }
                    _ => {}
                }
            }
        }
    }
    facets
}

/// Without facets that have no value.
fn with_values(mut facets: Facets) -> Facets {
    facets.values.retain(|_, values| !values.is_empty());
    facets.lengths.retain(|_, lengths| !lengths.is_empty());
    facets.scores.retain(|_, scores| scores.iter().any(|count| *count > 0));
    facets
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn columns_pass_what_the_filter_passes_row_by_row(
        runs in runs(5000),
        filter in filter(),
        search in prop::option::weighted(0.2, Just("refund")),
    ) {
        let expected = one_by_one(&runs, &filter, search);
        let columns = columns(&runs);
        let query = Query::new(&columns, &filter, search);
        let all = query.walk(&Sort::default(), None, usize::MAX, false);
        prop_assert_eq!(query.count(), expected.len());
        prop_assert_eq!(places(all), expected);
    }

    #[test]
    fn each_facet_is_counted_without_what_is_asked_of_it(runs in runs(5000), mut filter in filter()) {
        filter.top.clear();
        let found = Query::new(&columns(&runs), &filter, None).facets();
        prop_assert_eq!(with_values(found), facets_one_by_one(&runs, &filter));
    }

    #[test]
    fn a_group_is_dead_once_all_its_samples_have_ended_alike(runs in runs(200)) {
        for columns in columns(&runs) {
            for group in Groups::of(&columns).page(None, usize::MAX, |_| true) {
                let ended = group.samples.iter().all(|sample| sample.status != Status::Unfinished);
                let rewards: BTreeSet<u8> = group.samples.iter().filter_map(|sample| sample.reward).collect();
                prop_assert_eq!(group.dead, ended && rewards.len() < 2, "{:?}", group);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn pages_follow_each_other_without_gaps_in_every_order(
        runs in runs(9000),
        by in prop::sample::select(vec![
            SortKey::Position, SortKey::Overall, SortKey::Criterion("tone".into()), SortKey::Criterion("unknown".into())
        ]),
        descending in any::<bool>(),
        limit in 1..3000_usize,
        skip in 0..9000_usize,
        from in any::<prop::sample::Index>(),
    ) {
        let columns = columns(&runs);
        let query = Query::new(&columns, &Filter::default(), None);
        let sort = Sort { by, descending };
        let all = query.walk(&sort, None, usize::MAX, false);
        prop_assert!(all.is_sorted_by_key(|place| rank(&columns, &sort, place)), "{:?}", sort);
        let (mut after, mut paged) = (None, Vec::new());
        loop {
            let page = query.walk(&sort, after, limit, false);
            let Some(last) = page.last() else { break };
            // A cursor goes through a URL.
            after = Some(last.to_string().parse().unwrap());
            paged.extend(page);
        }
        prop_assert_eq!(&paged, &all);
        prop_assume!(!all.is_empty());
        let from = from.index(all.len());
        let far: Vec<Place> = all[from + 1..].iter().copied().skip(skip).take(limit).collect();
        prop_assert_eq!(query.page(&sort, Some(all[from]), skip, limit), far);
        let place = query.place(&sort, all[from].run, all[from].position);
        prop_assert_eq!(place, Some(all[from]));
        let before = query.walk(&sort, place, 2, true);
        prop_assert_eq!(before, all[from.saturating_sub(2)..from].iter().rev().copied().collect::<Vec<_>>());
    }
}

/// The value that rows are sorted by; rows without a score come last.
fn rank(columns: &[Arc<Columns>], sort: &Sort, place: &Place) -> i32 {
    let criterion = match &sort.by {
        SortKey::Position => return 0,
        SortKey::Overall => None,
        SortKey::Criterion(name) => Some(name.as_str()),
    };
    let run = columns.iter().find(|run| run.run == place.run).unwrap();
    match run.scores_named(criterion).map(|scores| scores[place.position]) {
        None | Some(NONE) => i32::MAX,
        Some(score) if sort.descending => -i32::from(score),
        Some(score) => i32::from(score),
    }
}

/// A condition that nothing fails, or that nothing passes, is compared with nothing.
#[test]
fn each_parameter_by_itself_lets_some_rows_pass_and_others_not() {
    let mut runner = TestRunner::deterministic();
    let runs = runs(300).new_tree(&mut runner).unwrap().current();
    let columns = columns(&runs);
    let all = one_by_one(&runs, &Filter::default(), None).len();
    let compared = PARAMETERS.iter().filter(|parameter| !matches!(parameter.comparison, Comparison::Judging(_)));
    for parameter in compared {
        let mut divided = 0;
        for _ in 0..20 {
            let filter = filter_by(parameter).new_tree(&mut runner).unwrap().current();
            let expected = one_by_one(&runs, &filter, None);
            divided += usize::from((1..all).contains(&expected.len()));
            let found = Query::new(&columns, &filter, None).walk(&Sort::default(), None, usize::MAX, false);
            assert_eq!(places(found), expected, "{filter:?}");
        }
        assert!(divided > 0, "{} divides no rows", parameter.name);
    }
}

#[test]
fn what_is_no_cursor() {
    for text in ["", "x", "1.5", "99999999999", "0.x.1", "12.00000000000000000000000000000001.0", "0.1.2.3", "-1.0.0"] {
        assert!(text.parse::<Place>().is_err(), "{text}");
    }
}
