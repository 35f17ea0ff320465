//! From a playbook's files to a playbook that can be played, or to all that stands in the way.

mod agents;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::document;
use domain::limits::too_many;
use domain::playbook::{Playbook as Spec, Simulate, Tool as ToolSpec};
use domain::problem::{Problem, did_you_mean};
use jsonschema::Validator;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::rules::{self, Rules};
use super::{Playbook, Tool, invariant, policy_rule};
use crate::limits::{MOST_PLAYBOOK_TOOLS, MOST_RULES, MOST_VARIANTS};
use crate::templates;
use crate::tools::code::{CompileError, Expression};
use crate::tools::{Code, Pattern};
use crate::world::World;

/// The files of a playbook's folder: name relative to the folder -> text.
pub struct Sources<'a> {
    /// The folder, for messages.
    pub folder: &'a str,
    pub files: &'a BTreeMap<String, String>,
}

/// # Errors
/// Every problem found in any of the files.
pub fn compile(sources: &Sources<'_>) -> Result<Playbook, Vec<Problem>> {
    let name = format!("{}/playbook.yaml", sources.folder);
    let Some(text) = sources.files.get("playbook.yaml") else {
        return Err(vec![Problem::new(name, 0, "", "the file is missing")]);
    };
    let (spec, located) = document::located::<Spec>(&name, text)?;
    let too_many = counts(&spec);
    if !too_many.is_empty() {
        return Err(too_many.into_iter().map(|(at, message)| located.problem(&at, message)).collect());
    }
    let mut compiler = Compiler { sources, located, problems: Vec::new() };
    let playbook = compiler.run(spec);
    match playbook {
        Some(playbook) if compiler.problems.is_empty() => Ok(playbook),
        _ => Err(compiler.problems),
    }
}

/// What there is too much of. Each is compiled, and compared with the others.
fn counts(spec: &Spec) -> Vec<(String, String)> {
    let counts = [
        ("/tools", spec.all_tools().count(), MOST_PLAYBOOK_TOOLS),
        ("/world/invariants", spec.world.invariants.len(), MOST_RULES),
        ("/policy_rules", spec.policy_rules.len(), MOST_RULES),
        ("/variants", spec.variants.len(), MOST_VARIANTS),
    ];
    counts.into_iter().filter_map(|(at, len, most)| too_many(at, len, most)).collect()
}

struct Compiler<'a> {
    sources: &'a Sources<'a>,
    located: document::LocatedValue,
    problems: Vec<Problem>,
}

