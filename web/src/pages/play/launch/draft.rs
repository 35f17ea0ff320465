//! What was chosen in the form, and the order that it makes.

use std::collections::{BTreeMap, BTreeSet};

use domain::api::{FieldError, RunOrder, SolveRateBand};
use domain::budget::Budget;
use domain::fault::FaultRule;
use domain::persona::{Complexity, ComplexityMix};
use domain::role::Role;
use leptos::prelude::*;

use strum::VariantArray;
use ui::api_client::{Answer, ApiError};
use ui::components::FieldReader;

/// The name of what asks no model.
pub const SCRIPTED: &str = "scripted";
/// When a fault happens: at certain calls, or with a probability.
pub const CALLS: &str = "calls";
pub const CHANCE: &str = "chance";

/// All of the form; numbers as they are typed, empty for the default.
#[derive(Clone, Copy)]
pub struct Draft {
    pub playbooks: RwSignal<BTreeSet<String>>,
    pub every_scenario: RwSignal<bool>,
    pub scenarios: RwSignal<BTreeSet<String>>,
    /// What the list of scenarios to choose from is narrowed by.
    pub search: RwSignal<String>,
    pub family: RwSignal<String>,
    pub tag: RwSignal<String>,
    /// A run in which scenarios were solved before, and which solve rates are wanted.
    pub solved_in: RwSignal<String>,
    pub solved_from: RwSignal<String>,
    pub solved_to: RwSignal<String>,
    pub personas: RwSignal<BTreeSet<String>>,
    /// Weights, as they are typed; all empty for those of the persona model.
    pub complexity: [(Complexity, RwSignal<String>); Complexity::VARIANTS.len()],
    pub n: RwSignal<String>,
    pub samples: RwSignal<String>,
    pub seed: RwSignal<String>,
    pub parts: [Part; 5],
    pub panel: RwSignal<BTreeSet<String>>,
    pub criteria_apart: RwSignal<bool>,
    pub agent_style: RwSignal<String>,
    pub user_style: RwSignal<String>,
    /// Empty: the agent as each playbook has it.
    pub variant: RwSignal<String>,
    /// Models of sub-agents; those that are not here have the agent's.
    pub sub_agents: RwSignal<BTreeMap<String, String>>,
    pub tokens: RwSignal<String>,
    pub money: RwSignal<String>,
    pub conversations: RwSignal<String>,
    pub minutes: RwSignal<String>,
    pub priority: RwSignal<String>,
    pub max_in_flight: RwSignal<String>,
    pub retries: RwSignal<String>,
    pub forecast: RwSignal<String>,
    pub paused: RwSignal<bool>,
    pub faults: RwSignal<Vec<Fault>>,
    last_fault: StoredValue<usize>,
}

/// Who plays a role.
#[derive(Clone, Copy)]
pub struct Part {
    pub role: Role,
    pub model: RwSignal<String>,
    pub temperature: RwSignal<String>,
    pub max_tokens: RwSignal<String>,
}

/// One rule of what goes wrong.
#[derive(Clone, Copy)]
pub struct Fault {
    pub id: usize,
    pub kind: RwSignal<String>,
    /// Names, with commas between them.
    pub tools: RwSignal<String>,
    /// At positions, or else with a probability.
    pub at_calls: RwSignal<bool>,
    pub calls: RwSignal<String>,
    pub probability: RwSignal<String>,
}

