//! From a JSON document to the rows of a tree that are to be seen.

use std::collections::{HashMap, HashSet};

use domain::patch::join;
use serde_json::Value;

/// Children that are shown before somebody asks for more, and how many more then come.
pub const CHILDREN: usize = 50;
/// Rows that a search shows.
const FOUND: usize = 400;
/// Letters of a key, and of a value, that stand in a row.
const LETTERS: usize = 160;

/// Why a value is to be noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    Added,
    Changed,
    /// Something below it is marked.
    Within,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Row {
    pub pointer: String,
    pub key: String,
    /// From 1.
    pub level: usize,
    pub shape: Shape,
    pub mark: Option<Mark>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Shape {
    Leaf {
        kind: &'static str,
        text: String,
    },
    Branch {
        open: bool,
        summary: String,
    },
    /// So many children more.
    More(usize),
}

/// How a reader looks at a document.
#[derive(Debug, Clone, Default)]
pub struct ViewState {
    pub open: HashSet<String>,
    /// Where more children than usual are shown.
    pub shown: HashMap<String, usize>,
    pub search: String,
}

impl ViewState {
    pub fn toggle(&mut self, pointer: &str) {
        if !self.open.remove(pointer) {
            self.open.insert(pointer.to_owned());
        }
    }

    pub fn more(&mut self, pointer: &str) {
        *self.shown.entry(pointer.to_owned()).or_insert(CHILDREN) += CHILDREN;
    }

    /// Opens all that stands above a value.
    pub fn reveal(&mut self, pointer: &str) {
        self.open.extend(above(pointer).map(str::to_owned));
    }
}

/// What stands above a value, the widest first; without the whole document.
pub fn above(pointer: &str) -> impl Iterator<Item = &str> {
    pointer.match_indices('/').skip(1).map(|(at, _)| &pointer[..at])
}

/// The rows, in order. The document itself has none.
pub fn rows(document: &Value, look: &ViewState, marks: &HashMap<String, Mark>) -> Vec<Row> {
    let within = marks.keys().flat_map(|pointer| above(pointer)).collect();
    let search = look.search.trim().to_lowercase();
    let mut walk = Walk { look, marks, within, search, rows: Vec::new() };
    walk.children("", document, 1, false);
    walk.rows
}

struct Walk<'a> {
    look: &'a ViewState,
    marks: &'a HashMap<String, Mark>,
    within: HashSet<&'a str>,
    search: String,
    rows: Vec<Row>,
}

impl Walk<'_> {
    /// `all`: also what the search does not find.
    fn children(&mut self, pointer: &str, value: &Value, level: usize, all: bool) {
        let total = size(value);
        let searching = !all && !self.search.is_empty();
        let shown =
            if searching { total } else { self.look.shown.get(pointer).copied().unwrap_or(CHILDREN).min(total) };
        match value {
            Value::Object(members) => {
                for (key, value) in members.iter().take(shown) {
                    self.node(pointer, key, value, level, all);
                }
            }
            Value::Array(items) => {
                for (i, value) in items.iter().enumerate().take(shown) {
                    self.node(pointer, &i.to_string(), value, level, all);
                }
            }
            _ => {}
        }
        if shown < total {
            let shape = Shape::More(total - shown);
            self.rows.push(Row { pointer: pointer.to_owned(), key: String::new(), level, shape, mark: None });
        }
    }

    fn node(&mut self, above: &str, key: &str, value: &Value, level: usize, all: bool) {
        if self.rows.len() >= FOUND && !self.search.is_empty() {
            return;
        }
        let pointer = join(above, key);
        let within = || self.within.contains(pointer.as_str()).then_some(Mark::Within);
        let mark = self.marks.get(&pointer).copied().or_else(within);
        let place = self.rows.len();
        let searching = !all && !self.search.is_empty();
        let branch = size(value) > 0;
        let open = branch && self.look.open.contains(&pointer);
        let shape = if branch { Shape::Branch { open, summary: summary(value) } } else { leaf(value) };
        let found = searching && self.finds(key, value);
        self.rows.push(Row { pointer: pointer.clone(), key: first(key), level, shape, mark });
        if !branch {
            if searching && !found {
                self.rows.pop();
            }
            return;
        }
        if searching {
            self.children(&pointer, value, level + 1, false);
            if self.rows.len() > place + 1 {
                self.rows[place].shape = Shape::Branch { open: true, summary: summary(value) };
            } else if !found {
                self.rows.pop();
            } else if open {
                self.children(&pointer, value, level + 1, true);
            }
        } else if open {
            self.children(&pointer, value, level + 1, all);
        }
    }

    fn finds(&self, key: &str, value: &Value) -> bool {
        let holds = |text: &str| text.to_lowercase().contains(&self.search);
        holds(key)
            || match value {
                Value::Object(_) | Value::Array(_) => false,
                Value::String(text) => holds(text),
                other => holds(&other.to_string()),
            }
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    }
}

