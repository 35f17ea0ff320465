use super::super::controls::{Control, control};
use super::*;
use domain::corpus::{Balance, Dimension, Duplicates, Scan, Split, Treatment};
use domain::filter::PARAMETERS;

fn params(pairs: &[(&str, &str)]) -> QueryParams {
    QueryParams::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

#[test]
fn a_query_is_read_in_its_order() {
    let read = QueryParams::parse("?persona=calm&outcome=accepted&persona=angry&tab=split&search=");
    assert_eq!(read, params(&[("persona", "calm"), ("outcome", "accepted"), ("persona", "angry")]));
}

#[test]
fn a_value_is_toggled_and_a_number_is_replaced() {
    let one = params(&[("tool_any", "a")]);
    assert_eq!(one.toggled("tool_any", "b").all("tool_any").collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(one.toggled("tool_any", "a"), QueryParams::default());
    let scored = one.with_least("goal", Some(7)).with_least("goal", Some(8)).with_least(OVERALL, Some(6));
    assert_eq!((scored.least("goal"), scored.least(OVERALL), scored.least("tone")), (Some(8), Some(6), None));
    let bounded = scored.with_most("goal", Some(9)).with_most(OVERALL, Some(8)).with_most("goal", Some(10));
    assert_eq!((bounded.most("goal"), bounded.most(OVERALL), bounded.most("tone")), (Some(10), Some(8), None));
    assert_eq!(bounded.with_most("goal", None).with_most(OVERALL, None), scored);
    assert_eq!(scored.with_least("goal", None).with_least(OVERALL, None), one);
}

#[test]
fn shares_may_be_of_a_criterion_or_overall() {
    let best = QueryParams::default().with_criterion("top", OVERALL, Some("0.1".to_owned()));
    let best = best.with_criterion("top", "goal", Some("0.2".to_owned()));
    assert_eq!(best.all("top").collect::<Vec<_>>(), ["0.1", "goal:0.2"]);
    assert_eq!(best.of_criterion("top", OVERALL), Some("0.1"));
    assert_eq!(best.with_criterion("top", OVERALL, None).of_criterion("top", "goal"), Some("0.2"));
}

#[test]
fn the_filter_of_a_corpus_is_written_as_it_is_read() {
    let all = params(&[
        ("run", "01a20319-f6ef-72bd-84b4-d90772ba48fe"),
        ("tag", "refund"),
        ("tag", "fault"),
        ("min_turns", "2"),
    ]);
    assert_eq!(QueryParams::of(&all.filter()), all);
    assert_eq!(params(&[("search", "card"), ("sort", "overall"), ("min_turns", "many")]).filter(), Filter::default());
}

#[test]
fn a_selection_is_written_as_it_is_read() {
    let filter = params(&[("persona", "calm"), ("min_turns", "2")]);
    assert_eq!(
        QueryParams::of_selection(&Spec { filter: filter.filter(), ..Spec::default() }),
        filter,
        "the usual is left out"
    );
    let balance = Some(Balance { by: Dimension::Persona, at_most: Some(30) });
    let spec = Spec {
        filter: filter.filter(),
        scan: Scan { pii: Treatment::Keep, secrets: Treatment::Drop },
        duplicates: Duplicates { exact: false, near: Some(0.85) },
        balance,
        limit: Some(500),
        split: Split { golden: 0.25, seed: 9_007_199_254_740_991, near: 0.7 },
    };
    let all = QueryParams::of_selection(&spec);
    assert_eq!(Spec { filter: all.filter(), ..all.selection() }, spec);
    // Which conversations are found is another thing than what becomes of them.
    assert_eq!(all.which(), filter);
    assert_eq!(all.everything().selection(), Spec { filter: Filter::default(), ..spec });
    assert_eq!(all.with_selection(&Spec::default()), filter);
    // Lists carry it along, and are not asked by it.
    let listed = all.with("sort", Some(OVERALL.to_owned()));
    assert_eq!(listed.listed(), filter.with("sort", Some(OVERALL.to_owned())));
    assert_eq!(listed.selected(), all);
    let nonsense = params(&[("golden", "half"), ("balance", "mood"), ("at_most", "3"), ("most", "-1")]);
    assert_eq!(nonsense.selection(), Spec::default());
}

#[test]
fn the_ranges_of_scores_set_all_their_parameters() {
    let all = [OVERALL, "tone"].into_iter().fold(QueryParams::default(), |params, criterion| {
        params.with_least(criterion, Some(3)).with_most(criterion, Some(7))
    });
    let set: Vec<String> = all.pairs().into_iter().map(|(name, _)| name).collect();
    let ranges = PARAMETERS.iter().filter(|parameter| control(parameter) == Control::ScoreRange);
    assert_eq!(set, ranges.map(|parameter| parameter.name).collect::<Vec<_>>());
}
