//! Addresses of pages.
//!
//! A page of a project stands under `/projects/NAME`, so that a link to it says which project it is of.

use domain::api::CorpusNeighbourParams;
use domain::project::Kind;
use leptos::prelude::{Memo, Read as _};
use leptos_router::hooks::use_params_map;
use leptos_router::location::Url;

pub const HOME: &str = "/";
pub const SIGN_IN: &str = "/sign-in";
/// The parameter of a conversation's address that names the corpus from whose list it was reached.
pub const CORPUS: &str = "corpus";

/// What the page is about: the part of its address with this name. It stays as it was while the reader leaves for an
/// address without it: the page that goes must ask for nothing any more.
pub fn use_id(name: &'static str) -> Memo<String> {
    let params = use_params_map();
    Memo::new(move |before: Option<&String>| {
        let named = params.read().get(name).filter(|id| !id.is_empty());
        named.or_else(|| before.cloned()).unwrap_or_default()
    })
}

/// A project, or what stands below it: `project("default", "/runs")`.
pub fn project(name: &str, below: &str) -> String {
    format!("/projects/{}{below}", segment(name))
}

pub fn run(project_name: &str, id: &str) -> String {
    project(project_name, &format!("/runs/{}", segment(id)))
}

/// A row of a workflow's run, by its place from 0.
pub fn row(project_name: &str, run: &str, position: i32) -> String {
    project(project_name, &format!("/runs/{}/rows/{position}", segment(run)))
}

pub fn conversation(project_name: &str, id: &str) -> String {
    project(project_name, &format!("/conversations/{}", segment(id)))
}

/// A named environment, or a playbook's own.
pub fn environment(project_name: &str, name: &str) -> String {
    project(project_name, &format!("/environments/{}", segment(name)))
}

pub fn document(project_name: &str, kind: Kind, name: &str) -> String {
    project(project_name, &format!("/{}/{}", kind.folder(), segment(name)))
}

/// The sign-in page, which leads back to an address.
pub fn sign_in(back: &str) -> String {
    if back == HOME { SIGN_IN.to_owned() } else { format!("{SIGN_IN}?back={}", segment(back)) }
}

/// Where to go after signing in. What stands in the address bar may come from anybody, so it must be a page of ours.
pub fn after_sign_in(back: Option<String>) -> String {
    let ours = |back: &String| back.starts_with('/') && !back.starts_with("//") && !back.contains('\\');
    back.filter(ours).unwrap_or_else(|| HOME.to_owned())
}

/// Names and values of the part of an address after `?`, in their order.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.trim_start_matches('?').split('&').filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (plain(name), plain(value))
    };
    pairs.map(pair).collect()
}

fn plain(text: &str) -> String {
    let text = text.replace('+', " ");
    if text.contains('%') { Url::unescape(&text) } else { text }
}

/// The same as it stands in an address, `?` included; empty if there are none.
pub fn query(pairs: &[(String, String)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={}", segment(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// What follows the address of a conversation that was reached from a list of a corpus.
pub fn in_corpus(corpus: &str, list: CorpusNeighbourParams) -> String {
    // Parameters are flat, and all that is flat can be written.
    let corpus = serde_html_form::to_string([(CORPUS, corpus)]).unwrap_or_default();
    let list = serde_html_form::to_string(list).unwrap_or_default();
    let separator = if list.is_empty() { "" } else { "&" };
    format!("?{corpus}{separator}{list}")
}

/// One segment of a path: an identifier may come from the address bar and hold anything.
pub fn segment(id: &str) -> String {
    Url::escape(id)
}

#[cfg(test)]
mod tests {
    use domain::corpus::Side;

    use super::*;

    #[test]
    fn a_conversation_of_a_corpus_is_reached_with_its_list() {
        let list = CorpusNeighbourParams { split: Some(Side::Golden), dropped_by: None };
        assert_eq!(in_corpus("a b", list), "?corpus=a+b&split=golden");
        assert_eq!(in_corpus("c", CorpusNeighbourParams::default()), "?corpus=c");
    }

    #[test]
    fn signing_in_leads_to_no_other_site() {
        assert_eq!(after_sign_in(Some("/projects/7".to_owned())), "/projects/7");
        for back in
            ["", "conversations", "//example.org", "/\\example.org", "https://example.org", "javascript:alert(1)"]
        {
            assert_eq!(after_sign_in(Some(back.to_owned())), HOME, "{back}");
        }
        assert_eq!(after_sign_in(None), HOME);
    }
}
