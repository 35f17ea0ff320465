//! Which conversations a corpus is made of, as flags: one for each parameter of a filter. What is out of range is left to
//! [`Filter::problems`], which tells it of all flags at once.

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use domain::filter::{Comparison, Dimension, Filter, Notation, PARAMETERS, Parameter, Status};

const HEADING: &str = "Which conversations (repeat a flag for several values)";

/// The parameters whose flags are given, with their values.
pub struct FilterFlags(Vec<(&'static Parameter, Vec<String>)>);

impl FilterFlags {
    /// A list that is given takes the place of the file's; scores of criteria are added to it.
    ///
    /// # Errors
    /// A flag, and what is wrong with its value.
    pub fn lay_over(&self, filter: &mut Filter) -> Result<(), (String, String)> {
        self.0.iter().try_for_each(|(parameter, values)| {
            let read = parameter.read_over(filter, values.iter().map(String::as_str), Notation::Flag);
            read.map_err(|wrong| (flag(parameter), wrong))
        })
    }
}

/// The flag that sets what a pointer into a filter leads to.
pub fn flag_at(pointer: &str) -> Option<String> {
    Parameter::at(pointer).map(flag)
}

fn flag(parameter: &Parameter) -> String {
    format!("--{}", parameter.name.replace('_', "-"))
}

impl clap::Args for FilterFlags {
    fn augment_args(command: Command) -> Command {
        command.args(PARAMETERS.iter().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for FilterFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = PARAMETERS.iter().filter_map(|parameter| {
            let values = matches.get_many::<String>(parameter.name)?;
            Some((parameter, values.cloned().collect()))
        });
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn arg(parameter: &'static Parameter) -> Arg {
    let arg = Arg::new(parameter.name)
        .long(parameter.name.replace('_', "-"))
        .value_name(parameter.placeholder(Notation::Flag))
        .help(help(parameter))
        .help_heading(HEADING)
        .value_parser(value_parser(parameter))
        .action(if parameter.repeats() { ArgAction::Append } else { ArgAction::Set });
    match parameter.comparison {
        Comparison::Is(_) => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        _ => arg,
    }
}

fn help(parameter: &Parameter) -> String {
    match (&parameter.comparison, parameter.dimension) {
        (Comparison::Is(_), _) => format!("{}; with =false, the opposite", parameter.summary()),
        (_, Some(Dimension::Outcome)) => format!("{}; default: accepted", parameter.summary()),
        _ => parameter.help.trim_end_matches('.').to_owned(),
    }
}

/// Words that are known are named by help and errors; other values are read, so that a flag is refused where it is given.
fn value_parser(parameter: &'static Parameter) -> ValueParser {
    if let Some(values) = parameter.dimension.and_then(Dimension::values) {
        // A corpus keeps nothing that may still change.
        let unfinished = Status::Unfinished.into_str();
        return PossibleValuesParser::new(values.into_iter().filter(|value| *value != unfinished)).into();
    }
    ValueParser::new(|text: &str| {
        parameter.read(&mut Filter::default(), text, Notation::Flag).map(|()| text.to_owned())
    })
}
