//! The direction of dependencies: of crates, from `cargo metadata`, and of modules, from the sources.
//!
//! A crate that is added gets a row in `DEPENDENCIES`; an edge that is added to a row is a decision about the architecture.
#![expect(clippy::unwrap_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

mod graph;
mod layers;
mod made_up;
mod modules;
mod resolve;
mod workspace;

use std::fs;
use std::path::Path;

use layers::{Circle, Reserved, Users, broken_layers, circles, trespasses};
use modules::Modules;
use workspace::{Rules, Workspace, lines_below};

/// A crate, and the crates of ours that it may depend on, for its tests as well.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("database", &[]),
    ("domain", &[]),
    ("engine", &["domain"]),
    ("llm", &["domain", "engine"]),
    ("store", &["domain"]),
    ("projects", &["domain", "engine", "llm", "store"]),
    ("generation", &["domain", "engine", "llm", "projects", "store"]),
    ("datasets", &["domain", "engine", "generation", "projects", "store"]),
    ("worker", &["domain", "engine"]),
    ("server", &["database", "datasets", "domain", "engine", "generation", "llm", "projects", "store", "worker"]),
    ("web", &["domain"]),
    ("bench", &["datasets", "domain", "engine", "generation", "projects", "server", "store"]),
    ("xtask", &["database"]),
];

/// Neither in their own dependencies nor in those of others that they use.
const FREE_OF: &[(&str, &[&str])] = &[
    ("domain", &["tokio", "sqlx", "sqlx-core", "reqwest", "hyper", "futures"]),
    ("engine", &["tokio", "sqlx", "sqlx-core", "reqwest", "hyper", "futures"]),
    ("web", &["tokio", "sqlx", "sqlx-core", "reqwest", "hyper"]),
];

/// A crate is one unit of compilation: a larger one keeps all others waiting.
const MOST_LINES: usize = 25_000;
/// Crates that are larger, with a limit of their own and the reason.
const LARGER: &[(&str, usize, &str)] =
    &[("web", 32_000, "nothing depends on it, and it is compiled beside the server, never before it")];

/// The modules right below a crate's root, lowest first: each may use those of its own layer and of lower ones.
const LAYERS: &[(&str, &[&[&str]])] = &[
    ("server", &[&["postgres", "say", "secret", "telemetry"], &["people"], &["http"], &["commands"]]),
    (
        "web",
        &[
            &["address", "format", "json_text", "keys", "labels", "session", "theme", "transcript"],
            &["api_client"],
            &["components"],
            &["parts"],
            &["pages"],
            &["app"],
        ],
    ),
];

/// By the beginning of a path: `sqlx::query` is also `sqlx::query_as!`.
const RESERVED: &[Reserved<'_>] = &[
    // All SQL is in one crate.
    Reserved { paths: &["sqlx::query", "sqlx::raw_sql", "sqlx::QueryBuilder"], to: Users::Only(&["store"]) },
    // A command does its work through the libraries; only those that serve or describe the API know it.
    Reserved {
        paths: &["server::http"],
        to: Users::Only(&[
            "server::http",
            "server::commands::openapi",
            "server::commands::play",
            "server::commands::serve",
        ]),
    },
    // One client asks the server, and that client shows nothing.
    Reserved {
        paths: &[
            "gloo_net",
            "web_sys::EventSource",
            "web_sys::Request",
            "web_sys::WebSocket",
            "web_sys::XmlHttpRequest",
        ],
        to: Users::Only(&["web::api_client"]),
    },
    Reserved { paths: &["leptos"], to: Users::AllBut(&["web::api_client"]) },
];

/// Edges between the modules right below a crate's root that close a circle. It should be empty.
const CIRCLES: &[Circle<'_>] = &[];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Calls a check for every library and program of the workspace, and collects what it finds.
fn of_every_crate(check: impl Fn(&str, &Modules) -> Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    for krate in Workspace::read(root()).unwrap().crates.values() {
        for own in &krate.roots {
            let file = own.file.strip_prefix(root()).unwrap();
            let modules = Modules::read(file, &|file| fs::read_to_string(root().join(file)).ok()).unwrap();
            found.extend(check(&own.name, &modules));
        }
    }
    found
}

#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn crates_depend_on_each_other_in_one_direction() {
    let workspace = Workspace::read(root()).unwrap();
    assert_none(&workspace.problems(&Rules { dependencies: DEPENDENCIES, free_of: FREE_OF }));
}

#[test]
fn no_crate_is_too_large() {
    let mut problems = Vec::new();
    for (name, krate) in &Workspace::read(root()).unwrap().crates {
        let lines = lines_below(&krate.folder.join("src")).unwrap();
        let larger = LARGER.iter().find(|(larger, _, _)| larger == name);
        let most = larger.map_or(MOST_LINES, |(_, most, _)| *most);
        if lines > most {
            problems.push(format!("{name} has {lines} lines, more than {most}"));
        }
        if larger.is_some() && lines <= MOST_LINES {
            problems.push(format!("{name} needs no limit of its own any more"));
        }
    }
    assert_none(&problems);
}

#[test]
fn modules_form_no_circles() {
    assert_none(&of_every_crate(|name, modules| circles(name, modules, CIRCLES)));
}

#[test]
fn modules_know_none_of_a_higher_layer() {
    assert_none(&of_every_crate(|name, modules| {
        let layers = LAYERS.iter().find(|(krate, _)| *krate == name);
        layers.map_or_else(Vec::new, |(_, layers)| broken_layers(name, modules, layers))
    }));
}

#[test]
fn what_is_reserved_is_used_by_nobody_else() {
    assert_none(&of_every_crate(|name, modules| trespasses(name, modules, RESERVED)));
}
