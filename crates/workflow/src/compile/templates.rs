//! Templates of prompts: their files, the names that they use, and whether those are there.

use std::collections::BTreeSet;

use domain::problem::{MOST_PROBLEMS, Problem, did_you_mean, listed};
use engine::templates::Callee;

use super::Compiler;
use crate::plan::Ref;
use crate::types::Type;

/// Bytes of a template and those that it includes in which filters and tests are looked for.
const MOST_INCLUDED_BYTES: usize = 1 << 20;
/// Functions of Jinja itself.
const BUILT_IN: [&str; 6] = ["range", "dict", "namespace", "debug", "loop", "self"];

/// Whether a file is a template.
pub fn is_file(name: &str) -> bool {
    [".j2", ".md", ".txt"].iter().any(|ending| name.ends_with(ending))
}

impl Compiler<'_> {
    /// The name of a template: of the file that is named, or of the text itself. `into`: what it reads.
    pub fn template(
        &mut self,
        text: &str,
        pointer: &str,
        guarded: &[String],
        into: &mut Vec<(String, Ref)>,
    ) -> Option<String> {
        let is_named = is_file(text) && !text.contains([' ', '\n', '{']);
        let name = if is_named { text.to_owned() } else { format!("({})", pointer.trim_start_matches('/')) };
        if is_named && !self.files.contains_key(text) {
            let files = || self.files.keys().map(String::as_str).filter(|name| is_file(name));
            let (hint, known) = (did_you_mean(text, files()), listed(files()));
            self.problem(pointer, format!("there is no file `{text}`{hint}; known: {known}"));
            return None;
        }
        if !is_named && let Err(fault) = engine::templates::add(&mut self.templates, &name, text) {
            self.problem(pointer, fault);
            return None;
        }
        let used = self.templates.get_template(&name).ok()?.undeclared_variables(true);
        self.check_used(&name, &used.into_iter().collect(), pointer, guarded, into);
        if is_named {
            self.check_files(text);
        } else {
            for unknown in engine::templates::unknown_callees(&self.templates, text) {
                self.problem(pointer, not_there(&unknown));
            }
        }
        Some(name)
    }

    /// Filters and tests of a file, and of those that it includes.
    fn check_files(&mut self, name: &str) {
        let (files, mut names, mut next, mut bytes) = (self.files, vec![name], 0, 0);
        while let Some(name) = names.get(next).copied().filter(|_| bytes < MOST_INCLUDED_BYTES) {
            next += 1;
            let Some(text) = files.get(name) else { continue };
            if !self.checked_templates.insert(name.to_owned()) {
                continue;
            }
            bytes += text.len();
            for unknown in engine::templates::unknown_callees(&self.templates, text).into_iter().take(MOST_PROBLEMS) {
                let file = format!("{}/{name}", self.folder);
                self.problems.push(Problem::new(file, unknown.line, "", not_there(&unknown)));
            }
            // Included files are named in quotation marks.
            for (other, _) in text.split(['"', '\'']).filter_map(|quoted| files.get_key_value(quoted)) {
                if is_file(other) && !names.contains(&other.as_str()) {
                    names.push(other);
                }
            }
        }
    }

    fn check_used(
        &mut self,
        template: &str,
        used: &BTreeSet<String>,
        pointer: &str,
        guarded: &[String],
        into: &mut Vec<(String, Ref)>,
    ) {
        let scope = self.scope();
        let source = self.templates.get_template(template).map(|own| own.source().to_owned()).unwrap_or_default();
        // One that stands in the document has no name that its author knows.
        let which = if is_file(template) { format!("the template `{template}`") } else { "the template".to_owned() };
        for path in used {
            let (root, rest) = path.split_once('.').unwrap_or((path, ""));
            if BUILT_IN.contains(&root) {
                continue;
            }
            let Some((of, place)) = scope.values.get(root).zip(self.reference(root)) else {
                let known = || scope.values.keys().map(String::as_str);
                let (hint, known) = (did_you_mean(root, known()), listed(known()));
                self.problem(pointer, format!("{which} uses `{root}`, which is not there{hint}; known: {known}"));
                continue;
            };
            if !into.iter().any(|(name, _)| name == root) {
                into.push((root.to_owned(), place));
            }
            let is_guarded = |path: &str| guarded.iter().any(|known| known == path) || tests(&source, path);
            if let Err(message) = follow(of, root, rest, &is_guarded) {
                self.problem(pointer, format!("{which} uses `{path}`, but {message}"));
            }
        }
    }
}

fn not_there(unknown: &Callee) -> String {
    format!("the template uses the {} `{}`, which does not exist", unknown.kind, unknown.name)
}

/// Whether a template asks somewhere if this is there. Where it then uses it is not looked at.
fn tests(source: &str, path: &str) -> bool {
    [
        format!("if {path}"),
        format!("if not {path}"),
        format!("{path} is "),
        format!("{path} or "),
        format!("and {path}"),
    ]
    .iter()
    .any(|test| source.contains(test.as_str()))
}

fn follow(of: &Type, root: &str, rest: &str, is_guarded: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let (mut of, mut path) = (of.clone(), root.to_owned());
    for key in rest.split('.').filter(|key| !key.is_empty()) {
        if matches!(of, Type::Optional(_)) && !is_guarded(&path) {
            return Err(format!("`{path}` may be None; ask first: {{% if {path} %}}"));
        }
        of = match of.present() {
            Type::Record(fields) => match fields.get(key) {
                Some(of) => of.clone(),
                None => {
                    let hint = did_you_mean(key, fields.keys().map(String::as_str));
                    return Err(format!("there is no `{key}` in {}{hint}", Type::Record(fields)));
                }
            },
            Type::Any => return Ok(()),
            other => return Err(format!("a {other} has no `{key}`")),
        };
        path = format!("{path}.{key}");
    }
    Ok(())
}
