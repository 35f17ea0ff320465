//! Templates of prompts: their files, the names that they use, and whether those are there.

use std::collections::{BTreeMap, BTreeSet};

use domain::problem::{MOST_PROBLEMS, Problem, did_you_mean, listed};
use engine::templates::Callee;

use super::Compiler;
use crate::plan::Ref;
use crate::types::Type;

/// Bytes of included templates that are looked through for more of them.
const MOST_INCLUDED_BYTES: usize = 1 << 20;
/// Functions of Jinja itself.
const BUILT_IN: [&str; 6] = ["range", "dict", "namespace", "debug", "loop", "self"];

/// Whether a file is a template.
pub fn is_file(name: &str) -> bool {
    [".j2", ".md", ".txt"].iter().any(|ending| name.ends_with(ending))
}

/// The files that a template includes, imports or extends, also through others: they are named in quotation marks.
pub fn included<'a>(files: &'a BTreeMap<String, String>, template: &str) -> Vec<&'a str> {
    let (mut found, mut next, mut bytes) = (Vec::<&str>::new(), 0, 0);
    let mut text = template;
    loop {
        for (name, _) in text.split(['"', '\'']).filter_map(|quoted| files.get_key_value(quoted)) {
            if is_file(name) && !found.contains(&name.as_str()) {
                found.push(name);
            }
        }
        let Some(file) = found.get(next).and_then(|name| files.get(*name)).filter(|_| bytes < MOST_INCLUDED_BYTES)
        else {
            return found;
        };
        (text, next, bytes) = (file.as_str(), next + 1, bytes + file.len());
    }
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
        let files = self.files;
        let source = if is_named { files.get(text)?.as_str() } else { text };
        let included = included(files, source);
        self.check_used(&name, &[], pointer, guarded, into);
        for file in included.iter().copied().filter(|file| *file != name) {
            let others = included.iter().filter(|other| **other != file).filter_map(|other| files.get(*other));
            let others: Vec<&str> = others.map(String::as_str).chain([source]).collect();
            self.check_used(file, &others, pointer, guarded, into);
        }
        if is_named {
            self.check_callees(text);
        } else {
            for unknown in engine::templates::unknown_callees(&self.templates, text) {
                self.problem(pointer, not_there(&unknown));
            }
        }
        included.into_iter().for_each(|file| self.check_callees(file));
        Some(name)
    }

    /// Filters and tests of a file.
    fn check_callees(&mut self, name: &str) {
        let Some(text) = self.files.get(name).filter(|_| self.checked_templates.insert(name.to_owned())) else {
            return;
        };
        for unknown in engine::templates::unknown_callees(&self.templates, text).into_iter().take(MOST_PROBLEMS) {
            let file = format!("{}/{name}", self.folder);
            self.problems.push(Problem::new(file, unknown.line, "", not_there(&unknown)));
        }
    }

    /// The names that a template uses. `others`: the texts of those that it is used with. They may set names for it, or check what
    /// it uses.
    fn check_used(
        &mut self,
        template: &str,
        others: &[&str],
        pointer: &str,
        guarded: &[String],
        into: &mut Vec<(String, Ref)>,
    ) {
        let Ok(own) = self.templates.get_template(template) else { return };
        let used: BTreeSet<String> = own.undeclared_variables(true).into_iter().collect();
        let source = own.source().to_owned();
        let scope = self.scope();
        // One that stands in the document has no name that its author knows.
        let which = if is_file(template) { format!("the template `{template}`") } else { "the template".to_owned() };
        for path in &used {
            let (root, rest) = path.split_once('.').unwrap_or((path, ""));
            // A value of that name counts, as in Jinja.
            if BUILT_IN.contains(&root) && !scope.values.contains_key(root) {
                continue;
            }
            let Some((of, place)) = scope.values.get(root).zip(self.reference(root)) else {
                if others.iter().any(|other| words(other).any(|word| word == root)) {
                    continue;
                }
                let known = || scope.values.keys().map(String::as_str);
                let (hint, known) = (did_you_mean(root, known()), listed(known()));
                self.problem(pointer, format!("{which} uses `{root}`, which is not there{hint}; known: {known}"));
                continue;
            };
            if !into.iter().any(|(name, _)| name == root) {
                into.push((root.to_owned(), place));
            }
            let sources = others.iter().copied().chain([source.as_str()]);
            let is_tested = |path: &str| sources.clone().any(|source| tests(source, path));
            let is_guarded = |path: &str| guarded.iter().any(|known| known == path) || is_tested(path);
            if let Err(message) = follow(of, root, rest, &is_guarded) {
                self.problem(pointer, format!("{which} uses `{path}`, but {message}"));
            }
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

fn not_there(unknown: &Callee) -> String {
    format!("the template uses the {} `{}`, which does not exist", unknown.kind, unknown.name)
}

/// Whether a template asks somewhere if this is there. Where it then uses it is not looked at.
fn tests(source: &str, path: &str) -> bool {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    source.match_indices(path).any(|(at, _)| {
        let (before, after) = (&source[..at], &source[at + path.len()..]);
        // It may be a part of a longer name.
        let is_whole =
            !before.ends_with(|letter: char| is_of_name(letter) || letter == '.') && !after.starts_with(is_of_name);
        let is_asked = ["if ", "if not ", "and "].iter().any(|word| before.ends_with(word));
        is_whole && (is_asked || [" is ", " or "].iter().any(|word| after.starts_with(word)))
    })
}

fn follow(of: &Type, root: &str, rest: &str, is_guarded: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let (mut of, mut path) = (of.clone(), root.to_owned());
    for key in rest.split('.').filter(|key| !key.is_empty()) {
        if matches!(of, Type::Optional(_) | Type::Null) && !is_guarded(&path) {
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

#[cfg(test)]
mod tests {
    #[test]
    fn a_check_is_one_of_the_whole_name() {
        for source in [
            "{% if doc %}",
            "{%- if not doc -%}",
            "{% if a %}{% elif doc %}",
            "{% if a and doc and b %}",
            "{{ x if doc else y }}",
            "{% if doc is none %}",
            "{{ (doc or a).b }}",
            "{% if a_doc %}{% if doc %}",
            "{% if doc.text %}",
        ] {
            assert!(super::tests(source, "doc"), "{source}");
        }
        for source in [
            "{% if docs %}",
            "{% if not doc_2 %}",
            "{% if a and docs %}",
            "{% if my_doc is none %}",
            "{{ mydoc or a }}",
            "{{ a.doc or b }}",
            "{{ doc }}",
        ] {
            assert!(!super::tests(source, "doc"), "{source}");
        }
        assert!(super::tests("{% if doc.text %}", "doc.text") && !super::tests("{% if doc.texts %}", "doc.text"));
    }
}