impl Compiler<'_> {
    fn problem(&mut self, pointer: &str, message: impl Into<String>) {
        self.problems.push(self.located.problem(pointer, message));
    }

    fn run(&mut self, mut spec: Spec) -> Option<Playbook> {
        self.agents(&mut spec);
        let mut templates = templates::environment();
        let policy = self.file("/policy", &spec.policy);
        self.template(&mut templates, "/prompt", &spec.prompt);
        for (i, variant) in spec.variants.iter().enumerate() {
            self.template(&mut templates, &format!("/variants/{i}/prompt"), &variant.prompt);
        }
        let base = World::new(&Value::Object(self.base(&spec)));
        let schema_json = self.yaml("/world/schema", &spec.world.schema).unwrap_or(Value::Bool(true));
        self.collections(&spec, &schema_json);
        let rules = Rules::new(&schema_json).map_err(|e| self.no_schema("/world/schema", &e)).ok();
        let code = self.code(&spec);
        self.unique_names(&spec);
        let hook = self.after_call(&spec, code.as_ref());
        let all = spec.all_tools().enumerate().map(|(i, tool)| (spec.tool_pointer(i), tool));
        let tools: Vec<Tool> =
            all.filter_map(|(at, tool)| self.tool(&at, tool, code.as_ref(), &hook, &mut templates)).collect();
        let playbook = Playbook {
            tools,
            base,
            policy: policy?,
            templates,
            code: code?,
            rules: rules?,
            schema_json,
            spec,
            instructions: Mutex::default(),
        };
        if self.problems.is_empty() {
            self.prompts(&playbook);
        }
        Some(playbook)
    }

    /// What the playbook's hook may write.
    fn after_call(&mut self, spec: &Spec, code: Option<&Code>) -> Vec<Pattern> {
        let Some(hook) = &spec.after_call else { return Vec::new() };
        if code.is_some_and(|code| !code.has(&hook.function)) {
            self.problem("/after_call/function", format!("no function `{}` in the playbook's code", hook.function));
        }
        let mut patterns = Vec::new();
        for (i, text) in hook.writes.iter().enumerate() {
            match Pattern::parse(text) {
                Ok(pattern) if pattern.arguments().next().is_none() => patterns.push(pattern),
                Ok(_) => self.problem(&format!("/after_call/writes/{i}"), "a hook has no arguments to name a place by"),
                Err(e) => self.problem(&format!("/after_call/writes/{i}"), e),
            }
        }
        patterns
    }

    /// An invariant over a collection that cannot be there would hold whatever happens.
    fn collections(&mut self, spec: &Spec, schema: &Value) {
        let Some(parts) = schema["properties"].as_object().filter(|_| schema["additionalProperties"] == false) else {
            return;
        };
        for (i, rule) in spec.world.invariants.iter().enumerate() {
            let part = rule.each.as_ref().and_then(|each| each.split('/').next());
            if let Some(name) = part.filter(|name| !parts.contains_key(*name)) {
                let hint = did_you_mean(name, parts.keys().map(String::as_str));
                self.problem(&format!("/world/invariants/{i}/each"), format!("the world has no `{name}`{hint}"));
            }
        }
    }

    fn unique_names(&mut self, spec: &Spec) {
        let mut known = BTreeSet::new();
        for (i, tool) in spec.all_tools().enumerate() {
            if !known.insert(&tool.name) {
                let at = format!("{}/name", spec.tool_pointer(i));
                self.problem(&at, format!("tool `{}` is defined twice", tool.name));
            }
        }
    }

    fn file(&mut self, pointer: &str, name: &str) -> Option<String> {
        if let Some(text) = self.sources.files.get(name) {
            return Some(text.clone());
        }
        let hint = did_you_mean(name, self.sources.files.keys().map(String::as_str));
        self.problem(pointer, format!("no file `{name}` in {}{hint}", self.sources.folder));
        None
    }

    fn template(&mut self, env: &mut minijinja::Environment<'static>, pointer: &str, name: &str) {
        let Some(text) = self.file(pointer, name) else { return };
        if let Err(e) = templates::add(env, name, &text) {
            self.in_template(pointer, name, &format!("is not a valid template: {e}"));
        }
    }

    /// At the template's own line; where that is not known, at the field that names it.
    fn in_template(&mut self, pointer: &str, name: &str, why: &str) {
        match templates::place(why).filter(|(file, _)| self.sources.files.contains_key(*file)) {
            Some((file, line)) => {
                self.problems.push(Problem::new(format!("{}/{file}", self.sources.folder), line, "", why));
            }
            None => self.problem(pointer, format!("`{name}` {why}")),
        }
    }

    fn yaml(&mut self, pointer: &str, name: &str) -> Option<Value> {
        let text = self.file(pointer, name)?;
        match document::value(&format!("{}/{name}", self.sources.folder), &text) {
            Ok(located) => Some(located.value),
            Err(problems) => {
                self.problems.extend(problems);
                None
            }
        }
    }

    fn base(&mut self, spec: &Spec) -> Map<String, Value> {
        match spec.world.base.as_ref().and_then(|name| self.yaml("/world/base", name)) {
            Some(Value::Object(map)) => map,
            Some(_) => {
                self.problem("/world/base", "the base world is not a map of collections");
                Map::new()
            }
            None => Map::new(),
        }
    }

    fn schema(&mut self, pointer: &str, schema: &Value) -> Option<Validator> {
        super::schema::build(schema).map_err(|e| self.no_schema(pointer, &e)).ok()
    }

    fn no_schema(&mut self, pointer: &str, reason: &impl std::fmt::Display) {
        self.problem(pointer, format!("is not a valid JSON Schema: {reason}"));
    }

    /// Tool functions, invariants and rules of the policy share one module, so that all may use the author's helpers.
    fn code(&mut self, spec: &Spec) -> Option<Code> {
        let (file, text) = match &spec.code {
            Some(name) => (format!("{}/{name}", self.sources.folder), self.file("/code", name)?),
            None => (self.sources.folder.to_owned(), String::new()),
        };
        let invariants = &spec.world.invariants;
        let names: Vec<String> = (0..invariants.len()).map(invariant).collect();
        let rule_names: Vec<String> = (0..spec.policy_rules.len()).map(policy_rule).collect();
        let expressions = invariants.iter().zip(&names).map(|(rule, name)| rules::expression(rule, name));
        let policy = spec.policy_rules.iter().zip(&rule_names).map(|(rule, name)| Expression {
            name,
            sees: &["world", "before", "log"],
            text: &rule.holds,
        });
        let expressions: Vec<Expression<'_>> = expressions.chain(policy).collect();
        match Code::compile(&file, text, &expressions) {
            Ok(code) => Some(code),
            Err(CompileError::File(fault)) => {
                self.problems.push(Problem::new(file, fault.line.unwrap_or(0), "", fault.message));
                None
            }
            Err(CompileError::Expressions(faults)) => {
                for (i, fault) in faults {
                    let at = match i.checked_sub(invariants.len()) {
                        None => format!("/world/invariants/{i}/holds"),
                        Some(i) => format!("/policy_rules/{i}/holds"),
                    };
                    let line = fault.line.filter(|line| *line > 1).map(|line| format!("line {line} of it: "));
                    self.problem(&at, format!("{}{}", line.unwrap_or_default(), fault.message));
                }
                None
            }
        }
    }

    fn tool(
        &mut self,
        place: &str,
        spec: &ToolSpec,
        code: Option<&Code>,
        hook: &[Pattern],
        env: &mut minijinja::Environment<'static>,
    ) -> Option<Tool> {
        let at = |field: &str| format!("{place}/{field}");
        if spec.parameters.get("type") != Some(&json!("object")) {
            self.problem(&at("parameters"), "expected a JSON Schema with `type: object`");
        }
        self.needs(place, spec);
        if spec.simulate == Simulate::Code && code.is_some_and(|c| !c.has(&spec.name)) {
            self.problem(&at("simulate"), format!("no function `{}` in the playbook's code", spec.name));
        }
        for (field, template) in [
            ("template", &spec.template),
            ("scripted", &spec.scripted),
            ("scripted_patch", &spec.scripted_patch),
            ("prompt", &spec.prompt),
        ] {
            if let Some(name) = template {
                self.template(env, &at(field), name);
            }
        }
        let arguments = Arguments::new(&spec.parameters, spec.simulate == Simulate::Code)
            .map_err(|e| self.no_schema(&at("parameters"), &e))
            .ok();
        let returns = match &spec.returns {
            Some(schema) => Some(self.schema(&at("returns"), schema)?),
            None => None,
        };
        let properties =
            || spec.parameters.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let names: Vec<String> =
            arguments.as_ref().map_or_else(|| properties().cloned().collect(), |own| own.names().to_vec());
        let mut writes = self.patterns(&at("writes"), &spec.writes, spec, &names);
        if spec.simulate == Simulate::Code {
            writes.extend(hook.iter().cloned());
        }
        let reads = self.patterns(&at("reads"), &spec.reads, spec, &names);
        let function = Arc::new(spec.function());
        Some(Tool { spec: spec.clone(), writes, reads, function, arguments: arguments?, returns })
    }

    /// Each kind of simulation has fields it needs and fields that mean nothing to it.
    fn needs(&mut self, place: &str, spec: &ToolSpec) {
        let fields = [
            ("template", spec.template.is_some()),
            ("returns", spec.returns.is_some()),
            ("scripted", spec.scripted.is_some()),
            ("scripted_patch", spec.scripted_patch.is_some()),
            ("response", spec.response.is_some()),
            ("reads", !spec.reads.is_empty()),
            ("writes", !spec.writes.is_empty()),
            ("id_prefix", spec.id_prefix.is_some()),
            ("prompt", spec.prompt.is_some()),
            ("uses", !spec.uses.is_empty()),
            ("service", spec.service.is_some()),
            ("service_tool", spec.service_tool.is_some()),
        ];
        for (field, present) in fields {
            if !present && spec.simulate.needs().contains(&field) {
                self.problem(place, format!("field `{field}` is missing: `simulate` needs it here"));
            }
            if present && !spec.simulate.allows(field) {
                self.problem(&format!("{place}/{field}"), "has no meaning for this kind of `simulate`");
            }
        }
    }

    /// `names`: of the tool's arguments.
    fn patterns(&mut self, pointer: &str, texts: &[String], spec: &ToolSpec, names: &[String]) -> Vec<Pattern> {
        let mut patterns = Vec::new();
        for (j, text) in texts.iter().enumerate() {
            let at = format!("{pointer}/{j}");
            match Pattern::parse(text) {
                Ok(pattern) => {
                    for name in pattern.arguments().filter(|name| names.iter().all(|known| known != name)) {
                        let hint = did_you_mean(name, names.iter().map(String::as_str));
                        self.problem(&at, format!("`{{{name}}}` is no argument of `{}`{hint}", spec.name));
                    }
                    patterns.push(pattern);
                }
                Err(e) => self.problem(&at, e),
            }
        }
        patterns
    }
}
