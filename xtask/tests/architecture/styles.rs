//! The sheets of web/style become one file: what one says of a class holds on every page that has the class.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Classes that several sheets define because several pages look alike there. All others belong to one sheet: the rules of
/// two pages that mean different things by one name would change each other.
const SHARED: [&str; 6] = ["bars", "button", "figures", "stack", "unseen", "wide"];

#[test]
fn a_class_is_defined_in_one_style_sheet() {
    let mut sheets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in fs::read_dir(crate::root().join("web/style")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for class in defined(&fs::read_to_string(&path).unwrap()) {
            sheets.entry(class).or_default().insert(name.clone());
        }
    }
    assert!(sheets.len() > 100, "the sheets define {} classes", sheets.len());
    let several: Vec<(&str, &BTreeSet<String>)> =
        sheets.iter().filter(|(_, sheets)| sheets.len() > 1).map(|(class, sheets)| (class.as_str(), sheets)).collect();
    let classes: Vec<&str> = several.iter().map(|(class, _)| *class).collect();
    assert_eq!(classes, SHARED, "{several:?}");
}

#[test]
fn a_class_is_defined_where_it_stands_alone() {
    let sheet = "/* .no { } */ .a, a.b:hover { color: red; } .c .d, .e.f { margin: 0 } @media (max-width: 1rem) { .g[hidden] { } }";
    assert_eq!(defined(sheet), ["a", "b", "g"]);
}

/// The classes that a sheet describes by themselves: `.name` or `tag.name`, in whichever state, but neither within
/// something else nor together with another class.
fn defined(sheet: &str) -> Vec<String> {
    let mut text = sheet.to_owned();
    while let Some(begin) = text.find("/*") {
        let end = text[begin..].find("*/").map_or(text.len(), |end| begin + end + 2);
        text.replace_range(begin..end, "");
    }
    // What stands before a brace is a selector, or begins with a sign that no selector begins with.
    let heads: Vec<&str> = text.split('{').map(|part| part.rsplit(['}', ';']).next().unwrap_or_default()).collect();
    // After the last brace that opens come declarations.
    let selectors = heads.iter().take(heads.len() - 1).flat_map(|head| head.split(','));
    selectors.filter_map(|selector| sole_class(selector.trim())).collect()
}

fn sole_class(selector: &str) -> Option<String> {
    let (tag, rest) = selector.split_once('.')?;
    let is_tag = tag.chars().all(|c| c.is_ascii_alphanumeric());
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c)).unwrap_or(rest.len());
    let (class, state) = rest.split_at(end);
    let is_state = state.is_empty() || state.starts_with([':', '[']);
    let is_alone = !state.contains(['.', ' ', '>', '+', '~']);
    (is_tag && is_state && is_alone).then(|| class.to_owned())
}
