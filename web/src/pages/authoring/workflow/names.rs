//! The names that the author of a workflow can write, and the places for them.

use std::collections::BTreeSet;

use domain::patch;
use serde_json::Value;

use crate::pages::authoring::draft_storage::Texts;
use ui::components::CodeLanguage::{Expression, Template};
use ui::components::{Completion, Completions};

const COLUMN_TYPES: [&str; 8] = ["text", "number", "integer", "boolean", "object", "any", "list<text>", "text?"];
const SCHEMA_TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
const FUNCTIONS: &str = "functions.star";
/// The item of a map that gives it no name.
const ITEM: &str = "item";

/// `path`: of the file that is written. The document may be half written, so nothing that it needs has to be there.
pub fn names(document: &Value, path: &str, files: &Texts) -> Vec<Completions> {
    let mut reader = Reader { file: in_folder(path), ..Reader::default() };
    let inputs = options(keys(&document["input"]), "input");
    let steps = reader.list(&document["steps"], "/steps", &inputs);
    reader.offer("/steps/**", &inputs);
    reader.offer("/output/**", &[inputs.as_slice(), steps.as_slice()].concat());
    let row = row_names(document);
    for pointer in ["/metrics/*/value", "/messages", "/pairs"] {
        reader.offer(pointer, &row);
    }
    let Reader { mut found, in_template, roles, ends, indexes, .. } = reader;
    found.push(Completions { pointer: String::new(), languages: vec![Template], options: distinct(in_template) });

    let functions = options(functions(files), "function");
    found.push(Completions { pointer: "/**".to_owned(), languages: vec![Expression], options: functions.clone() });
    let with_ending = |endings: &[&str]| {
        let is_one = |file: &&str| file.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending));
        options(files.keys().map(|path| in_folder(path)).filter(is_one), "file")
    };
    let values: [(&[&str], Vec<Completion>); 8] = [
        (&["/input/*/**"], options(COLUMN_TYPES, "type")),
        (&["/steps/**/returns/**/type", "/steps/**/parameters/**/type"], options(SCHEMA_TYPES, "type")),
        (
            &[
                "/steps/**/ask/role",
                "/steps/**/ask/roles/*",
                "/steps/**/embed/role",
                "/steps/**/rerank/role",
                "/steps/**/converse/roles/*",
            ],
            options(roles, "role"),
        ),
        (&["/steps/**/search/index"], options(indexes, "index")),
        (&["/steps/**/end/as", "/samples/*/ends"], options(ends, "end")),
        (&["/stand_ins/*", "/steps/**/ask/tools/*/code"], functions),
        (&["/steps/**/ask/system", "/steps/**/ask/prompt"], with_ending(&["j2", "md", "txt"])),
        (
            &["/steps/**/ask/returns", "/steps/**/ask/tools/*/parameters", "/steps/**/tool/returns"],
            with_ending(&["json"]),
        ),
    ];
    for (pointers, options) in values {
        found.extend(pointers.iter().map(|pointer| whole(pointer, options.clone())));
    }
    found.retain(|one| !one.options.is_empty());
    found
}

#[derive(Default)]
struct Reader<'a> {
    /// A template sees what the steps that use it see.
    file: &'a str,
    in_template: Vec<Completion>,
    found: Vec<Completions>,
    roles: BTreeSet<&'a str>,
    ends: BTreeSet<&'a str>,
    indexes: BTreeSet<&'a str>,
}

impl<'a> Reader<'a> {
    /// Reads a list of steps and gives their names. `around`: the names that are visible around it.
    fn list(&mut self, steps: &'a Value, pointer: &str, around: &[Completion]) -> Vec<Completion> {
        let mut above: Vec<Completion> = Vec::new();
        for (name, step) in fields(steps) {
            let at = patch::join(pointer, name);
            // A step may name those below it, too, unless they wait for it; authors write them in order.
            self.offer(&format!("{at}/**"), &above);
            self.step(step, &at, &[around, above.as_slice()].concat());
            // An end has no value.
            if step.get("end").is_none() {
                let info = step["description"].as_str().map(str::to_owned);
                above.push(Completion { info, ..option(name, "step") });
            }
        }
        above
    }

