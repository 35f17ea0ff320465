//! From the files of a workflow to what can be played, or to everything that is wrong with it.

mod ask;
mod control;
mod converse;
mod encode;
mod expressions;
mod frames;
mod order;
mod steps;
mod templates;
mod tool;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::document::{self, LocatedValue};
use domain::problem::{MOST_PROBLEMS, Problem, did_you_mean, explained, listed};
use domain::workflow::Workflow as Document;
use engine::Cases;
use engine::tools::Code;
use engine::tools::code::{CompileError, Expression, Fault};

use indexmap::IndexMap;
use minijinja::Environment;
use serde_json::{Map, Value};

use crate::expression::Scope;
use crate::limits::{MOST_ROLES, MOST_SAMPLES};
use crate::passages::{PASSAGES, Passages};
use crate::plan::{Block, Expr, Workflow};
use crate::types::Type;
use expressions::PendingExpression;
use frames::Frame;
pub(crate) use frames::RESERVED;

/// The file that describes the workflow, and the one with its functions.
pub const DOCUMENT: &str = "workflow.yaml";
pub const FUNCTIONS: &str = "functions.star";

/// Finds another workflow by its name.
pub type Finder<'a> = dyn Fn(&str) -> Result<Arc<Workflow>, String> + 'a;

/// Finds the scenarios that steps play.
pub type FindCases<'a> = dyn Fn() -> Result<Arc<Cases>, String> + 'a;

/// What a workflow may use of the project around it.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub find: &'a Finder<'a>,
    pub cases: &'a FindCases<'a>,
}

impl Surroundings<'_> {
    /// A workflow by itself.
    pub const NONE: Self = Self {
        find: &|name| Err(format!("there is no workflow `{name}`")),
        cases: &|| Err("there are no scenarios here".to_owned()),
    };
}

/// `folder` stands in front of file names in messages. `files`: relative to it.
///
/// # Errors
/// All that is wrong, with file and line.
pub fn compile(
    folder: &str,
    files: &BTreeMap<String, String>,
    around: Surroundings<'_>,
) -> Result<Workflow, Vec<Problem>> {
    let path = format!("{folder}/{DOCUMENT}");
    let text = files.get(DOCUMENT).ok_or_else(|| vec![Problem::new(&path, 0, "", "is missing")])?;
    let (spec, located) = document::located::<Document>(&path, text)?;
    let mut compiler = Compiler::new(folder, files, located, around);
    compiler.check_names(&spec);
    let compiled = compiler.workflow(&spec);
    let mut problems = std::mem::take(&mut compiler.problems);
    // What is wrong with names was said in better words.
    let (code, faults) = if problems.is_empty() { compiler.code() } else { (None, compiler.function_faults()) };
    problems.extend(faults);
    problems.sort();
    problems.dedup();
    match code {
        Some(code) if problems.is_empty() => Ok(compiler.finish(spec, code, compiled)),
        _ => {
            let more = |more| Problem::new(&path, 0, "", more);
            Err(explained(MOST_PROBLEMS, problems, |problem| problem, more))
        }
    }
}

/// What stands in a [`Workflow`] beside its files.
struct Compiled {
    input: Type,
    output: Expr,
    output_type: Type,
    metrics: IndexMap<String, Expr>,
    messages: Option<Expr>,
    pairs: Option<Expr>,
}

struct Compiler<'a> {
    folder: &'a str,
    files: &'a BTreeMap<String, String>,
    located: LocatedValue,
    around: Surroundings<'a>,
    problems: Vec<Problem>,
    functions: Vec<String>,
    /// The lists of steps that are being read, the innermost last.
    frames: Vec<Frame>,
    blocks: Vec<Block>,
    expressions: Vec<PendingExpression>,
    templates: Environment<'static>,
    /// Files whose filters and tests were looked at.
    checked_templates: BTreeSet<String>,
    called: BTreeMap<String, Arc<Workflow>>,
    steps: usize,
    ended_types: Vec<Type>,
    may_end: bool,
    passages: Passages,
    cases: Option<Arc<Cases>>,
}

