//! README.md and docs/: what they name is there.

use std::collections::BTreeSet;
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

#[test]
fn routes_are_those_of_the_api() {
    let document: Value =
        serde_json::from_str(&std::fs::read_to_string(project().join("docs/openapi.json")).unwrap()).unwrap();
    let paths: Vec<Vec<String>> = document["paths"].as_object().unwrap().keys().map(|path| segments(path)).collect();
    let mut unknown = Vec::new();
    for (page, text) in pages() {
        for route in text.split("/api/v1/").skip(1).map(route) {
            // What is left open, such as `/api/v1/...`, is no route.
            if !route.is_empty() && !paths.iter().any(|path| is_at(path, &segments(&route))) {
                unknown.push(format!("{}: /api/v1/{route}", page.display()));
            }
        }
    }
    assert_eq!(unknown, Vec::<String>::new());
}

fn route(rest: &str) -> String {
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "/_-{}$.".contains(c))).unwrap_or(rest.len());
    rest[..end].trim_end_matches(['.', '/']).to_owned()
}

fn segments(path: &str) -> Vec<String> {
    path.trim_start_matches("/api/v1").split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// A parameter of the API takes any segment.
fn is_at(path: &[String], route: &[String]) -> bool {
    let fits = |(own, given): (&String, &String)| own == given || own.starts_with('{');
    path.len() == route.len() && path.iter().zip(route).all(fits)
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