    fn step(&mut self, step: &'a Value, at: &str, visible: &[Completion]) {
        let ask = &step["ask"];
        if [&ask["system"], &ask["prompt"]].into_iter().any(|text| text.as_str() == Some(self.file)) {
            self.in_template.extend_from_slice(visible);
        }
        if ask["roles"].is_array() {
            self.found.push(whole(&format!("{at}/ask/role"), visible.to_vec()));
        }
        self.roles.extend(roles(step));
        self.ends.extend(step["end"]["as"].as_str());
        self.indexes.extend(step["search"]["index"].as_str());

        let item = step.get("map").map(|_| option(step["as"].as_str().unwrap_or(ITEM), "item"));
        let state = options(keys(&step["state"]), "state");
        let own: Vec<Completion> = item.into_iter().chain(state.iter().cloned()).collect();
        let steps = self.list(&step["steps"], &format!("{at}/steps"), &[visible, own.as_slice()].concat());
        let inside = [own.as_slice(), steps.as_slice()].concat();
        self.offer(&format!("{at}/steps/**"), &own);
        self.offer(&format!("{at}/next/**"), &inside);
        self.offer(&format!("{at}/yields/**"), &inside);
        // The steps belong to the round before.
        self.offer(&format!("{at}/loop/until"), &state);
    }

    /// Names that expressions and templates at some places can use, besides those that are offered around these places.
    fn offer(&mut self, pointer: &str, names: &[Completion]) {
        let languages = vec![Expression, Template];
        self.found.push(Completions { pointer: pointer.to_owned(), languages, options: names.to_vec() });
    }
}

/// The roles that a step asks.
fn roles(step: &Value) -> impl Iterator<Item = &str> {
    let ask = &step["ask"];
    // With `roles`, `role` is an expression.
    let role = (!ask["roles"].is_array()).then_some(&ask["role"]);
    let listed = ask["roles"].as_array().into_iter().flatten();
    let players = fields(&step["converse"]["roles"]).map(|(_, role)| role);
    let encoders = [&step["embed"]["role"], &step["rerank"]["role"]];
    role.into_iter().chain(listed).chain(players).chain(encoders).filter_map(Value::as_str)
}

/// What expressions over a finished row can name.
fn row_names(document: &Value) -> Vec<Completion> {
    let of = |name: &str| {
        let within = options(keys(&document[name]), name).into_iter();
        let within = within.map(|field| Completion { label: format!("{name}.{}", field.label), ..field });
        std::iter::once(option(name, "row")).chain(within).collect::<Vec<_>>()
    };
    [of("input"), of("output")].concat()
}

fn functions(files: &Texts) -> impl Iterator<Item = &str> {
    let text = files.iter().find(|(path, _)| in_folder(path) == FUNCTIONS).map_or("", |(_, text)| text.as_str());
    text.lines().filter_map(|line| Some(line.strip_prefix("def ")?.split_once('(')?.0.trim()))
}

/// `workflows/NAME/a.md` as the document names it.
fn in_folder(path: &str) -> &str {
    path.splitn(3, '/').nth(2).unwrap_or(path)
}

fn fields(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

fn keys(value: &Value) -> impl Iterator<Item = &str> {
    fields(value).map(|(name, _)| name)
}

fn whole(pointer: &str, options: Vec<Completion>) -> Completions {
    Completions { pointer: pointer.to_owned(), options, ..Completions::default() }
}

fn options<'a>(labels: impl IntoIterator<Item = &'a str>, detail: &str) -> Vec<Completion> {
    labels.into_iter().map(|label| option(label, detail)).collect()
}

fn option(label: &str, detail: &str) -> Completion {
    Completion { label: label.to_owned(), detail: Some(detail.to_owned()), ..Completion::default() }
}

fn distinct(mut options: Vec<Completion>) -> Vec<Completion> {
    let mut seen = BTreeSet::new();
    options.retain(|option| seen.insert(option.label.clone()));
    options
}

#[cfg(test)]
mod tests {
    use domain::document;
    use domain::workflow::Workflow;

    use super::*;

    const DOCUMENT: &str = "
workflow: check
input:
  prompt: text
  answer: text?
steps:
  claims: {ask: {role: extractor, prompt: claims.md.j2}}
  checked:
    map: claims
    as: claim
    steps:
      docs: {search: {index: wiki, query: claim}}
      verdict: {description: Whether it holds, ask: {role: speaker, roles: [judge, critic], prompt: verify.md.j2}}
    yields: verdict
  none: {end: {when: len(checked) == 0, as: no_claims}}
  talk:
    loop: {max: 3, until: agreed}
    state: {agreed: false}
    steps:
      turn: {call: {workflow: other, with: {}}}
  late:
output: {response: claims}
";