fn summary(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.len()),
        other => format!("{{{}}}", size(other)),
    }
}

fn leaf(value: &Value) -> Shape {
    let (kind, text) = match value {
        Value::Null => ("null", "null".to_owned()),
        Value::Bool(value) => ("bool", value.to_string()),
        Value::Number(number) => ("number", number.to_string()),
        Value::String(text) => ("string", first(text)),
        Value::Array(_) => ("empty", "[]".to_owned()),
        Value::Object(_) => ("empty", "{}".to_owned()),
    };
    Shape::Leaf { kind, text }
}

fn first(text: &str) -> String {
    match text.char_indices().nth(LETTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(document: &Value, look: &ViewState) -> Vec<String> {
        let name = |row: Row| match row.shape {
            Shape::More(left) => format!("{} +{left}", row.pointer),
            _ => row.pointer,
        };
        rows(document, look, &HashMap::new()).into_iter().map(name).collect()
    }

    #[test]
    fn what_is_open_shows_its_children() {
        let document = json!({"cards": {"c1": {"status": "ok"}, "c/2": {}}, "now": "2026-01-01"});
        let mut look = ViewState::default();
        assert_eq!(shown(&document, &look), ["/cards", "/now"]);
        look.reveal("/cards/c1/status");
        assert_eq!(shown(&document, &look), ["/cards", "/cards/c1", "/cards/c1/status", "/cards/c~12", "/now"]);
        look.toggle("/cards");
        assert_eq!(shown(&document, &look), ["/cards", "/now"]);
    }

    #[test]
    fn many_children_come_in_parts() {
        let document = json!({"list": vec![0; 120]});
        let mut look = ViewState::default();
        look.toggle("/list");
        assert_eq!(shown(&document, &look).last().map(String::as_str), Some("/list +70"));
        look.more("/list");
        look.more("/list");
        assert_eq!(shown(&document, &look).len(), 121);
    }

    #[test]
    fn long_keys_and_values_are_cut() {
        let long = "ü".repeat(LETTERS + 1);
        let found = rows(&json!({ &long: long.clone() }), &ViewState::default(), &HashMap::new());
        let cut = format!("{}…", "ü".repeat(LETTERS));
        assert_eq!(found[0].key, cut);
        assert_eq!(found[0].shape, Shape::Leaf { kind: "string", text: cut });
        assert_eq!(found[0].pointer, format!("/{long}"));
    }

    #[test]
    fn a_search_shows_what_it_finds_and_what_stands_above() {
        let document = json!({"cards": {"c1": {"status": "Blocked"}, "c2": {"status": "ok"}}, "blocked_at": null});
        let look = |search: &str| ViewState { search: search.to_owned(), ..ViewState::default() };
        assert_eq!(shown(&document, &look("block")), ["/cards", "/cards/c1", "/cards/c1/status", "/blocked_at"]);
        assert_eq!(shown(&document, &look("c2")), ["/cards", "/cards/c2"]);
        assert_eq!(shown(&document, &look("nothing")), [""; 0]);
    }

    #[test]
    fn marks_are_told_from_above() {
        let marks = HashMap::from([("/a/b".to_owned(), Mark::Changed)]);
        let found = rows(&json!({"a": {"b": 1}, "c": 2}), &ViewState::default(), &marks);
        assert_eq!(found.iter().map(|row| row.mark).collect::<Vec<_>>(), [Some(Mark::Within), None]);
    }
}
