//! An OpenAPI document, read as the tools of an agent that works with the API.
//!
//! The document stays JSON: no crate reads both 3.0 and 3.1, and what is wanted of it are its schemas, which the engine
//! takes as JSON.

mod arguments;
mod body;
mod operation;
mod places;
mod source;

use std::path::Path;

use anyhow::bail;
use domain::document::LocatedValue;
use domain::patch::join;
use domain::problem::Problem;
use serde_json::{Map, Value};

use super::imported_interface::{ImportedInterface, MAX_TOOLS};
use super::schema::{Document, Fault};
use crate::names::UsedNames;
use domain::bad_input::BadInput;
use domain::text;
use operation::{Operation, UnplacedTool};

/// Methods of HTTP that are tools, as OpenAPI writes them.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
const OTHER_METHODS: [&str; 3] = ["head", "options", "trace"];

/// Reads a file.
///
/// # Errors
/// [`BadInput`] with everything that is wrong with the document.
pub fn read(file: &Path) -> anyhow::Result<ImportedInterface> {
    import(&source::read(file)?)
}

/// Reads a document that somebody has sent.
///
/// # Errors
/// [`BadInput`] with everything that is wrong with the document.
pub fn read_text(name: &str, text: &str) -> anyhow::Result<ImportedInterface> {
    import(&source::parse(name, text)?)
}

fn import(located: &LocatedValue) -> anyhow::Result<ImportedInterface> {
    let elsewhere = ": bundle the documents into one first, such as with `npx @redocly/cli bundle`";
    let document = Document { root: &located.value, elsewhere };
    let mut reading = Reading { document, located, imported: ImportedInterface::default(), problems: Vec::new() };
    let built = reading.operations()?;
    if !reading.problems.is_empty() {
        reading.problems.sort();
        reading.problems.dedup();
        bail!(BadInput(reading.problems));
    }
    let mut imported = reading.imported;
    let title = located.value.pointer("/info/title").and_then(Value::as_str).unwrap_or_default();
    imported.title = text::line(title);
    places::lay_out(built, &mut imported);
    if imported.tools.is_empty() {
        let why = imported.skipped.into_iter().map(|(what, why)| located.problem("/paths", format!("`{what}`: {why}")));
        bail!(BadInput(why.chain([located.problem("/paths", "none of its operations can be a tool")]).collect()));
    }
    Ok(imported)
}

struct Reading<'a> {
    document: Document<'a>,
    located: &'a LocatedValue,
    imported: ImportedInterface,
    problems: Vec<Problem>,
}

impl<'a> Reading<'a> {
    fn operations(&mut self) -> anyhow::Result<Vec<UnplacedTool>> {
        let none = |at: &str, message: &str| BadInput(vec![self.located.problem(at, message)]);
        let paths = match self.document.root.get("paths") {
            Some(Value::Object(paths)) => paths,
            Some(_) => bail!(none("/paths", "expected the operations by path")),
            None => bail!(none("", "has no `paths`, so no operations")),
        };
        let mut built = Vec::new();
        let mut taken = UsedNames::default();
        taken.take(super::draft::HANDOVER);
        for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
            let at = join("/paths", path);
            match self.document.follow(item, &at) {
                Ok((Value::Object(item), at)) => self.path(path, item, &at, &mut taken, &mut built),
                Ok((_, at)) => self.problems.push(self.located.problem(&at, "expected operations by method")),
                Err(fault) => self.fault(path, fault),
            }
        }
        if built.is_empty() && self.problems.is_empty() && self.imported.skipped.is_empty() {
            bail!(BadInput(vec![self.located.problem("/paths", "holds no operations")]));
        }
        Ok(built)
    }

    fn path(
        &mut self,
        path: &str,
        item: &'a Map<String, Value>,
        at: &str,
        taken: &mut UsedNames,
        built: &mut Vec<UnplacedTool>,
    ) {
        for method in METHODS.into_iter().filter(|method| item.contains_key(*method)) {
            let operation = Operation { document: self.document, path, method, item, at: join(at, method) };
            let origin = operation.origin();
            if built.len() == MAX_TOOLS {
                self.imported.skipped.push((origin, format!("more than {MAX_TOOLS} operations")));
                continue;
            }
            match operation.build(taken) {
                Ok((done, changed)) => {
                    self.imported.changed.extend(changed.into_iter().map(|what| (done.tool.name.clone(), what)));
                    built.push(done);
                }
                Err(fault) => self.fault(&origin, fault),
            }
        }
        for method in OTHER_METHODS.into_iter().filter(|method| item.contains_key(*method)) {
            let origin = text::line(&format!("{} {path}", method.to_uppercase()));
            self.imported.skipped.push((origin, "answers nothing that an agent could use".to_owned()));
        }
    }

    fn fault(&mut self, origin: &str, fault: Fault) {
        match fault {
            Fault::At(at, message) => self.problems.push(self.located.problem(&at, message)),
            Fault::Unfit(why) => self.imported.skipped.push((text::line(origin), why)),
        }
    }
}