impl<'a> Compiler<'a> {
    fn new(
        folder: &'a str,
        files: &'a BTreeMap<String, String>,
        located: LocatedValue,
        around: Surroundings<'a>,
    ) -> Self {
        let mut templates = engine::templates::environment();
        let mut problems = Vec::new();
        for (name, text) in files.iter().filter(|(name, _)| templates::is_file(name)) {
            if let Err(fault) = engine::templates::add(&mut templates, name, text) {
                let line = engine::templates::place(&fault).map_or(0, |(_, line)| line);
                problems.push(Problem::new(format!("{folder}/{name}"), line, "", fault));
            }
        }
        let passages = files.get(PASSAGES).map(|text| Passages::read(&format!("{folder}/{PASSAGES}"), text));
        let passages = passages.transpose().map_err(|found| problems.extend(found)).unwrap_or_default();
        // What does not compile is said when all expressions are known.
        let code = files.get(FUNCTIONS).map(|text| Code::compile(FUNCTIONS, text.clone(), &[]));
        let functions = code.and_then(Result::ok).map(|code| code.functions()).unwrap_or_default();
        Self {
            folder,
            files,
            located,
            around,
            problems,
            functions: functions.into_iter().map(|(name, _)| name).collect(),
            frames: Vec::new(),
            blocks: Vec::new(),
            expressions: Vec::new(),
            templates,
            checked_templates: BTreeSet::new(),
            called: BTreeMap::new(),
            steps: 0,
            ended_types: Vec::new(),
            may_end: false,
            passages: passages.unwrap_or_default(),
            cases: None,
        }
    }

    fn problem(&mut self, pointer: &str, message: impl Into<String>) {
        let found = self.located.problem(pointer, message);
        self.problems.push(found);
    }

    /// What needs no expression to be read.
    fn check_names(&mut self, spec: &Document) {
        let own = self.folder.rsplit('/').next().unwrap_or(self.folder);
        if spec.name != own {
            self.problem("/workflow", format!("is `{}`, but its folder is `{own}`", spec.name));
        }
        let roles = spec.roles();
        if roles.len() > MOST_ROLES {
            self.problem("/steps", format!("asks {} roles; at most {MOST_ROLES}", roles.len()));
        }
        let tools: Vec<&str> = spec.tools().into_iter().map(|(_, name)| name).collect();
        for both in tools.iter().filter(|tool| roles.contains(tool)) {
            self.problem("/steps", format!("`{both}` is a role, and a tool is called by the same name"));
        }
        let prompted = spec.prompted_roles();
        for (role, function) in &spec.stand_ins {
            let at = domain::patch::join("/stand_ins", role);
            let mut known = prompted.iter().chain(&tools).copied();
            if roles.contains(&role.as_str()) && !prompted.contains(&role.as_str()) {
                self.problem(
                    &at,
                    format!("`{role}` plays in conversations only, and its stand-in there is `scripted`"),
                );
            } else if !known.any(|known| known == role) {
                let hint = did_you_mean(role, prompted.iter().chain(&tools).copied());
                self.problem(&at, format!("no step asks the role `{role}`{hint}"));
            }
            if !self.functions.contains(function) {
                let known = || self.functions.iter().map(String::as_str);
                let hint = did_you_mean(function, known());
                let known = listed(known());
                self.problem(&at, format!("there is no function `{function}` in {FUNCTIONS}{hint}; known: {known}"));
            }
        }
        for (i, sample) in spec.samples.iter().enumerate() {
            for name in sample.metrics.keys().filter(|name| !spec.metrics.contains_key(*name)) {
                let hint = did_you_mean(name, spec.metrics.keys().map(String::as_str));
                self.problem(&format!("/samples/{i}/metrics"), format!("there is no metric `{name}`{hint}"));
            }
        }
        if spec.samples.len() > MOST_SAMPLES {
            self.problem("/samples", format!("has {} samples; at most {MOST_SAMPLES}", spec.samples.len()));
        }
    }