    fn found(path: &str) -> Vec<Completions> {
        let functions = "def best_of(docs):\n    return docs\n\ndef say(request):\n    return 1\n";
        let files = [("workflow.yaml", DOCUMENT), ("verify.md.j2", ""), ("ids.json", ""), (FUNCTIONS, functions)];
        let files = files.map(|(name, text)| (format!("workflows/check/{name}"), text.to_owned()));
        let files = Texts::from(files);
        names(&document::value("workflow.yaml", DOCUMENT).unwrap().value, path, &files)
    }

    fn labels(of: &Completions) -> String {
        of.options.iter().map(|option| option.label.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// What is offered at exactly this pattern.
    fn at(pointer: &str, is_code: bool) -> String {
        let found = found("workflows/check/workflow.yaml");
        let here = found.iter().filter(|one| one.pointer == pointer && one.languages.is_empty() != is_code);
        here.map(labels).collect::<Vec<_>>().join(" + ")
    }

    #[test]
    fn expressions_see_inputs_and_the_steps_above_them() {
        for (pointer, expected) in [
            ("/steps/**", "prompt answer"),
            ("/steps/claims/**", ""),
            ("/steps/checked/**", "claims"),
            ("/steps/talk/**", "claims checked"),
            ("/steps/late/**", "claims checked talk"),
            ("/output/**", "prompt answer claims checked talk late"),
            ("/**", "best_of say"),
        ] {
            assert_eq!(at(pointer, true), expected, "{pointer}");
        }
    }

    #[test]
    fn what_a_map_or_loop_gives_is_seen_within_it() {
        for (pointer, expected) in [
            ("/steps/checked/steps/**", "claim"),
            ("/steps/checked/steps/verdict/**", "docs"),
            ("/steps/checked/yields/**", "claim docs verdict"),
            ("/steps/talk/steps/**", "agreed"),
            ("/steps/talk/next/**", "agreed turn"),
            ("/steps/talk/loop/until", "agreed"),
        ] {
            assert_eq!(at(pointer, true), expected, "{pointer}");
        }
    }

    #[test]
    fn figures_see_the_row() {
        assert_eq!(at("/metrics/*/value", true), "input input.prompt input.answer output output.response");
    }

    #[test]
    fn what_the_document_and_its_folder_name_is_offered_where_it_is_named() {
        for (pointer, expected) in [
            ("/steps/**/ask/role", "critic extractor judge"),
            ("/steps/checked/steps/verdict/ask/role", "prompt answer claims claim docs"),
            ("/steps/**/search/index", "wiki"),
            ("/steps/**/end/as", "no_claims"),
            ("/samples/*/ends", "no_claims"),
            ("/stand_ins/*", "best_of say"),
            ("/steps/**/ask/prompt", "verify.md.j2"),
            ("/steps/**/ask/returns", "ids.json"),
            ("/input/*/**", "text number integer boolean object any list<text> text?"),
        ] {
            assert_eq!(at(pointer, false), expected, "{pointer}");
        }
    }

    #[test]
    fn a_template_sees_what_the_step_that_uses_it_sees() {
        let seen = |file: &str| {
            let found = found(&format!("workflows/check/{file}"));
            found.iter().find(|one| one.pointer.is_empty()).map(labels)
        };
        assert_eq!(seen("verify.md.j2").as_deref(), Some("prompt answer claims claim docs"));
        assert_eq!(seen("claims.md.j2").as_deref(), Some("prompt answer"));
        assert_eq!(seen("workflow.yaml"), None);
    }

    #[test]
    fn a_step_is_explained_by_its_description() {
        let found = found("workflows/check/workflow.yaml");
        let yields = found.iter().find(|one| one.pointer == "/steps/checked/yields/**").unwrap();
        let verdict = yields.options.last().unwrap();
        assert_eq!((verdict.detail.as_deref(), verdict.info.as_deref()), (Some("step"), Some("Whether it holds")));
    }

    #[test]
    fn a_document_that_is_hardly_begun_can_be_read() {
        for text in ["", "steps:", "steps: [a]", "input: 1\nsteps: {a: null, b: {ask: null, map: 1, steps: c}}"] {
            let read = document::value("workflow.yaml", text).unwrap().value;
            assert!(!names(&read, "workflows/check/workflow.yaml", &Texts::new()).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_schema_names_languages_as_the_editor_does() {
        let schema = document::schema::<Workflow>();
        let language = |kind: &str, field: &str| schema["$defs"][kind]["properties"][field]["x-language"].clone();
        assert_eq!(language("Step", "when"), serde_json::to_value(Expression).unwrap());
        assert_eq!(language("Call", "with"), serde_json::to_value(Expression).unwrap());
        assert_eq!(language("Ask", "prompt"), serde_json::to_value(Template).unwrap());
        assert!(language("Ask", "role").is_null());
    }
}
