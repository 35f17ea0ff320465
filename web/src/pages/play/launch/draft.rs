//! What was chosen in the form, and the order that it makes.

use std::collections::{BTreeMap, BTreeSet};

use domain::persona::Complexity;
use domain::role::Role;
use leptos::prelude::*;
use serde_json::{Map, Value, json};

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
    pub personas: RwSignal<BTreeSet<String>>,
    /// Weights, as they are typed; all empty for those of the persona model.
    pub complexity: [(Complexity, RwSignal<String>); 4],
    pub n: RwSignal<String>,
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
            personas: names(),
            complexity: Complexity::ALL.map(|name| (name, text())),
            n: RwSignal::new("24".to_owned()),
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

    /// The body of `POST /projects/{project}/runs`; what has its default is left out.
    pub fn order(self) -> Value {
        let mut order = Map::new();
        put_names(&mut order, "playbooks", &self.playbooks.read());
        if !self.every_scenario.get() {
            // Also none: the server says that some are to be chosen, where all would be played if nothing stood here.
            put(&mut order, "scenarios", Some(self.scenarios.read().iter().cloned().collect()));
        }
        put_names(&mut order, "personas", &self.personas.read());
        put(&mut order, "complexity", mix(&self.complexity));
        put_names(&mut order, "panel", &self.panel.read());
        put_parts(&mut order, &self.parts);
        let numbers = [
            ("n", self.n),
            ("seed", self.seed),
            ("priority", self.priority),
            ("max_in_flight", self.max_in_flight),
            ("retries", self.retries),
            ("forecast", self.forecast),
        ];
        for (name, text) in numbers {
            put(&mut order, name, number(&text.read()));
        }
        for (name, chosen) in
            [("agent_style", self.agent_style), ("user_style", self.user_style), ("variant", self.variant)]
        {
            put(&mut order, name, Some(chosen.get()).filter(|chosen| !chosen.is_empty()).map(Value::from));
        }
        let sub_agents: Map<String, Value> =
            self.sub_agents.read().iter().map(|(name, model)| (name.clone(), model.clone().into())).collect();
        put(&mut order, "sub_agents", (!sub_agents.is_empty()).then_some(Value::Object(sub_agents)));
        put(&mut order, "criteria_apart", self.criteria_apart.get().then_some(Value::Bool(true)));
        put(&mut order, "paused", self.paused.get().then_some(Value::Bool(true)));
        put(&mut order, "budget", budget(self.tokens, self.money, self.conversations, self.minutes));
        let faults: Vec<Value> = self.faults.read().iter().map(|fault| fault.rule()).collect();
        put(&mut order, "faults", (!faults.is_empty()).then_some(Value::Array(faults)));
        Value::Object(order)
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

    /// One that was [`written`](Self::written). What is missing is as in a new one.
    pub fn read(id: usize, text: &str) -> Self {
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
    pub fn written(self) -> String {
        let (when, number) = if self.at_calls.get() { (CALLS, self.calls) } else { (CHANCE, self.probability) };
        format!("{}:{when}:{}:{}", self.kind.get(), number.get(), self.tools.get())
    }

    fn rule(self) -> Value {
        let mut rule = json!({"kind": self.kind.get()});
        let tools: Vec<Value> = listed(&self.tools.read()).map(Value::from).collect();
        if !tools.is_empty() {
            rule["tools"] = Value::Array(tools);
        }
        if self.at_calls.get() {
            rule["calls"] = listed(&self.calls.read()).filter_map(number).collect();
        } else if let Some(probability) = number(&self.probability.read()) {
            rule["probability"] = probability;
        }
        rule
    }
}

fn mix(weights: &[(Complexity, RwSignal<String>)]) -> Option<Value> {
    let typed = weights.iter().filter_map(|(name, text)| Some((name.to_string(), number(&text.read())?)));
    let mix: Map<String, Value> = typed.collect();
    (!mix.is_empty()).then_some(Value::Object(mix))
}

/// The caps as the API has them; `None` if there are none. Time is typed in minutes.
pub fn budget(
    tokens: RwSignal<String>,
    money: RwSignal<String>,
    conversations: RwSignal<String>,
    minutes: RwSignal<String>,
) -> Option<Value> {
    let mut budget = Map::new();
    for (name, text) in [("tokens", tokens), ("money", money), ("conversations", conversations)] {
        put(&mut budget, name, number(&text.read()));
    }
    put(&mut budget, "seconds", seconds(&minutes.read()));
    (!budget.is_empty()).then_some(Value::Object(budget))
}

fn seconds(minutes: &str) -> Option<Value> {
    match minutes.trim().parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and such a cap is none")]
        Ok(minutes) => Some(Value::from((minutes * 60.0).round() as i64)),
        Err(_) => number(minutes),
    }
}

/// What was typed, as a number. What is none goes to the server as it is, which says what is wrong with it.
pub fn number(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let whole = text.parse::<i64>().map(Value::from);
    let number = whole.or_else(|_| text.parse::<f64>().map(Value::from));
    Some(number.unwrap_or_else(|_| Value::from(text)))
}

fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty())
}

fn put(object: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        object.insert(name.to_owned(), value);
    }
}

fn put_names(order: &mut Map<String, Value>, name: &str, names: &BTreeSet<String>) {
    put(order, name, (!names.is_empty()).then(|| names.iter().cloned().collect()));
}

fn put_parts(order: &mut Map<String, Value>, parts: &[Part]) {
    // What is typed for a role stays when it asks no model any more, but is neither shown nor meant.
    let asked = || parts.iter().filter(|part| *part.model.read() != SCRIPTED);
    let of = |value: fn(&Part) -> Option<Value>| -> Option<Value> {
        let named: Map<String, Value> =
            asked().filter_map(|part| Some((part.role.to_string(), value(part)?))).collect();
        (!named.is_empty()).then_some(Value::Object(named))
    };
    put(order, "models", of(|part| Some(Value::from(part.model.get()))));
    put(order, "temperatures", of(|part| number(&part.temperature.read())));
    put(order, "max_tokens", of(|part| number(&part.max_tokens.read())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_becomes_a_number_or_is_left_to_the_server() {
        let read = ["", " 12 ", "0.5", "many"].map(number);
        assert_eq!(read, [None, Some(json!(12)), Some(json!(0.5)), Some(json!("many"))]);
        assert_eq!(["90", "0.5", ""].map(seconds), [Some(json!(5400)), Some(json!(30)), None]);
        assert_eq!(listed("a, b,,c d").collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    }

    #[test]
    fn some_scenarios_are_not_all_even_if_none_is_chosen() {
        Owner::new().with(|| {
            let draft = Draft::new();
            assert_eq!(draft.order().get("scenarios"), None);
            draft.every_scenario.set(false);
            assert_eq!(draft.order()["scenarios"], json!([]));
            draft.scenarios.set(BTreeSet::from(["a".to_owned()]));
            assert_eq!(draft.order()["scenarios"], json!(["a"]));
        });
    }

    #[test]
    fn what_was_typed_for_a_model_is_not_meant_once_a_role_is_scripted() {
        Owner::new().with(|| {
            let draft = Draft::new();
            let part = draft.parts[0];
            part.model.set("house".to_owned());
            part.temperature.set("hot".to_owned());
            assert_eq!(draft.order()["temperatures"], json!({part.role.as_str(): "hot"}));
            part.model.set(SCRIPTED.to_owned());
            assert_eq!(["models", "temperatures"].map(|name| draft.order().get(name).cloned()), [None, None]);
        });
    }
}
