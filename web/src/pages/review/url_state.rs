//! The form of a new queue as it stands in the address: a link, or loading the page again, leads to the same form. What is as
//! usual is left out, and so are the instructions, which may be long.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate};

use super::filter::Filter;
use super::form_state::{Order, Source};
use ui::address;

const NAME: &str = "name";
/// Where the conversations come from, unless a filter says so: `run`, `filter`, `corpus`.
const FROM: &str = "from";
/// The run that they come from; `run` is what they are filtered by.
const OF_RUN: &str = "of_run";
const OF_CORPUS: &str = "of_corpus";
const N: &str = "n";
const RATERS: &str = "raters";
const ONE_RATER: &str = "1";
const BLIND: &str = "blind";

/// A name, and its value.
type Pair = (String, String);

pub fn read(pairs: &[Pair]) -> Order {
    let named = |name: &str| pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    let text = |name: &str, usual: &str| RwSignal::new(named(name).unwrap_or(usual).to_owned());
    let filter = Filter::of(pairs);
    let source = match named(FROM) {
        Some("run") => Source::Run,
        Some("filter") => Source::Filter,
        Some("corpus") => Source::Corpus,
        _ if untrack(|| filter.is_empty()) => Source::Run,
        _ => Source::Filter,
    };
    Order {
        name: text(NAME, ""),
        instructions: RwSignal::default(),
        raters_each: text(RATERS, ONE_RATER),
        blind: RwSignal::new(named(BLIND) != Some("false")),
        source: RwSignal::new(source),
        run: text(OF_RUN, ""),
        corpus: text(OF_CORPUS, ""),
        filter,
        n: text(N, ""),
    }
}

/// Keeps the address as the form is, from now on.
pub fn sync(order: Order) {
    let (location, navigate) = (use_location(), use_navigate());
    let path = location.pathname.get_untracked();
    Effect::new(move |before: Option<Vec<Pair>>| {
        let now = write(order);
        // The last word of a page that is left is not about the next one's address.
        let here = location.pathname.with_untracked(|seen| *seen == path);
        if here && before.is_some_and(|before| before != now) {
            let options = NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() };
            navigate(&format!("{path}{}", address::query(&now)), options);
        }
        now
    });
}

fn write(order: Order) -> Vec<Pair> {
    let mut pairs = match order.source.get() {
        Source::Run => vec![(OF_RUN.to_owned(), order.run.get())],
        Source::Corpus => vec![(FROM.to_owned(), "corpus".to_owned()), (OF_CORPUS.to_owned(), order.corpus.get())],
        Source::Filter => order.filter.params(),
    };
    if pairs.is_empty() {
        pairs.push((FROM.to_owned(), "filter".to_owned()));
    }
    let raters = Some(order.raters_each.get()).filter(|raters| raters != ONE_RATER);
    let blind = (!order.blind.get()).then(|| "false".to_owned());
    let more = [(NAME, Some(order.name.get())), (N, Some(order.n.get())), (RATERS, raters), (BLIND, blind)];
    pairs.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    pairs.retain(|(_, value)| !value.is_empty());
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it is written again.
    fn again(query: &str) -> Vec<Pair> {
        Owner::new().with(|| write(read(&address::pairs(query))))
    }

    #[test]
    fn a_form_is_written_as_it_is_read() {
        for query in [
            "",
            "?of_run=r1&name=First+look&n=9&raters=2&blind=false",
            "?from=corpus&of_corpus=c1",
            "?from=filter&name=All",
            "?run=r2&outcome=failed&persona=a&persona=b&n=9",
        ] {
            assert_eq!(again(query), address::pairs(query), "{query}");
        }
    }

    #[test]
    fn what_is_as_usual_is_left_out() {
        assert_eq!(again("?from=run&raters=1&blind=true&n="), []);
        assert_eq!(again("?from=filter&outcome=failed"), address::pairs("?outcome=failed"));
    }
}
