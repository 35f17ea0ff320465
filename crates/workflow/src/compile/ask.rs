//! Steps that ask a model.

use std::path::Path;
use std::sync::Arc;

use domain::document;
use domain::problem::{did_you_mean, listed};
use domain::role::RoleId;
use domain::workflow::{Ask, Split as SplitSpec, Tool};
use engine::playbook::schema;
use serde_json::{Value, json};

use super::{Compiler, FUNCTIONS};
use crate::choices::Choices;
use crate::limits::{MOST_TOOLS, USUAL_ITEMS, USUAL_ROUNDS, USUAL_TEMPERATURE, USUAL_TOKENS};
use crate::plan::{self, Prompt, Ref, ReplyShape, RoleOf, ToolAction, Workflow};
use crate::split::Split;
use crate::types::Type;

impl Compiler<'_> {
    pub fn ask(&mut self, ask: &Ask, at: &str, guards: &[String]) -> Option<(plan::Ask, Type)> {
        let mut context = Vec::new();
        let role = self.role(ask, at, guards);
        let system =
            ask.system.as_ref().and_then(|text| self.template(text, &format!("{at}/system"), guards, &mut context));
        let prompt = self.prompt(ask, at, guards, &mut context)?;
        let (schema, replied) = self.returns(ask, at);
        let split = ask.split.as_ref().and_then(|spec| {
            let split = Split::compile(spec);
            let problem = split.as_ref().err().map(|message| format!("the pattern {message}"));
            problem.into_iter().for_each(|message| self.problem(&format!("{at}/split"), message));
            split.ok()
        });
        let choices = self.choices(ask, at);
        self.check_ask(ask, at);
        let tools = ask.tools.iter().filter_map(|(name, tool)| self.tool(name, tool, at)).collect();
        let one = match &ask.split {
            Some(SplitSpec::JsonItems) if ask.returns.is_null() => Type::stream(Type::Any),
            Some(_) => Type::stream(replied),
            None => replied,
        };
        let one = if ask.tools.is_empty() {
            one
        } else {
            let fields = [("answer", one), ("messages", Type::list(Type::Any))];
            Type::Record(fields.map(|(key, of)| (key.to_owned(), of)).into())
        };
        let (otherwise, one) = self.otherwise(ask.otherwise.as_ref(), one, at, guards);
        let of = if ask.n.is_some() { Type::list(one) } else { one };
        let ask = plan::Ask {
            role,
            system,
            prompt,
            schema,
            choices,
            split,
            most: ask.most.map_or(USUAL_ITEMS, |most| most as usize),
            n: ask.n,
            temperature: ask.temperature.unwrap_or(USUAL_TEMPERATURE),
            max_tokens: ask.max_tokens.unwrap_or(USUAL_TOKENS),
            repairs: ask.repairs.unwrap_or(1),
            otherwise,
            tools,
            rounds: ask.rounds.unwrap_or(USUAL_ROUNDS),
            context,
        };
        Some((ask, of))
    }

    fn role(&mut self, ask: &Ask, at: &str, guards: &[String]) -> RoleOf {
        if ask.roles.is_empty() {
            let hint = "; for an expression, list what it may give in `roles`";
            return RoleOf::One(self.role_named(&ask.role, hint, &format!("{at}/role")));
        }
        let (role, of) = self.expression(&ask.role, &format!("{at}/role"), guards);
        if !of.fits(&Type::Text) {
            self.problem(&format!("{at}/role"), format!("is a {of}; the name of a role is expected"));
        }
        RoleOf::OneOf(role, ask.roles.clone())
    }

    /// The role that is named somewhere.
    pub fn role_named(&mut self, name: &str, hint: &str, at: &str) -> RoleId {
        let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !is_plain || name.is_empty() || name.len() > 64 {
            let message = format!("is no name of a role: expected lower-case letters, digits and `_`{hint}");
            self.problem(at, message);
        }
        RoleId::named(name)
    }

    fn prompt(&mut self, ask: &Ask, at: &str, guards: &[String], context: &mut Vec<(String, Ref)>) -> Option<Prompt> {
        match (&ask.prompt, &ask.messages) {
            (Some(text), None) => self.template(text, &format!("{at}/prompt"), guards, context).map(Prompt::Template),
            (None, Some(text)) => {
                let (messages, of) = self.expression(text, &format!("{at}/messages"), guards);
                if of.item().is_none() {
                    self.problem(&format!("{at}/messages"), format!("is a {of}; a list of messages is expected"));
                }
                Some(Prompt::Messages(messages))
            }
            _ => {
                self.problem(at, "needs either `prompt` or `messages`");
                None
            }
        }
    }

    fn check_ask(&mut self, ask: &Ask, at: &str) {
        if !ask.tools.is_empty() && (ask.split.is_some() || ask.n.is_some()) {
            self.problem(at, "a model with `tools` gives one reply: without `split` and `n`");
        }
        if ask.tools.len() > MOST_TOOLS {
            self.problem(&format!("{at}/tools"), format!("has {} tools; at most {MOST_TOOLS}", ask.tools.len()));
        }
        if ask.rounds.is_some() && ask.tools.is_empty() {
            self.problem(&format!("{at}/rounds"), "belongs to a model with `tools`");
        }
        if ask.split.is_none() && ask.most.is_some() {
            self.problem(&format!("{at}/most"), "belongs to a reply with `split`");
        }
    }

    /// The schema of a reply, or of each item of a split one, and the type that follows.
    fn returns(&mut self, ask: &Ask, at: &str) -> (Option<ReplyShape>, Type) {
        if ask.returns.is_null() {
            return (None, Type::Text);
        }
        if matches!(ask.split, Some(SplitSpec::Lines | SplitSpec::Pattern(_))) {
            self.problem(&format!("{at}/returns"), "the items of a reply that is split by text are texts");
            return (None, Type::Text);
        }
        self.shape(&ask.returns, &format!("{at}/returns"))
    }

    fn choices(&mut self, ask: &Ask, at: &str) -> Option<Choices> {
        if ask.choices.is_empty() {
            return None;
        }
        let at = format!("{at}/choices");
        if ask.split.is_some() || !ask.returns.is_null() {
            self.problem(&at, "belongs to a reply without `returns` and `split`");
        }
        Choices::of(&ask.choices).map_err(|message| self.problem(&at, message)).ok()
    }

    /// What a schema says of a value, and its type.
    pub fn shape(&mut self, spec: &Value, at: &str) -> (Option<ReplyShape>, Type) {
        let Some(schema) = self.schema(spec, at) else { return (None, Type::Any) };
        match schema::build(&schema) {
            Ok(validator) => {
                let of = Type::of_schema(&schema);
                let seen = of.in_expressions();
                (Some(ReplyShape { schema, of, validator }), seen)
            }
            Err(message) => {
                self.problem(at, format!("is no usable schema: {message}"));
                (None, Type::Any)
            }
        }
    }

    /// A schema that stands here or in a file.
    fn schema(&mut self, spec: &Value, at: &str) -> Option<Value> {
        let Value::String(file) = spec else { return Some(spec.clone()) };
        let Some(text) = self.files.get(file) else {
            let is_schema = |name: &&str| Path::new(name).extension().is_some_and(|ending| ending == "json");
            let files = || self.files.keys().map(String::as_str).filter(is_schema);
            let (hint, known) = (did_you_mean(file, files()), listed(files()));
            self.problem(at, format!("there is no file `{file}`{hint}; known: {known}"));
            return None;
        };
        match document::value(&format!("{}/{file}", self.folder), text) {
            Ok(located) => Some(located.value),
            Err(problems) => {
                self.problems.extend(problems);
                None
            }
        }
    }

    fn tool(&mut self, name: &str, tool: &Tool, at: &str) -> Option<plan::Tool> {
        let at = domain::patch::join(&format!("{at}/tools"), name);
        let does = self.tool_action(name, tool, &at)?;
        let parameters = match (&tool.parameters, &does) {
            (Value::Null, ToolAction::Workflow(called)) => self.called.get(called)?.input.schema(),
            (Value::Null, _) => json!({"type": "object", "properties": {}}),
            (spec, _) => self.schema(spec, &format!("{at}/parameters"))?,
        };
        let validator = schema::build(&parameters).map_err(|message| {
            self.problem(&format!("{at}/parameters"), format!("is no usable schema: {message}"));
        });
        let function = json!({"type": "function", "function": {
            "name": name, "description": tool.description, "parameters": parameters}});
        Some(plan::Tool { name: name.to_owned(), function: Arc::new(function), validator: validator.ok()?, does })
    }

    fn tool_action(&mut self, name: &str, tool: &Tool, at: &str) -> Option<ToolAction> {
        let kinds = [&tool.code, &tool.workflow, &tool.server, &tool.endpoint];
        if kinds.into_iter().flatten().count() != 1 {
            self.problem(at, "needs exactly one of `code`, `workflow`, `server` (with `tool`) and `endpoint`");
            return None;
        }
        if tool.tool.is_some() && tool.called().is_none() {
            self.problem(&format!("{at}/tool"), "belongs to a `server`");
        }
        if let Some(function) = &tool.code {
            if !self.functions.contains(function) {
                let known = || self.functions.iter().map(String::as_str);
                let hint = did_you_mean(function, known());
                self.problem(&format!("{at}/code"), format!("there is no function `{function}` in {FUNCTIONS}{hint}"));
                return None;
            }
            return Some(ToolAction::Code(function.clone()));
        }
        if let Some(workflow) = &tool.workflow {
            self.find_workflow(workflow, &format!("{at}/workflow"))?;
            return Some(ToolAction::Workflow(workflow.clone()));
        }
        self.registered_tool(name, tool, at).map(ToolAction::Registered)
    }

    /// Another workflow, read once.
    pub fn find_workflow(&mut self, name: &str, at: &str) -> Option<Arc<Workflow>> {
        if let Some(known) = self.called.get(name) {
            return Some(Arc::clone(known));
        }
        match (self.around.find)(name) {
            Ok(found) => {
                self.called.insert(name.to_owned(), Arc::clone(&found));
                Some(found)
            }
            Err(message) => {
                self.problem(at, message);
                None
            }
        }
    }
}

impl plan::Ask {
    pub fn reads(&self, into: &mut Vec<Ref>) {
        if let RoleOf::OneOf(role, _) = &self.role {
            role.reads(into);
        }
        if let Prompt::Messages(messages) = &self.prompt {
            messages.reads(into);
        }
        self.otherwise.iter().for_each(|of| of.reads(into));
        into.extend(self.context.iter().map(|(_, of)| *of));
    }
}
