//! Workflows that may use each other.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::problem::{Problem, did_you_mean, listed};

use crate::compile::{FindCases, Surroundings, compile};
use crate::limits::MOST_CALL_LEVELS;
use crate::plan::Workflow;

/// The files of a workflow, by their names within its folder.
pub type Files = BTreeMap<String, String>;

/// Compiles all workflows of a project, given by name. `root`: the folder that holds their folders.
pub fn compile_all(
    root: &str,
    folders: &BTreeMap<String, Files>,
    cases: &FindCases<'_>,
) -> (BTreeMap<String, Arc<Workflow>>, Vec<Problem>) {
    let reader = Reader { root, folders, cases, known: RefCell::default(), open: RefCell::default() };
    for name in folders.keys() {
        // What is wrong is noted.
        drop(reader.find(name));
    }
    let (mut workflows, mut problems) = (BTreeMap::new(), Vec::new());
    for (name, compiled) in reader.known.into_inner() {
        match compiled {
            Ok(workflow) => drop(workflows.insert(name, workflow)),
            Err(own) => problems.extend(own),
        }
    }
    problems.sort();
    problems.dedup();
    (workflows, problems)
}

type Compiled = Result<Arc<Workflow>, Vec<Problem>>;

struct Reader<'a> {
    root: &'a str,
    folders: &'a BTreeMap<String, Files>,
    cases: &'a FindCases<'a>,
    known: RefCell<BTreeMap<String, Compiled>>,
    /// Those that are being compiled, because others use them.
    open: RefCell<Vec<String>>,
}

impl Reader<'_> {
    fn find(&self, name: &str) -> Result<Arc<Workflow>, String> {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone().map_err(|_| format!("the workflow `{name}` has problems of its own"));
        }
        let Some(files) = self.folders.get(name) else {
            let known = || self.folders.keys().map(String::as_str);
            return Err(format!(
                "there is no workflow `{name}`{}; known: {}",
                did_you_mean(name, known()),
                listed(known())
            ));
        };
        let open = self.open.borrow().clone();
        if let Some(first) = open.iter().position(|open| open == name) {
            let circle: Vec<&str> = open[first..].iter().map(String::as_str).chain([name]).collect();
            return Err(format!("workflows use each other in a circle: {}", circle.join(" -> ")));
        }
        if open.len() >= MOST_CALL_LEVELS {
            return Err(format!("workflows use each other more than {MOST_CALL_LEVELS} deep: {}", open.join(" -> ")));
        }
        self.open.borrow_mut().push(name.to_owned());
        let around = Surroundings { find: &|other| self.find(other), cases: self.cases };
        let compiled = compile(&format!("{}/{name}", self.root), files, around).map(Arc::new);
        self.open.borrow_mut().pop();
        self.known.borrow_mut().insert(name.to_owned(), compiled.clone());
        compiled.map_err(|_| format!("the workflow `{name}` has problems of its own"))
    }
}
