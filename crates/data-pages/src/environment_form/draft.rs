//! The values of the form, and the environment that they make.

use std::collections::BTreeSet;

use domain::api::FieldError;
use domain::api::episodes::{Environment, NamedEnvironment};
use domain::budget::Budget;
use domain::role::Role;
use leptos::prelude::*;

use ui::api_client::{Answer, ApiError};
use ui::components::FieldReader;

/// The name of what asks no model.
pub const SCRIPTED: &str = "scripted";
/// Where an error of the settings without fields of their own stands.
pub const OTHER: &str = "/other";
/// The roles that a model may play. The agent is outside.
const ROLES: [Role; 4] = [Role::SimulatedUser, Role::ToolSimulator, Role::StateManager, Role::Judge];

/// All of the form; numbers as they are typed, empty for the default.
#[derive(Clone, Copy)]
pub struct Draft {
    pub name: RwSignal<String>,
    pub playbooks: RwSignal<BTreeSet<String>>,
    /// Ids, with spaces, commas or line breaks between them; empty for all.
    pub scenarios: RwSignal<String>,
    pub split: RwSignal<String>,
    pub corpus: RwSignal<String>,
    pub personas: RwSignal<BTreeSet<String>>,
    pub models: [(Role, RwSignal<String>); ROLES.len()],
    pub variant: RwSignal<String>,
    pub groups: RwSignal<String>,
    pub seed: RwSignal<String>,
    pub idle_seconds: RwSignal<String>,
    pub tokens: RwSignal<String>,
    pub money: RwSignal<String>,
    pub conversations: RwSignal<String>,
    pub seconds: RwSignal<String>,
    /// The settings without fields of their own, as JSON.
    pub other: RwSignal<String>,
}

impl Draft {
    pub fn of(stored: Option<&NamedEnvironment>) -> Self {
        let environment = stored.map(|stored| stored.environment.clone()).unwrap_or_default();
        let text = |text: Option<String>| RwSignal::new(text.unwrap_or_default());
        let model = |role: Role| {
            let model = environment.models.get(&role).map_or(SCRIPTED, String::as_str);
            (role, RwSignal::new(model.to_owned()))
        };
        let without = without_fields(&environment);
        let is_usual = without == Environment::default();
        let other = if is_usual { String::new() } else { serde_json::to_string_pretty(&without).unwrap_or_default() };
        let Environment { playbooks, scenarios, split, corpus, personas, variant, groups, seed, .. } =
            environment.clone();
        let Budget { tokens, money, conversations, seconds } = environment.budget.clone();
        Self {
            name: text(stored.map(|stored| stored.name.clone())),
            playbooks: RwSignal::new(playbooks.into_iter().collect()),
            scenarios: text(scenarios.map(|scenarios| scenarios.join("\n"))),
            split: text(split.map(|split| split.into_str().to_owned())),
            corpus: text(corpus),
            personas: RwSignal::new(personas.into_iter().collect()),
            models: ROLES.map(model),
            variant: text(variant),
            groups: text(groups.map(|groups| groups.to_string())),
            seed: text(seed.map(|seed| seed.to_string())),
            idle_seconds: text(environment.idle_seconds.map(|seconds| seconds.to_string())),
            tokens: text(tokens.map(|tokens| tokens.to_string())),
            money: text(money.map(|money| money.to_string())),
            conversations: text(conversations.map(|conversations| conversations.to_string())),
            seconds: text(seconds.map(|seconds| seconds.to_string())),
            other: RwSignal::new(other),
        }
    }

    /// The environment, if all of it can be read.
    pub fn environment(self) -> Answer<Environment> {
        let (other, wrong) = match other(&self.other.read_untracked()) {
            Ok(other) => (other, None),
            Err(error) => (Environment::default(), Some(error)),
        };
        let mut fields = FieldReader::default();
        let models = self.models.into_iter().map(|(role, model)| (role, model.get_untracked()));
        let environment = Environment {
            playbooks: chosen(self.playbooks),
            scenarios: listed(&self.scenarios.read_untracked()),
            split: fields.name("/split", &self.split.read_untracked()),
            corpus: written(self.corpus),
            personas: chosen(self.personas),
            seed: fields.whole("/seed", &self.seed.read_untracked()),
            models: models.filter(|(_, model)| model != SCRIPTED).collect(),
            variant: written(self.variant),
            idle_seconds: fields.whole("/idle_seconds", &self.idle_seconds.read_untracked()),
            groups: fields.whole("/groups", &self.groups.read_untracked()),
            budget: Budget {
                tokens: fields.whole("/budget/tokens", &self.tokens.read_untracked()),
                money: fields.decimal("/budget/money", &self.money.read_untracked()),
                conversations: fields.whole("/budget/conversations", &self.conversations.read_untracked()),
                seconds: fields.whole("/budget/seconds", &self.seconds.read_untracked()),
            },
            ..other
        };
        let errors: Vec<FieldError> = fields.into_errors().into_iter().chain(wrong).collect();
        if errors.is_empty() { Ok(environment) } else { Err(ApiError::invalid(errors)) }
    }
}