impl Draft {
    pub fn new() -> Self {
        let text = || RwSignal::new(String::new());
        let names = || RwSignal::new(BTreeSet::new());
        let part =
            |role| Part { role, model: RwSignal::new(SCRIPTED.to_owned()), temperature: text(), max_tokens: text() };
        Self {
            playbooks: names(),
            every_scenario: RwSignal::new(true),
            scenarios: names(),
            search: text(),
            family: text(),
            tag: text(),
            solved_in: text(),
            solved_from: text(),
            solved_to: text(),
            personas: names(),
            complexity: std::array::from_fn(|place| (Complexity::VARIANTS[place], text())),
            n: RwSignal::new("24".to_owned()),
            samples: text(),
            seed: RwSignal::new("1".to_owned()),
            parts: Role::ALL.map(part),
            panel: names(),
            criteria_apart: RwSignal::new(false),
            agent_style: text(),
            user_style: text(),
            variant: text(),
            sub_agents: RwSignal::new(BTreeMap::new()),
            tokens: text(),
            money: text(),
            conversations: text(),
            minutes: text(),
            priority: text(),
            max_in_flight: text(),
            retries: text(),
            forecast: text(),
            paused: RwSignal::new(false),
            faults: RwSignal::new(Vec::new()),
            last_fault: StoredValue::new(0),
        }
    }

    /// The id of another fault.
    pub fn next_fault(self) -> usize {
        self.last_fault.update_value(|last| *last += 1);
        self.last_fault.get_value()
    }

    /// What the form orders.
    pub fn order(self) -> FormOrder {
        let mut fields = FieldReader::default();
        // Also none: the server says that some are to be chosen, where all would be played if nothing stood here.
        let scenarios = (!self.every_scenario.get()).then(|| names(self.scenarios));
        // What is typed for a role stays when it asks no model any more, but is neither shown nor meant.
        let asked = || self.parts.into_iter().filter(|part| *part.model.read() != SCRIPTED);
        let order = RunOrder {
            playbooks: names(self.playbooks),
            scenarios,
            solve_rates: band(&mut fields, self),
            personas: names(self.personas),
            complexity: mix(&mut fields, &self.complexity),
            n: fields.whole("/n", &self.n.read()),
            samples: fields.whole("/samples", &self.samples.read()),
            seed: fields.whole("/seed", &self.seed.read()),
            models: asked().map(|part| (part.role, part.model.get())).collect(),
            panel: names(self.panel),
            sub_agents: self.sub_agents.get(),
            temperatures: of_roles(asked(), |part| {
                fields.decimal(&format!("/temperatures/{}", part.role), &part.temperature.read())
            }),
            max_tokens: of_roles(asked(), |part| {
                fields.whole(&format!("/max_tokens/{}", part.role), &part.max_tokens.read())
            }),
            agent_style: fields.name("/agent_style", &self.agent_style.read()),
            user_style: fields.name("/user_style", &self.user_style.read()),
            variant: Some(self.variant.get()).filter(|chosen| !chosen.is_empty()),
            faults: faults(&mut fields, &self.faults.read()),
            retries: fields.whole("/retries", &self.retries.read()),
            priority: fields.whole("/priority", &self.priority.read()).unwrap_or_default(),
            max_in_flight: fields.whole("/max_in_flight", &self.max_in_flight.read()),
            budget: budget(&mut fields, self.tokens, self.money, self.conversations, self.minutes),
            criteria_apart: self.criteria_apart.get(),
            paused: self.paused.get(),
            forecast: fields.whole("/forecast", &self.forecast.read()),
            ..RunOrder::default()
        };
        FormOrder { order, errors: fields.into_errors() }
    }
}

/// What a form orders, as far as it can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct FormOrder {
    pub order: RunOrder,
    /// Fields that hold no number where one is expected: they are missing in the order.
    errors: Vec<FieldError>,
}

impl FormOrder {
    /// The order, if it is whole.
    pub fn checked(self) -> Answer<RunOrder> {
        if self.errors.is_empty() { Ok(self.order) } else { Err(ApiError::invalid(self.errors)) }
    }
}

impl Fault {
    pub fn new(id: usize) -> Self {
        Self {
            id,
            kind: RwSignal::new("timeout".to_owned()),
            tools: RwSignal::new(String::new()),
            at_calls: RwSignal::new(false),
            calls: RwSignal::new(String::new()),
            probability: RwSignal::new("0.1".to_owned()),
        }
    }

