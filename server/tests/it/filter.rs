//! Each parameter of a filter is there wherever people select conversations.

use clap::CommandFactory;
use domain::filter::{Notation, PARAMETERS, SEARCH};
use serde_json::Value;
use server::cli::Cli;

/// The operations that select conversations.
const OPERATIONS: [&str; 7] = [
    "/api/v1/projects/{project}/conversations",
    "/api/v1/projects/{project}/conversations/facets",
    "/api/v1/runs/{run}/conversations",
    "/api/v1/runs/{run}/conversations/facets",
    "/api/v1/runs/{run}/analytics",
    "/api/v1/runs/{run}/comparison",
    "/api/v1/conversations/{conversation}/neighbours",
];

#[test]
fn each_parameter_is_documented_for_every_operation_that_selects_conversations() {
    let document: Value = serde_json::to_value(server::http::document()).unwrap();
    for path in OPERATIONS {
        let documented = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        let named = |name: &str| -> Vec<&Value> {
            documented.iter().filter(|parameter| parameter["in"] == "query" && parameter["name"] == name).collect()
        };
        assert_eq!(named(SEARCH).len(), 1, "{path}");
        for parameter in &PARAMETERS {
            let found = named(parameter.name);
            assert_eq!(found.len(), 1, "{} of {path}", parameter.name);
            let description = found[0]["description"].as_str().unwrap_or_default();
            assert!(description.starts_with(parameter.help), "{} of {path}: {description}", parameter.name);
            assert_eq!(found[0]["schema"]["type"] == "array", parameter.repeats(), "{} of {path}", parameter.name);
        }
    }
}

#[test]
fn each_parameter_has_a_flag_with_its_help() {
    let command = Cli::command();
    let create = command.find_subcommand("corpora").and_then(|corpora| corpora.find_subcommand("create")).unwrap();
    for parameter in &PARAMETERS {
        let long = parameter.name.replace('_', "-");
        let flag = create.get_arguments().find(|flag| flag.get_long() == Some(&long));
        let flag = flag.unwrap_or_else(|| panic!("there is no flag --{long}"));
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.starts_with(parameter.summary()), "--{long}: {help}");
        let placeholder = parameter.placeholder(Notation::Flag);
        assert_eq!(flag.get_value_names().unwrap_or_default(), [placeholder.as_str()], "--{long}");
    }
}
