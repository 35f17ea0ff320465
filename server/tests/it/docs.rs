//! README.md and docs/: what they name is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use serde_json::Value;
use server::cli::Cli;
use server::reference;

use crate::support::project;

/// The pages that people read, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let mut found = vec![project().join("README.md")];
    let mut folders = vec![project().join("docs"), project().join("deploy")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn the_reference_is_current() {
    let folder = project().join("docs/reference");
    for (name, text) in reference::pages(&Cli::command()) {
        let committed = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(committed == text, "docs/reference/{name}: write it anew with `groundstate reference`");
    }
}

#[test]
fn every_field_of_the_reference_has_a_meaning() {
    let mut empty = Vec::new();
    for (page, text) in reference::pages(&Cli::command()) {
        // Where the meaning stands in the rows of the current table.
        let mut column = None;
        for line in text.lines() {
            // A bar within a cell is escaped.
            let line = line.replace("\\|", "");
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            if !line.starts_with('|') {
                column = None;
            } else if let Some(column) = column {
                if cells.get(column) == Some(&"") {
                    empty.push(format!("{page}: {line}"));
                }
            } else {
                column = cells.iter().position(|cell| matches!(*cell, "meaning" | "what it does"));
                assert!(column.is_some(), "{page}: a table has no column for meanings: {line}");
            }
        }
    }
    assert_eq!(empty, Vec::<String>::new());
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for (path, text) in pages() {
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let leads = target.exists() && (anchor.is_empty() || headings(&target).contains(anchor));
            if !leads {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

/// What stands between `](` and `)`, if it is no address of another site.
fn links(text: &str) -> Vec<String> {
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(link, _)| link.to_owned()).filter(|link| !link.contains("://") && !link.starts_with("mailto:")).collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn headings(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let kept = line.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// Where the routes of the API begin; `$GS` is defined to be as much.
const API: &str = "/api/v1/";
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

#[test]
fn routes_are_those_of_the_api() {
    let api = api();
    let others = ["python/README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| project().join(name));
    let others = others.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()));
    let mut wrong = Vec::new();
    for (page, text) in pages().into_iter().chain(others) {
        wrong.extend(
            routes(&text)
                .iter()
                .flat_map(|route| route.faults(&api))
                .map(|fault| format!("{}: {fault}", page.display())),
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn wrong_routes_methods_and_parameters_are_found() {
    let page = "`POST /api/v1/runs/RUN/progress`, `GET /api/v1/run/RUN` and `GET`, `PUT\n/api/v1/projects/bank/archive` take \
                `?drafts=true` and `?draft=true`:\n```\n$ curl -H \"$AUTH\" $GS/runs/$RUN \\\n  --json '{}'\n$ curl \
                \"$GS/projects/bank/runs?limit=2&colour=red\"\n```\n";
    let api = api();
    let faults: Vec<String> = routes(page).iter().flat_map(|route| route.faults(&api)).collect();
    insta::assert_snapshot!(faults.join("\n"), @"
    POST runs/RUN/progress: the path has no such method
    GET run/RUN: there is no such path
    PUT, GET projects/bank/archive: there is no query parameter `draft`
    POST runs/$RUN: the path has no such method
    GET projects/bank/runs: there is no query parameter `colour`
    ");
}

/// A path of the API.
struct ApiPath {
    segments: Vec<String>,
    /// The query parameters of each method.
    methods: BTreeMap<&'static str, BTreeSet<String>>,
}

fn api() -> Vec<ApiPath> {
    let document: Value =
        serde_json::from_str(&std::fs::read_to_string(project().join("docs/openapi.json")).unwrap()).unwrap();
    let queried = |operation: &Value| {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let queried = parameters.filter(|parameter| parameter["in"] == "query");
        queried.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
    };
    let path = |(path, item): (&String, &Value)| {
        let methods = METHODS.iter().filter_map(|method| Some((*method, queried(item.get(method.to_lowercase())?))));
        ApiPath { segments: segments(path.trim_start_matches(API)), methods: methods.collect() }
    };
    document["paths"].as_object().unwrap().iter().map(path).collect()
}

fn segments(path: &str) -> Vec<String> {
    path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

impl ApiPath {
    /// How many segments are the same, if the others are parameters of the API.
    fn likeness(&self, route: &[String]) -> Option<usize> {
        let same = |(own, given): &(&String, &String)| own == given;
        let pairs = || self.segments.iter().zip(route);
        let fits = self.segments.len() == route.len() && pairs().all(|pair| same(&pair) || pair.0.starts_with('{'));
        fits.then(|| pairs().filter(same).count())
    }
}

/// A route that a page names.
struct Route {
    /// Below `/api/v1/`.
    path: String,
    /// Those that are said to be at the path; empty if the page says nothing of methods.
    methods: Vec<&'static str>,
    /// Names of query parameters.
    parameters: Vec<String>,
}

fn routes(page: &str) -> Vec<Route> {
    let page = page.replace("$GS/", API);
    let routes = page.match_indices(API).map(|(at, _)| Route::read(&page, at));
    // What is left open, such as `/api/v1/...`, is no route.
    routes.filter(|route| !route.path.is_empty()).collect()
}

impl Route {
    fn read(page: &str, at: usize) -> Self {
        let rest = &page[at + API.len()..];
        let (path, rest) = rest.split_at(length(rest, "/_-{}$."));
        let query = rest.strip_prefix('?').map_or("", |query| &query[..length(query, "_=&.$-")]);
        // Parameters may also stand alone, later in the line.
        let alone = rest.lines().next().unwrap_or_default().split("`?").skip(1);
        let names = query.split('&').chain(alone).map(|part| part.split('=').next().unwrap_or_default());
        let parameters = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let mut methods = methods_before(&page[..at]);
        if methods.is_empty() {
            methods.extend(curl_method(page, at));
        }
        Self { path: path.trim_end_matches(['.', '/']).to_owned(), methods, parameters }
    }

    fn faults(&self, api: &[ApiPath]) -> Vec<String> {
        let said = format!("{} {}", self.methods.join(", "), self.path);
        let segments = segments(&self.path);
        let likeness = |path: &&ApiPath| path.likeness(&segments);
        let Some(path) = api.iter().filter(|path| likeness(path).is_some()).max_by_key(likeness) else {
            return vec![format!("{said}: there is no such path")];
        };
        if self.methods.iter().any(|method| !path.methods.contains_key(method)) {
            return vec![format!("{said}: the path has no such method")];
        }
        let of = |method: &&str| self.methods.is_empty() || self.methods.contains(method);
        let known: BTreeSet<&String> =
            path.methods.iter().filter(|(method, _)| of(method)).flat_map(|(_, parameters)| parameters).collect();
        let unknown = self.parameters.iter().filter(|name| !known.contains(name));
        unknown.map(|name| format!("{said}: there is no query parameter `{name}`")).collect()
    }
}

/// Of the letters, digits and signs that a text begins with.
fn length(text: &str, signs: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && !signs.contains(c)).unwrap_or(text.len())
}

/// Those that a text ends with, such as GET and PUT.
fn methods_before(text: &str) -> Vec<&'static str> {
    let words = text.split_whitespace().rev().filter(|word| !matches!(*word, "and" | "or"));
    let method = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphabetic());
        METHODS.into_iter().find(|method| *method == word)
    };
    words.map_while(method).collect()
}

/// Of the call of `curl` that names a route, if one does.
fn curl_method(page: &str, at: usize) -> Option<&'static str> {
    let begin = page[..at].rfind("curl ")?;
    let mut end = begin;
    for line in page[begin..].split_inclusive('\n') {
        end += line.len();
        let is_open = page[begin..end].matches('\'').count() % 2 == 1;
        if !line.trim_end().ends_with('\\') && !is_open {
            break;
        }
    }
    let call = page.get(begin..end).filter(|_| at < end)?;
    let given = call.split_whitespace().skip_while(|word| *word != "-X").nth(1);
    let has_body = call.split_whitespace().any(|word| matches!(word, "-d" | "--data" | "--data-binary" | "--json"));
    let method = given.unwrap_or(if has_body { "POST" } else { "GET" });
    METHODS.into_iter().find(|known| *known == method)
}

#[test]
fn commands_and_their_options_are_those_of_the_program() {
    let mut root = Cli::command();
    root.build();
    let mut unknown = Vec::new();
    for (page, text) in pages() {
        for line in commands(&text) {
            if let Some(word) = first_unknown(&root, &line) {
                unknown.push(format!("{}: {word} in {line}", page.display()));
            }
        }
    }
    assert_eq!(unknown, Vec::<String>::new());
}

/// The command lines of Groundstate in blocks of code; one that goes on after a backslash is one line.
fn commands(text: &str) -> Vec<String> {
    let blocks =
        text.split("```").skip(1).step_by(2).filter(|block| block.starts_with("sh\n") || block.starts_with('\n'));
    let lines = blocks.flat_map(|block| {
        block
            .replace("\\\n", " ")
            .lines()
            .map(|line| line.trim().trim_start_matches("$ ").to_owned())
            .collect::<Vec<_>>()
    });
    let own = |line: &String| {
        line.split_whitespace().next().is_some_and(|word| word.rsplit('/').next() == Some("groundstate"))
    };
    lines.filter(own).collect()
}

/// The first word of a command line that the program does not know.
fn first_unknown(root: &Command, line: &str) -> Option<String> {
    let mut command = root;
    let said = line.split('#').next().unwrap_or_default();
    for word in said.split_whitespace().skip(1).take_while(|word| !matches!(*word, "|" | ">" | "&&" | "&" | ";")) {
        if let Some(option) = word.strip_prefix("--") {
            let name = option.split('=').next().unwrap_or_default();
            let known = command.get_arguments().any(|arg| arg.get_long() == Some(name));
            if !known && !matches!(name, "help" | "version" | "") {
                return Some(word.to_owned());
            }
        } else if let Some(next) = command.find_subcommand(word) {
            command = next;
        } else if command.has_subcommands()
            && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
            && !word.starts_with('-')
        {
            return Some(word.to_owned());
        }
    }
    None
}
