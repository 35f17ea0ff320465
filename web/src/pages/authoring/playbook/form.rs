//! A tool as a form. What it changes is written into the source, and the rest of the source stays as it is.

mod argument;
mod arguments;

use std::collections::BTreeMap;

use domain::document;
use domain::playbook::Simulate;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Map, Value, json};

use super::by;
use crate::pages::authoring::{draft::Draft, edit, validator};
use arguments::{Arguments, Rows};
use ui::components::{FormError, FormField, explain};

const SIMULATED: [Simulate; 6] =
    [Simulate::Code, Simulate::Model, Simulate::Constant, Simulate::Agent, Simulate::Service, Simulate::Terminal];

/// Fields with a text.
const TEXTS: [&str; 10] = [
    "name",
    "description",
    "simulate",
    "template",
    "scripted",
    "scripted_patch",
    "id_prefix",
    "prompt",
    "service",
    "service_tool",
];
/// Fields that every tool has.
const OF_ALL: [&str; 3] = ["name", "description", "simulate"];
/// Fields with patterns, or names: one a line.
const LISTS: [&str; 3] = ["writes", "reads", "uses"];

/// What the form holds of a tool.
#[derive(Clone, Copy)]
struct Form {
    /// As it stands in the source.
    tool: StoredValue<Value>,
    /// What is typed for each field of one text.
    typed: StoredValue<BTreeMap<&'static str, RwSignal<String>>>,
    arguments: Rows,
    returns: Rows,
}

impl Form {
    fn of(tool: Value) -> Self {
        let text = |field: &'static str| (field, tool[field].as_str().unwrap_or_default().trim().to_owned());
        let list = |field: &'static str| {
            let lines = tool[field].as_array().into_iter().flatten().filter_map(Value::as_str);
            (field, lines.collect::<Vec<_>>().join("\n"))
        };
        let response = tool.get("response").map_or_else(String::new, |response| format!("{response:#}"));
        let fields = TEXTS.into_iter().map(text).chain(LISTS.into_iter().map(list)).chain([("response", response)]);
        Self {
            typed: StoredValue::new(fields.map(|(field, text)| (field, RwSignal::new(text))).collect()),
            arguments: Rows::of(&tool["parameters"]),
            returns: Rows::of(&tool["returns"]),
            tool: StoredValue::new(tool),
        }
    }

    fn field(self, name: &str) -> RwSignal<String> {
        self.typed.with_value(|typed| typed[name])
    }

    fn simulate(self) -> Option<Simulate> {
        serde_json::from_value(json!(*self.field("simulate").read())).ok()
    }

    /// Whether a field means something to what answers the calls.
    fn allows(self, field: &'static str) -> impl Fn() -> bool + Copy + Send + Sync {
        move || self.simulate().is_none_or(|simulate| simulate.allows(field))
    }

    /// The tool as the form says it is. What is the same stays as it was read; what is empty is not written.
    fn value(self) -> Result<Value, String> {
        let before = self.tool.get_value();
        let mut tool = before.as_object().cloned().unwrap_or_default();
        for field in TEXTS {
            let text = self.field(field).get_untracked().trim().to_owned();
            if before[field].as_str().unwrap_or_default().trim() != text {
                argument::put(&mut tool, field, (!text.is_empty()).then(|| text.into()));
            }
        }
        for field in LISTS {
            let text = self.field(field).get_untracked();
            let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            if before.get(field).is_some() || !lines.is_empty() {
                tool.insert(field.to_owned(), json!(lines));
            }
        }
        for (field, rows) in [("parameters", self.arguments), ("returns", self.returns)] {
            let rows = rows.arguments();
            if let Some(problem) = argument::problem(&rows) {
                return Err(problem);
            }
            if before.get(field).is_some() || !rows.is_empty() {
                tool.insert(field.to_owned(), argument::write(&before[field], &rows));
            }
        }
        argument::put(&mut tool, "response", self.response()?);
        if let Some(simulate) = untrack(|| self.simulate()) {
            let some = LISTS.into_iter().chain(TEXTS).chain(["returns", "response"]);
            let of_others = |field: &&str| !OF_ALL.contains(field) && !simulate.allows(field);
            some.filter(of_others).for_each(|field| argument::put(&mut tool, field, None));
        }
        Ok(Value::Object(tool))
    }

    fn response(self) -> Result<Option<Value>, String> {
        let text = self.field("response").get_untracked();
        if text.trim().is_empty() || !untrack(self.allows("response")) {
            return Ok(None);
        }
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|e| format!("The answer is not JSON: {e}. Put quotes around a text."))
    }
}

