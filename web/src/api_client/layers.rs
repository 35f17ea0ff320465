//! What the folders of the app may know of each other, read from its own sources.

use std::fs;
use std::path::{Path, PathBuf};

/// All files below a folder of `web`, as (path, text).
fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} is empty");
    found
}

/// Fails if a file below a folder says one of the words, unless its path has one of these parts.
fn never(folder: &str, words: &[&str], except: &[&str]) {
    let elsewhere = |path: &Path| !except.iter().any(|part| path.to_string_lossy().contains(part));
    for (path, text) in files(folder).iter().filter(|(path, _)| elsewhere(path)) {
        for word in words {
            assert!(!text.contains(word), "{} says {word}", path.display());
        }
    }
}

#[test]
fn only_the_client_of_the_api_asks_the_server() {
    never("src", &["gloo_net", "EventSource", "XmlHttpRequest"], &["api_client"]);
}

#[test]
fn components_know_no_page() {
    never("src/components", &["crate::pages"], &[]);
}

#[test]
fn the_client_shows_nothing() {
    never("src/api_client", &["crate::components", "crate::pages", "view!"], &["layers.rs"]);
}

#[test]
fn colours_stand_in_one_place() {
    never("style", &["oklch(", "rgb(", "rgba(", "hsl(", "light-dark(", ": #"], &["0-tokens.css"]);
}