    /// Reads what [`Self::to_text`] wrote. What is missing is as in a new one.
    pub fn from_text(id: usize, text: &str) -> Self {
        let fault = Self::new(id);
        let mut words = text.splitn(4, ':').map(str::to_owned);
        fault.kind.set(words.next().unwrap_or_default());
        let at_calls = words.next().is_some_and(|when| when == CALLS);
        fault.at_calls.set(at_calls);
        let number = if at_calls { fault.calls } else { fault.probability };
        number.set(words.next().unwrap_or_default());
        fault.tools.set(words.next().unwrap_or_default());
        fault
    }

    /// On one line: what, when, at which calls or how probably, of which tools.
    pub fn to_text(self) -> String {
        let (when, number) = if self.at_calls.get() { (CALLS, self.calls) } else { (CHANCE, self.probability) };
        format!("{}:{when}:{}:{}", self.kind.get(), number.get(), self.tools.get())
    }

    /// `None` if its kind is none.
    fn rule(self, fields: &mut FieldReader, pointer: &str) -> Option<FaultRule> {
        let at_calls = self.at_calls.get();
        let (calls, probability) = (self.calls.read(), self.probability.read());
        let mut call = |text| fields.whole(&format!("{pointer}/calls"), text);
        let calls = if at_calls { listed(&calls).filter_map(&mut call).collect() } else { Vec::new() };
        let probability = if at_calls { "" } else { probability.as_str() };
        let probability = fields.decimal(&format!("{pointer}/probability"), probability);
        let tools = listed(&self.tools.read()).map(str::to_owned).collect();
        let kind = fields.name(&format!("{pointer}/kind"), &self.kind.read())?;
        Some(FaultRule { kind, tools, calls, probability })
    }
}

fn names(chosen: RwSignal<BTreeSet<String>>) -> Vec<String> {
    chosen.read().iter().cloned().collect()
}

/// `None` if no run is named.
fn band(fields: &mut FieldReader, draft: Draft) -> Option<SolveRateBand> {
    let run = draft.solved_in.read().trim().to_owned();
    let mut rate = |pointer, text: RwSignal<String>| fields.decimal(pointer, &text.read());
    let min = rate("/solve_rates/min", draft.solved_from).unwrap_or(0.0);
    let max = rate("/solve_rates/max", draft.solved_to).unwrap_or(1.0);
    (!run.is_empty()).then_some(SolveRateBand { run, min, max })
}

fn of_roles<T>(parts: impl Iterator<Item = Part>, mut value: impl FnMut(Part) -> Option<T>) -> BTreeMap<Role, T> {
    parts.filter_map(|part| Some((part.role, value(part)?))).collect()
}

fn mix(fields: &mut FieldReader, weights: &[(Complexity, RwSignal<String>)]) -> ComplexityMix {
    let mut weight = |name: &Complexity, text: &str| fields.decimal(&format!("/complexity/{name}"), text);
    weights.iter().filter_map(|(name, text)| Some((*name, weight(name, &text.read())?))).collect()
}

fn faults(fields: &mut FieldReader, faults: &[Fault]) -> Vec<FaultRule> {
    let rules = faults.iter().enumerate().filter_map(|(i, fault)| fault.rule(fields, &format!("/faults/{i}")));
    rules.collect()
}

