//! Commands and their options as Markdown.

use std::fmt::Write;

use clap::{Arg, Command};

use projects::reference::cell;

/// All commands that people use, each with its arguments.
pub fn page(root: &Command) -> String {
    let mut root = root.clone();
    root.build();
    let mut out = String::from("# Commands\n\n");
    section(&root, &mut out);
    out
}

fn section(command: &Command, out: &mut String) {
    let own = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let _ = writeln!(out, "## `{own}`\n");
    for text in [command.get_about(), command.get_long_about()].into_iter().flatten().take(1) {
        let _ = writeln!(out, "{text}.\n");
    }
    arguments(command, out);
    let others: Vec<&Command> = command.get_subcommands().filter(|other| is_shown(other)).collect();
    if !others.is_empty() {
        out.push_str("| command | what it does |\n| --- | --- |\n");
        for other in &others {
            let about = other.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(out, "| `{} {}` | {} |", own, other.get_name(), cell(&about));
        }
        out.push('\n');
    }
    for other in others {
        section(other, out);
    }
}

fn is_shown(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn arguments(command: &Command, out: &mut String) {
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version"))
        .collect();
    if shown.is_empty() {
        return;
    }
    out.push_str("| argument | meaning | default |\n| --- | --- | --- |\n");
    for arg in shown {
        let defaults: Vec<String> =
            arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
        let default =
            if arg.is_hide_default_value_set() || !takes_value(arg) { String::new() } else { defaults.join(", ") };
        let _ = writeln!(out, "| `{}` | {} | {default} |", name(arg), cell(&meaning(arg)));
    }
    out.push('\n');
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn name(arg: &Arg) -> String {
    let values: Vec<String> = match arg.get_value_names() {
        Some(names) if takes_value(arg) => names.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let value = values.join(" ");
    match (arg.get_long(), arg.get_short()) {
        (Some(long), _) if value.is_empty() => format!("--{long}"),
        (Some(long), _) => format!("--{long} {value}"),
        (None, Some(short)) => format!("-{short} {value}"),
        (None, None) => value,
    }
}

fn meaning(arg: &Arg) -> String {
    let mut text = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let hidden = arg.is_hide_possible_values_set() || !takes_value(arg);
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !hidden && !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let choices = (!values.is_empty()).then(|| format!("One of {}.", values.join(", ")));
    let variable = arg.get_env().map(|name| format!("Environment variable: `{}`.", name.to_string_lossy()));
    for sentence in choices.into_iter().chain(variable) {
        // Most help texts end without a full stop.
        if !text.is_empty() {
            text.push_str(if text.ends_with('.') { " " } else { ". " });
        }
        text.push_str(&sentence);
    }
    text
}