    fn workflow(&mut self, spec: &Document) -> Compiled {
        let input = self.input(&spec.input);
        self.frames.push(Frame::new(input.iter().map(|(name, of)| (name.clone(), of.in_expressions()))));
        let (_, known) = self.block(&spec.steps, "/steps", &[]);
        let (output, output_type) = self.record(&spec.output, "/output", &known);
        self.frames.clear();
        let seen = Type::Record(input.iter().map(|(name, of)| (name.clone(), of.in_expressions())).collect());
        let input = Type::Record(input);
        let row = [("input".to_owned(), seen), ("output".to_owned(), output_type.clone())];
        self.frames.push(Frame::new(row));
        let metrics = spec.metrics.iter().map(|(name, metric)| {
            let at = format!("{}/value", domain::patch::join("/metrics", name));
            let (value, of) = self.expression(&metric.value, &at, &[]);
            if !matches!(of.present(), Type::Any | Type::Boolean | Type::Number | Type::Null) {
                self.problem(&at, format!("is a {of}; a metric is a number or a boolean"));
            }
            (name.clone(), value)
        });
        let metrics = metrics.collect();
        let mut list = |text: &Option<String>, at: &str| {
            let (value, of) = self.expression(text.as_ref()?, at, &[]);
            if of.item().is_none() {
                self.problem(at, format!("is a {of}; a list is expected"));
            }
            Some(value)
        };
        let messages = list(&spec.messages, "/messages");
        let pairs = list(&spec.pairs, "/pairs");
        Compiled { input, output, output_type, metrics, messages, pairs }
    }

    fn input(&mut self, declared: &Map<String, Value>) -> IndexMap<String, Type> {
        let mut input = IndexMap::new();
        for (name, of) in declared {
            let at = domain::patch::join("/input", name);
            self.check_name(name, &at);
            let of = Type::declared(of).unwrap_or_else(|message| {
                self.problem(&at, message);
                Type::Any
            });
            input.insert(name.clone(), of);
        }
        input
    }

    /// What is wrong with the functions alone.
    fn function_faults(&self) -> Vec<Problem> {
        let text = self.files.get(FUNCTIONS).cloned().unwrap_or_default();
        match Code::compile(FUNCTIONS, text, &[]) {
            Err(CompileError::File(fault)) => vec![self.function_problem(fault)],
            _ => Vec::new(),
        }
    }

    fn function_problem(&self, fault: Fault) -> Problem {
        let file = format!("{}/{FUNCTIONS}", self.folder);
        Problem::new(file, fault.line.unwrap_or(0), "", fault.message)
    }

    /// All expressions with the functions that they use.
    fn code(&mut self) -> (Option<Code>, Vec<Problem>) {
        let text = self.files.get(FUNCTIONS).cloned().unwrap_or_default();
        let sees: Vec<Vec<&str>> =
            self.expressions.iter().map(|own| own.sees.iter().map(String::as_str).collect()).collect();
        let expressions: Vec<Expression<'_>> = self
            .expressions
            .iter()
            .zip(&sees)
            .map(|(own, sees)| Expression { name: &own.name, sees, text: &own.text })
            .collect();
        match Code::compile(FUNCTIONS, text, &expressions) {
            Ok(code) => (Some(code), Vec::new()),
            Err(CompileError::File(fault)) => (None, vec![self.function_problem(fault)]),
            Err(CompileError::Expressions(faults)) => {
                let located =
                    |(i, fault): (usize, Fault)| self.located.problem(&self.expressions[i].pointer, fault.message);
                (None, faults.into_iter().map(located).collect())
            }
        }
    }

    fn finish(self, spec: Document, code: Code, compiled: Compiled) -> Workflow {
        let lines = (0..spec.samples.len()).map(|i| self.located.line(&format!("/samples/{i}")));
        Workflow {
            sample_lines: lines.collect(),
            spec,
            input: compiled.input,
            output_type: compiled.output_type,
            blocks: self.blocks,
            output: compiled.output,
            code,
            templates: self.templates,
            called: self.called,
            metrics: compiled.metrics,
            messages: compiled.messages,
            pairs: compiled.pairs,
            ended_types: self.ended_types,
            may_end: self.may_end,
            passages: self.passages,
            cases: self.cases,
        }
    }

    /// The names that are visible here.
    fn scope(&self) -> Scope {
        let mut scope = Scope { functions: self.functions.clone(), ..Scope::default() };
        for frame in &self.frames {
            scope.values.extend(frame.values());
            scope.elsewhere.extend(frame.elsewhere.iter().cloned());
        }
        scope
    }
}