/// The settings of an environment that have no field of their own in the form.
fn without_fields(environment: &Environment) -> Environment {
    let Environment { complexity, sub_agents, temperatures, user_style, faults, .. } = environment.clone();
    Environment { complexity, sub_agents, temperatures, user_style, faults, ..Environment::default() }
}

/// Reads those settings. A setting that has a field is refused: it would be there twice.
fn other(text: &str) -> Result<Environment, FieldError> {
    if text.trim().is_empty() {
        return Ok(Environment::default());
    }
    let read: Environment = serde_json::from_str(text).map_err(|error| FieldError::at(OTHER, error.to_string()))?;
    if without_fields(&read) == read {
        Ok(read)
    } else {
        let why =
            "takes only complexity, sub_agents, temperatures, user_style and faults; the others have fields above";
        Err(FieldError::at(OTHER, why))
    }
}

fn chosen(names: RwSignal<BTreeSet<String>>) -> Vec<String> {
    names.read_untracked().iter().cloned().collect()
}

fn written(text: RwSignal<String>) -> Option<String> {
    Some(text.read_untracked().trim().to_owned()).filter(|text| !text.is_empty())
}

/// `None` if nothing is typed.
fn listed(text: &str) -> Option<Vec<String>> {
    let names = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use domain::corpus::Side;
    use serde_json::json;

    use super::*;

    fn stored(environment: Environment) -> NamedEnvironment {
        let (name, changed_by) = ("bank".to_owned(), "mira".to_owned());
        NamedEnvironment { name, environment, changed_by, changed_at: DateTime::default() }
    }

    fn wrong(draft: Draft) -> Vec<String> {
        let Err(ApiError::Refused(problem)) = draft.environment() else { panic!("it was read") };
        problem.errors.into_iter().map(|error| error.pointer).collect()
    }

    /// Every field of an environment: what the form has no field for must not get lost in it.
    #[test]
    fn an_environment_that_nobody_changes_stays_as_it_is() {
        Owner::new().with(|| {
            let environment: Environment = serde_json::from_value(json!({
                "playbooks": ["cards", "retail_bank"], "scenarios": ["a", "b"], "split": "golden", "corpus": "some-corpus",
                "personas": ["calm"], "complexity": {"vague": 2.0}, "seed": -7,
                "models": {"simulated_user": "qwen", "judge": "gpt-x"}, "sub_agents": {"expert": "qwen"},
                "temperatures": {"simulated_user": 0.3}, "user_style": "json", "variant": "strict",
                "faults": [{"kind": "timeout", "calls": [1]}], "idle_seconds": 60, "groups": 8,
                "budget": {"tokens": 1000, "money": 0.5, "conversations": 9, "seconds": 90},
            }))
            .unwrap();
            assert_eq!(Draft::of(Some(&stored(environment.clone()))).environment(), Ok(environment));
            assert_eq!(Draft::of(None).environment(), Ok(Environment::default()));
        });
    }

    #[test]
    fn what_cannot_be_read_stands_at_its_field() {
        Owner::new().with(|| {
            let draft = Draft::of(None);
            draft.groups.set("many".to_owned());
            draft.money.set("x".to_owned());
            draft.other.set(r#"{"temperature": {}}"#.to_owned());
            assert_eq!(wrong(draft), ["/groups", "/budget/money", OTHER]);
        });
    }

    #[test]
    fn a_setting_with_a_field_stands_in_no_other_place() {
        Owner::new().with(|| {
            let draft = Draft::of(Some(&stored(Environment { split: Some(Side::Train), ..Environment::default() })));
            draft.other.set(r#"{"groups": 4}"#.to_owned());
            assert_eq!(wrong(draft), [OTHER]);
            draft.other.set(r#"{"user_style": "json"}"#.to_owned());
            let environment = draft.environment().unwrap();
            assert_eq!((environment.split, environment.user_style.is_some()), (Some(Side::Train), true));
        });
    }

    #[test]
    fn scenarios_are_listed_with_spaces_commas_or_lines() {
        assert_eq!(listed("a, b\nc  d").unwrap(), ["a", "b", "c", "d"]);
        assert_eq!(listed(" \n"), None);
    }
}
