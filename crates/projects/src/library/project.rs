//! The files of a project as documents, each with its own, and what keeps a file from being part of one.

use std::collections::BTreeMap;

use domain::Problem;
use domain::project::{DocumentId, PathError};

use super::Files;

/// Path within the project -> text.
pub type Texts = BTreeMap<String, String>;

/// Largest file, in bytes.
pub const LARGEST_FILE: usize = 8 << 20;
/// Largest project, in bytes.
pub const LARGEST_PROJECT: usize = 64 << 20;
/// Most files of a project.
pub const MOST_FILES: usize = 20_000;

/// Documents, and paths of files that belong to none.
#[derive(Debug, Default)]
pub struct Documents {
    pub by_id: BTreeMap<DocumentId, Texts>,
    pub ignored: Vec<String>,
}

impl Documents {
    /// # Errors
    /// Every file that cannot be kept, or that would mean another one elsewhere.
    pub fn of(files: impl IntoIterator<Item = (String, String)>) -> Result<Self, Vec<Problem>> {
        let (mut documents, mut problems) = (Self::default(), Vec::new());
        let mut size = 0;
        for (path, text) in files {
            size += text.len();
            match DocumentId::of(&path) {
                Err(PathError::Elsewhere) => documents.ignored.push(path),
                Err(PathError::Refused(why)) => problems.push(Problem::new(path, 0, "", why)),
                Ok(id) => {
                    problems.extend(unfit(&path, &text));
                    documents.by_id.entry(id).or_default().insert(path, text);
                }
            }
        }
        if size > LARGEST_PROJECT {
            problems.push(Problem::new(".", 0, "", format!("is {size} bytes in all; at most {LARGEST_PROJECT}")));
        }
        let held = documents.by_id.iter().filter(|(id, texts)| id.kind.is_one_file() && texts.len() > 1);
        problems.extend(held.map(|(id, texts)| {
            let paths: Vec<&str> = texts.keys().map(String::as_str).collect();
            Problem::new(paths[paths.len() - 1], 0, "", format!("{id} is also in {}", paths[0]))
        }));
        let paths: Vec<&str> = documents.by_id.values().flat_map(BTreeMap::keys).map(String::as_str).collect();
        if paths.len() > MOST_FILES {
            problems.push(Problem::new(".", 0, "", format!("has {} files; at most {MOST_FILES}", paths.len())));
        }
        problems.extend(clashes(&paths));
        if problems.is_empty() { Ok(documents) } else { Err(problems) }
    }

    pub fn files(&self) -> Files {
        self.by_id.values().flatten().map(|(path, text)| (path.clone(), text.clone())).collect()
    }
}

/// What keeps a text from being kept.
fn unfit(path: &str, text: &str) -> Option<Problem> {
    if text.len() > LARGEST_FILE {
        return Some(Problem::new(path, 0, "", format!("is {} bytes; at most {LARGEST_FILE}", text.len())));
    }
    text.contains('\0').then(|| Problem::new(path, 0, "", "is not text: it has a zero byte"))
}

/// Paths that some machines take for the same, and files that stand where others need a folder.
fn clashes(paths: &[&str]) -> Vec<Problem> {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    let mut problems = Vec::new();
    for path in paths {
        if let Some(other) = known.insert(path.to_ascii_lowercase(), path) {
            let message = format!("differs from {other} only in case; some machines keep one of them");
            problems.push(Problem::new(*path, 0, "", message));
        }
    }
    for (lower, path) in &known {
        let within = format!("{lower}/");
        if let Some((_, other)) = known.range(within.clone()..).next().filter(|(next, _)| next.starts_with(&within)) {
            problems.push(Problem::new(*path, 0, "", format!("is a file where {other} needs a folder")));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(files: &[(&str, &str)]) -> String {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let problems = Documents::of(files).expect_err("it is refused");
        problems.iter().map(|problem| format!("{problem}\n")).collect()
    }

    #[test]
    fn files_that_cannot_be_kept_together() {
        insta::assert_snapshot!(refused(&[
            ("playbooks/bank/Policy.md", ""),
            ("playbooks/bank/policy.md", ""),
            ("playbooks/bank/a", ""),
            ("playbooks/bank/A/b", ""),
            ("playbooks/bank/zero", "a\0b"),
            ("scenarios/bank/x.yaml", ""),
            ("scenarios/shop/x.yaml", ""),
            ("judges/default/../../x", ""),
        ]), @"
        playbooks/bank/zero: is not text: it has a zero byte
        judges/default/../../x: has the part `..`; a path leads straight to its file
        scenarios/shop/x.yaml: scenario `x` is also in scenarios/bank/x.yaml
        playbooks/bank/policy.md: differs from playbooks/bank/Policy.md only in case; some machines keep one of them
        playbooks/bank/a: is a file where playbooks/bank/A/b needs a folder
        ");
    }

    #[test]
    fn what_is_no_document_is_named() {
        let files = [("README.md", ""), ("playbooks/bank/playbook.yaml", ""), ("models.yaml", "")];
        let documents = Documents::of(files.map(|(path, text)| (path.to_owned(), text.to_owned()))).expect("it fits");
        assert_eq!(documents.ignored, ["README.md", "models.yaml"]);
        assert_eq!(documents.by_id.len(), 1);
    }
}
