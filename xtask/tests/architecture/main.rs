//! The direction of dependencies: of crates, from `cargo metadata`, and of modules, from the sources.
//!
//! A crate that is added gets a row in `DEPENDENCIES`; an edge that is added to a row is a decision about the architecture.
#![expect(clippy::unwrap_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

mod graph;
mod layers;
mod modules;
mod resolve;
mod schemas;
mod self_tests;
mod styles;
mod workspace;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use layers::{UseRule, Users, cycle_violations, layer_violations, use_violations};
use modules::Modules;
use workspace::{Rules, Workspace, lines_below, sources_below};

/// A crate, and the crates of ours that it may depend on, for its tests as well.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("database", &[]),
    ("no-openapi", &[]),
    ("domain", &["no-openapi"]),
    ("engine", &["domain"]),
    ("workflow", &["domain", "engine"]),
    ("llm", &["domain"]),
    ("sandbox", &[]),
    ("store", &["domain"]),
    ("tools", &["domain", "llm"]),
    ("worker", &["domain"]),
    ("runtime", &["domain", "llm", "store"]),
    ("projects", &["domain", "engine", "llm", "runtime", "sandbox", "store", "workflow"]),
    ("generation", &["domain", "engine", "llm", "projects", "runtime", "store", "tools"]),
    ("datasets", &["domain", "engine", "generation", "projects", "runtime", "sandbox", "store", "workflow"]),
    ("rows", &["datasets", "domain", "llm", "projects", "runtime", "store", "tools", "workflow"]),
    (
        "server",
        &[
            "database",
            "datasets",
            "domain",
            "engine",
            "generation",
            "llm",
            "projects",
            "rows",
            "runtime",
            "sandbox",
            "store",
            "tools",
            "worker",
            "workflow",
        ],
    ),
    ("ui", &["domain"]),
    ("data-pages", &["domain", "ui"]),
    ("web", &["data-pages", "domain", "ui"]),
    (
        "bench",
        &["database", "datasets", "domain", "engine", "generation", "llm", "projects", "rows", "server", "store"],
    ),
    ("fuzz", &["domain", "engine", "projects", "sandbox"]),
    ("xtask", &["database"]),
];

/// Neither in their own dependencies nor in those of others that they use.
const FREE_OF: &[(&str, &[&str])] = &[
    ("domain", &["tokio", "sqlx", "sqlx-core", "reqwest", "hyper", "futures"]),
    ("engine", &["tokio", "sqlx", "sqlx-core", "reqwest", "hyper", "futures"]),
    ("workflow", &["tokio", "sqlx", "sqlx-core", "reqwest", "hyper", "futures"]),
    ("data-pages", &["tokio", "sqlx", "sqlx-core", "reqwest", "hyper"]),
    ("web", &["tokio", "sqlx", "sqlx-core", "reqwest", "hyper"]),
];

/// A crate is one unit of compilation: a larger one keeps all others waiting.
const MOST_LINES: usize = 25_000;
/// Crates that are larger, with a limit of their own and the reason.
const LARGER: &[(&str, usize, &str)] = &[(
    "server",
    26_500,
    "handlers of HTTP and commands share their program; the trial of an agent is to be a crate of its own",
)];

/// The modules right below a crate's root, lowest first: each may use those of its own layer and of lower ones.
const LAYERS: &[(&str, &[&[&str]])] = &[
    (
        "server",
        &[
            &["jobs", "playable", "postgres", "reference", "output", "secret", "telemetry"],
            &["people", "player_process"],
            &["http"],
            &["commands"],
            &["cli"],
        ],
    ),
    (
        "ui",
        &[
            &["address", "format", "json_text", "keys", "labels", "session", "theme", "transcript"],
            &["api_client"],
            &["components"],
            &["parts"],
        ],
    ),
    ("web", &[&["pages"], &["app"]]),
];

/// By the beginning of a path: `sqlx::query` is also `sqlx::query_as!`.
const USE_RULES: &[UseRule<'_>] = &[
    // All SQL is in one crate.
    UseRule { paths: &["sqlx::query", "sqlx::raw_sql", "sqlx::QueryBuilder"], users: Users::Only(&["store"]) },
    // A command does its work through the libraries; only those that serve or describe the API know it.
    UseRule {
        paths: &["server::http"],
        users: Users::Only(&[
            "server::http",
            "server::commands::openapi",
            "server::commands::play",
            "server::commands::serve",
        ]),
    },
    // One client asks the server, and that client shows nothing.
    UseRule {
        paths: &[
            "gloo_net",
            "web_sys::EventSource",
            "web_sys::Request",
            "web_sys::WebSocket",
            "web_sys::XmlHttpRequest",
        ],
        users: Users::Only(&["ui::api_client"]),
    },
    UseRule { paths: &["leptos"], users: Users::AllExcept(&["ui::api_client"]) },
];

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

/// With `test = false` in a manifest: nobody would notice that they never run.
#[test]
fn targets_that_cargo_does_not_test_hold_no_tests() {
    let mut problems = Vec::new();
    for krate in Workspace::read(root()).unwrap().crates.values() {
        for own in krate.roots.iter().filter(|own| !own.is_tested) {
            for file in sources_below(own.file.parent().unwrap()).unwrap() {
                let text = fs::read_to_string(&file).unwrap();
                if ["#[cfg(test)]", "#[test]"].iter().any(|attribute| text.contains(attribute)) {
                    problems.push(format!("the tests of {} never run", file.display()));
                }
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn modules_form_no_cycles() {
    assert_none(&of_every_crate(cycle_violations));
}

#[test]
fn modules_know_none_of_a_higher_layer() {
    assert_none(&of_every_crate(|name, modules| {
        let layers = LAYERS.iter().find(|(krate, _)| *krate == name);
        layers.map_or_else(Vec::new, |(_, layers)| layer_violations(name, modules, layers))
    }));
}

#[test]
fn paths_are_named_only_where_they_may_be() {
    assert_none(&of_every_crate(|name, modules| use_violations(name, modules, USE_RULES)));
}

#[test]
fn no_two_types_have_one_name_in_the_document_of_the_api() {
    let mut files = BTreeMap::new();
    for krate in Workspace::read(root()).unwrap().crates.values() {
        for file in sources_below(&krate.folder.join("src")).unwrap() {
            let text = fs::read_to_string(&file).unwrap();
            files.insert(file.strip_prefix(root()).unwrap().display().to_string(), text);
        }
    }
    assert_none(&schemas::repeated(&files));
    let own = "#[derive(ToSchema)]\npub struct A {\n#[derive(Clone, ToSchema)]\n#[schema(as = B)]\npub enum A {\npub struct A;";
    assert_eq!(schemas::names(own), ["A", "B"]);
}

/// A table that names what was renamed would hold nothing.
#[test]
fn tables_name_modules_that_exist() {
    let existing = of_every_crate(|name, modules| {
        modules.modules.keys().map(|path| [&[name.to_owned()], &path[..]].concat().join("::")).collect()
    });
    let layered = LAYERS.iter().map(|(krate, _)| *krate);
    let named = USE_RULES.iter().flat_map(|rule| match rule.users {
        Users::Only(users) | Users::AllExcept(users) => users.iter().copied(),
    });
    let mut gone = layered.chain(named).filter(|name| !existing.iter().any(|module| module == name));
    assert_eq!(gone.next(), None);
}