/// As the source writes it.
fn key(simulate: Simulate) -> String {
    json!(simulate).as_str().unwrap_or_default().to_owned()
}

/// Where a tool stands by now, which stood at a pointer when it was read: others may have been added or taken out.
pub fn place(main: &Value, pointer: &str, name: &Value) -> Option<String> {
    let is = |pointer: &str| main.pointer(pointer).is_some_and(|tool| tool["name"] == *name);
    let list = pointer.rsplit_once('/')?.0;
    let all = 0..main.pointer(list)?.as_array()?.len();
    std::iter::once(pointer.to_owned()).chain(all.map(|at| format!("{list}/{at}"))).find(|pointer| is(pointer))
}

/// Writes what a form says over a tool; the tool's name.
async fn write(draft: Draft, main: Memo<(String, String)>, pointer: &str, form: Form) -> Result<String, String> {
    let before = main.get_untracked();
    let (path, text) = before.clone();
    let tool = form.value()?;
    let read = document::value(&path, &text).map_err(|_| "The source cannot be read.")?;
    let pointer = place(&read.value, pointer, &form.tool.with_value(|tool| tool["name"].clone()))
        .ok_or("The source no longer has this tool.")?;
    let changed = edit::change(&text, &pointer, &form.tool.get_value(), &tool)
        .ok_or("This tool can be changed only in the source.")?;
    let read = validator::playbook(path.clone(), changed.clone()).await.map_err(explain)?;
    read.map_err(|problems| problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join(" "))?;
    if main.try_get_untracked() != Some(before) {
        return Err("The source was changed meanwhile. Try again.".to_owned());
    }
    draft.write(&path, changed);
    Ok(tool["name"].as_str().unwrap_or_default().to_owned())
}

/// A new tool, under a name that is free; it is not complete before its author has said what it does.
pub fn add(draft: Draft, taken: &[String]) -> Result<String, String> {
    let (path, text) = draft.main().get_untracked();
    let numbered = (2..).map(|n| format!("new_tool_{n}"));
    let name = std::iter::once("new_tool".to_owned()).chain(numbered).find(|name| !taken.contains(name));
    let name = name.unwrap_or_default();
    let parameters = argument::write(&Value::Null, &[]);
    let tool = json!({"name": name, "description": "What it does.", "simulate": "code", "parameters": parameters});
    let changed = match document::append(&text, "/tools", &json!([tool])) {
        Ok(changed) => changed,
        // A list that nobody has begun.
        Err(why) => {
            let fields = Map::from_iter([("tools".to_owned(), json!([tool]))]);
            document::append(&text, "", &Value::Object(fields)).map_err(|_| why)?
        }
    };
    draft.write(&path, changed);
    Ok(name)
}

#[component]
pub fn ToolForm(
    /// Of the tool in the source.
    pointer: String,
    /// Called with the tool's name when it is written; with nothing if it stays as it was.
    done: Callback<Option<String>>,
) -> impl IntoView {
    let draft = Draft::here();
    let main = draft.main();
    let (path, text) = main.get_untracked();
    let tool = document::value(&path, &text).ok().and_then(|read| read.value.pointer(&pointer).cloned());
    let form = Form::of(tool.unwrap_or_default());
    let why = RwSignal::new(None);
    let send = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let pointer = pointer.clone();
        spawn_local(async move {
            match write(draft, main, &pointer, form).await {
                Ok(name) => drop(done.try_run(Some(name))),
                Err(problem) => drop(why.try_set(Some(problem))),
            }
        });
    };
    let simulate = form.field("simulate");
    let option = move |of: Simulate| {
        let key = key(of);
        let (value, selected) = (key.clone(), move || *simulate.read() == key);
        view! {
            <option value=value selected=selected>
                {by(of).1}
            </option>
        }
    };
    let is_agent = move || form.simulate() == Some(Simulate::Agent);
    view! {
        <form class="tool-form" on:submit=send>
            <FormError why />
            <FormField
                label="Name"
                hint="If you change it, change it also where code, scenarios and sub-agents name it: see the problems \
                      below the source."
            >
                <input autocomplete="off" autocapitalize="none" spellcheck="false" bind:value=form.field("name") />
            </FormField>
            <FormField label="Description" hint="The agent reads it.">
                <textarea rows="3" bind:value=form.field("description")></textarea>
            </FormField>
            <FormField label="Answered by">
                <select on:change:target=move |event| simulate.set(event.target().value())>
                    {SIMULATED.map(option).collect_view()}
                </select>
            </FormField>
            <Show when=move || !is_agent()>
                <Arguments rows=form.arguments heading="Arguments" one="argument" />
            </Show>
            <Show when=form.allows("returns")>
                <Arguments rows=form.returns heading="Answer" one="field" />
            </Show>
            {OTHERS.map(|field| view! { <TextInput form field /> }).collect_view()}
            <div class="actions">
                <button type="submit" class="main">
                    "Write into the source"
                </button>
                <button type="button" on:click=move |_| done.run(None)>
                    "Cancel"
                </button>
            </div>
        </form>
    }
}

