//! What differs between two versions of a document: the lines, and of YAML the fields.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::PatchOp;
use domain::api::documents::{Change, DocumentDiff, FieldChange, FileDiff};
use domain::document;
use engine::World;
use sandbox::Work;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::TextDiff;

use crate::library::project::Texts;

/// Texts that have little in common are compared line by line no longer than that.
const PATIENCE: Duration = Duration::from_millis(500);
/// Most fields that are named of one file.
const MOST_FIELDS: usize = 1000;

/// Compares two versions of a document.
#[derive(Serialize, Deserialize)]
pub struct CompareVersions {
    pub from: (i32, Texts),
    pub to: (i32, Texts),
}

impl Work for CompareVersions {
    const NAME: &'static str = "compare versions";
    type Answer = DocumentDiff;

    fn work(self, _: &dyn Fn(Value)) -> DocumentDiff {
        diff((self.from.0, &self.from.1), (self.to.0, &self.to.1))
    }
}

/// Only files that differ.
fn diff(from: (i32, &Texts), to: (i32, &Texts)) -> DocumentDiff {
    let paths: BTreeSet<&String> = from.1.keys().chain(to.1.keys()).collect();
    let files = paths.into_iter().filter_map(|path| of_file(path, from.1.get(path), to.1.get(path)));
    DocumentDiff { from: from.0, to: to.0, files: files.collect() }
}

fn of_file(path: &str, before: Option<&String>, after: Option<&String>) -> Option<FileDiff> {
    let change = match (before, after) {
        (None, Some(_)) => Change::Added,
        (Some(_), None) => Change::Deleted,
        (before, after) if before == after => return None,
        _ => Change::Changed,
    };
    let (old, new) = (before.map_or("", String::as_str), after.map_or("", String::as_str));
    let lines = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let unified = lines.unified_diff().context_radius(3).header(&format!("a/{path}"), &format!("b/{path}")).to_string();
    let fields = if change == Change::Changed { fields(path, old, new) } else { None };
    Some(FileDiff { path: path.to_owned(), change, unified, fields })
}

/// The fields that changed; nothing if it is no YAML that can be read.
fn fields(path: &str, old: &str, new: &str) -> Option<Vec<FieldChange>> {
    path.strip_suffix(".yaml")?;
    let (old, new) = (document::value(path, old).ok()?, document::value(path, new).ok()?);
    let patch = World::new(&old.value).patch_to(World::new(&new.value).root());
    let named = patch.into_iter().take(MOST_FIELDS).map(|op| match op {
        PatchOp::Add { path, value } => FieldChange { pointer: path, change: Change::Added, value: Some(value) },
        PatchOp::Remove { path } => FieldChange { pointer: path, change: Change::Deleted, value: None },
        PatchOp::Replace { path, value } => FieldChange { pointer: path, change: Change::Changed, value: Some(value) },
    });
    Some(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &str)]) -> Texts {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn lines_and_fields() {
        let one = texts(&[("p/a.yaml", "name: a\nlist: [1, 2]\ngone: 1\n"), ("p/b.md", "x\n"), ("p/same", "x")]);
        let two = texts(&[("p/a.yaml", "name: b\nlist: [1]\nnew: {x: 1}\n"), ("p/c.md", "y\n"), ("p/same", "x")]);
        let found = diff((1, &one), (2, &two));
        let unified: String = found.files.iter().map(|file| file.unified.as_str()).collect();
        insta::assert_snapshot!(unified, @"
        --- a/p/a.yaml
        +++ b/p/a.yaml
        @@ -1,3 +1,3 @@
        -name: a
        -list: [1, 2]
        -gone: 1
        +name: b
        +list: [1]
        +new: {x: 1}
        --- a/p/b.md
        +++ b/p/b.md
        @@ -1 +0,0 @@
        -x
        --- a/p/c.md
        +++ b/p/c.md
        @@ -0,0 +1 @@
        +y
        ");
        let fields = found.files[0].fields.as_ref().expect("it is YAML");
        let fields: Vec<String> = fields.iter().map(|field| format!("{} {}", field.pointer, field.change)).collect();
        insta::assert_snapshot!(fields.join("\n"), @"
        /gone deleted
        /list/1 deleted
        /name changed
        /new added
        ");
        assert_eq!(found.files.iter().filter(|file| file.fields.is_none()).count(), 2);
    }

    #[test]
    fn texts_without_anything_in_common_take_no_age() {
        let text = |word: &str| (0..200_000).map(|i| format!("{word} {i}\n")).collect::<String>();
        let (one, two) = (texts(&[("p/a", &text("one"))]), texts(&[("p/a", &text("two"))]));
        assert_eq!(diff((1, &one), (2, &two)).files[0].change, Change::Changed);
    }
}