/// The caps as the API has them. Time is typed in minutes.
pub fn budget(
    fields: &mut FieldReader,
    tokens: RwSignal<String>,
    money: RwSignal<String>,
    conversations: RwSignal<String>,
    minutes: RwSignal<String>,
) -> Budget {
    Budget {
        tokens: fields.whole("/budget/tokens", &tokens.read()),
        money: fields.decimal("/budget/money", &money.read()),
        conversations: fields.whole("/budget/conversations", &conversations.read()),
        seconds: fields.decimal("/budget/seconds", &minutes.read()).map(seconds),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates, and such a cap is none")]
fn seconds(minutes: f64) -> i64 {
    (minutes * 60.0).round() as i64
}

fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use domain::fault::FaultKind;

    use super::*;

    fn wrong(draft: Draft) -> Vec<String> {
        draft.order().errors.into_iter().map(|error| error.pointer).collect()
    }

    #[test]
    fn names_are_listed_with_commas_or_spaces() {
        assert_eq!(listed("a, b,,c d").collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    }

    #[test]
    fn an_empty_form_orders_the_defaults_that_it_shows() {
        Owner::new().with(|| {
            let expected = RunOrder { n: Some(24), seed: Some(1), ..RunOrder::default() };
            assert_eq!(Draft::new().order().checked(), Ok(expected));
        });
    }

    #[test]
    fn some_scenarios_are_not_all_even_if_none_is_chosen() {
        Owner::new().with(|| {
            let draft = Draft::new();
            let ordered = || draft.order().order.scenarios;
            assert_eq!(ordered(), None);
            draft.every_scenario.set(false);
            assert_eq!(ordered(), Some(Vec::new()));
            draft.scenarios.set(BTreeSet::from(["a".to_owned()]));
            assert_eq!(ordered(), Some(vec!["a".to_owned()]));
        });
    }

    #[test]
    fn a_band_of_solve_rates_is_open_where_nothing_is_typed() {
        Owner::new().with(|| {
            let draft = Draft::new();
            draft.solved_to.set("0.8".to_owned());
            assert_eq!(draft.order().order.solve_rates, None, "no run, no band");
            draft.solved_in.set(" some-run ".to_owned());
            let band = SolveRateBand { run: "some-run".to_owned(), min: 0.0, max: 0.8 };
            assert_eq!(draft.order().order.solve_rates, Some(band));
            draft.solved_from.set("low".to_owned());
            assert_eq!(wrong(draft), ["/solve_rates/min"]);
        });
    }

    #[test]
    fn what_was_typed_for_a_model_is_not_meant_once_a_role_is_scripted() {
        Owner::new().with(|| {
            let draft = Draft::new();
            let part = draft.parts[0];
            part.model.set("house".to_owned());
            part.temperature.set("hot".to_owned());
            assert_eq!(wrong(draft), [format!("/temperatures/{}", part.role)]);
            part.temperature.set("0.3".to_owned());
            let order = draft.order().checked().unwrap();
            assert_eq!(order.models, BTreeMap::from([(part.role, "house".to_owned())]));
            assert_eq!(order.temperatures, BTreeMap::from([(part.role, 0.3)]));
            part.model.set(SCRIPTED.to_owned());
            let order = draft.order().checked().unwrap();
            assert_eq!((order.models.len(), order.temperatures.len()), (0, 0));
        });
    }

    #[test]
    fn a_budget_and_faults_are_read_from_their_fields() {
        Owner::new().with(|| {
            let draft = Draft::new();
            draft.minutes.set("0.5".to_owned());
            draft.money.set("12".to_owned());
            draft.faults.set(vec![
                Fault::from_text(1, "timeout:calls:1, 2:get_card,get_account"),
                Fault::from_text(2, "outage:chance:0.2:"),
            ]);
            let order = draft.order().checked().unwrap();
            assert_eq!(order.budget, Budget { seconds: Some(30), money: Some(12.0), ..Budget::default() });
            let tools = vec!["get_card".to_owned(), "get_account".to_owned()];
            let expected = [
                FaultRule { kind: FaultKind::Timeout, tools, calls: vec![1, 2], probability: None },
                FaultRule { kind: FaultKind::Outage, tools: Vec::new(), calls: Vec::new(), probability: Some(0.2) },
            ];
            assert_eq!(order.faults, expected);
            draft.faults.set(vec![Fault::from_text(1, "sleep:calls:one:")]);
            draft.minutes.set("many".to_owned());
            assert_eq!(wrong(draft), ["/faults/0/calls", "/faults/0/kind", "/budget/seconds"]);
        });
    }
}