/// A field that only some kinds of tools have.
#[derive(Clone, Copy)]
struct Field {
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    /// 0: a line.
    rows: u8,
}

const fn field(name: &'static str, label: &'static str, hint: &'static str, rows: u8) -> Field {
    Field { name, label, hint, rows }
}

const PLACES: &str = "Places in the world, one a line: /orders/* is any order, /orders/+ a new one, {order_id} the value of that argument.";

const OTHERS: [Field; 11] = [
    field("response", "Always the answer", "As JSON: put quotes around a text.", 4),
    field("writes", "May write", PLACES, 2),
    field("reads", "Sees", PLACES, 2),
    field("template", "Template", "The Jinja file of the playbook that tells the model how this tool behaves.", 0),
    field("scripted", "Scripted answer", "The Jinja file that renders a true answer without a model, as JSON.", 0),
    field(
        "scripted_patch",
        "Scripted change",
        "The Jinja file that renders what such an answer changes, as a JSON patch.",
        0,
    ),
    field("id_prefix", "Ids begin with", "Prefix of the ids of new records; default: the name of the tool.", 0),
    field("prompt", "Prompt", "The Jinja file of the playbook with the sub-agent's system prompt.", 0),
    field("uses", "May call", "Names of tools, one a line.", 3),
    field("service", "Service", "The name under which an administrator registered it.", 0),
    field("service_tool", "Name there", "The service's own name of the tool; default: the same name.", 0),
];

#[component]
fn TextInput(form: Form, field: Field) -> impl IntoView {
    let typed = form.field(field.name);
    let input = move || match field.rows {
        0 => {
            view! { <input autocomplete="off" autocapitalize="none" spellcheck="false" bind:value=typed /> }.into_any()
        }
        rows => view! { <textarea rows=rows spellcheck="false" bind:value=typed></textarea> }.into_any(),
    };
    view! {
        <Show when=form.allows(field.name)>
            <FormField label=field.label hint=field.hint>
                {input()}
            </FormField>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_taken_out_is_not_written() {
        let owner = Owner::new();
        owner.set();
        let tool =
            json!({"name": "hours", "description": "Says them.", "simulate": "constant", "response": {"open": 9}});
        let form = Form::of(tool.clone());
        assert_eq!(form.value().unwrap(), tool);
        form.field("response").set(" ".to_owned());
        assert_eq!(form.value().unwrap().get("response"), None);
        form.field("response").set("{".to_owned());
        assert!(form.value().unwrap_err().starts_with("The answer is not JSON"));
    }

    #[test]
    fn a_tool_is_found_where_it_stands_now() {
        let main = json!({"tools": [{"name": "a"}, {"name": "b"}, {"name": "b"}], "user_tools": [{"name": "c"}]});
        assert_eq!(place(&main, "/tools/0", &json!("b")).unwrap(), "/tools/1");
        assert_eq!(place(&main, "/tools/2", &json!("b")).unwrap(), "/tools/2");
        assert_eq!(place(&main, "/tools/7", &json!("a")).unwrap(), "/tools/0");
        assert_eq!(place(&main, "/tools/0", &json!("c")), None);
    }
}
