//! The checks themselves, on made-up crates: each way to name a module is seen, and each rule can be broken.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::layers::{UseRule, Users, cycle_violations, layer_violations, use_violations};
use crate::modules::Modules;
use crate::workspace::{Rules, Workspace};

/// A crate of these files, the first of which is its root.
fn read(files: &[(&str, &str)]) -> Result<Modules, String> {
    let texts: BTreeMap<&Path, &str> = files.iter().map(|(path, text)| (Path::new(*path), *text)).collect();
    Modules::read(Path::new(files[0].0), &|file| texts.get(file).map(|text| (*text).to_owned()))
}

/// A crate whose module `low` has this text, with modules `high` and `high::inner` that it should not know.
fn crate_with(root: &str, low: &str) -> Modules {
    let root = format!("mod high; mod low; {root}");
    let high = "pub mod inner; pub struct Thing; pub fn call() {}";
    let files = [("src/lib.rs", &*root), ("src/high.rs", high), ("src/high/inner.rs", ""), ("src/low.rs", low)];
    read(&files).unwrap()
}

fn breaks_layers(root: &str, low: &str) -> bool {
    !layer_violations("made_up", &crate_with(root, low), &[&["low"], &["high"]]).is_empty()
}

#[test]
fn every_way_to_name_a_module_is_seen() {
    for low in [
        "use crate::high;",
        "use crate::high::Thing as Other;",
        "use crate::high::inner::*;",
        "use crate::{high::{self as other}};",
        "use super::high::call;",
        "use super::{high::Thing};",
        "use super::*; fn f() { high::call() }",
        "use crate as root; fn f() { root::high::call() }",
        "fn f() { use crate::high::call; call() }",
        "fn f() { crate::high::call() }",
        "fn f() -> super::high::Thing { todo() }",
        "fn f(thing: Option<&dyn crate::high::Thing>) {}",
        "fn f() { match 1 { crate::high::LIMIT => {} } }",
        "impl crate::high::Thing {}",
        "impl<T: From<crate::high::Thing>> Own<T> {}",
        "fn f() { say!(\"{}\", crate::high::call()) }",
        "fn f() { view! { <div title=move || super::high::call()><super::high::Thing /></div> } }",
        "macro_rules! call { () => { $crate::high::call() } }",
        "macro_rules! import { () => { use crate::{low, high::{Thing}}; } }",
        "crate::high::define! {}",
        "#[derive(Serialize)] struct Own { #[serde(with = \"crate::high\")] at: u8 }",
        "#[crate::high::marked] struct Own;",
        "#[doc(inline)] pub use crate::high::Thing;",
        "mod below { use super::super::high; }",
        "mod below { use self::super::super::high; }",
        "#[cfg(any(test, unix))] use crate::high;",
        "#[cfg(not(test))] use crate::high;",
        "extern crate self as made_up; use self::super::high;",
    ] {
        assert!(breaks_layers("", low), "{low}");
    }
    // Through what the root hands on.
    for (root, low) in [
        ("pub use high::Thing;", "use crate::Thing;"),
        ("pub use self::high as other;", "use crate::other::inner;"),
        ("pub use high::*;", "use crate::inner;"),
        ("pub use high::call;", "use super::*; fn f() { call() }"),
        ("pub use high::*;", "use super::*; fn f() { call() }"),
        ("mod between { pub use crate::high::Thing; } pub use between::Thing;", "use crate::Thing;"),
    ] {
        assert!(breaks_layers(root, low), "{root} {low}");
    }
}

#[test]
fn what_names_no_other_module_is_let_pass() {
    for low in [
        "use std::fmt; fn f() -> fmt::Result { high() }",
        "use ::high::Thing;",
        "mod high {} use self::high as own;",
        "mod below { pub fn call() {} } fn f() { below::call(); self::below::call() }",
        "#[cfg(test)] mod tests { use crate::high::Thing; }",
        "#[cfg(all(test, unix))] use crate::high::Thing;",
        "#[test] fn it_works() { crate::high::call() }",
        "struct Own; impl Own { #[cfg(test)] fn high() { crate::high::call() } }",
        "/// Like [`crate::high`].\nstruct Own;",
        "fn f() { say!(\"crate::high::call\"); high.call::<u8>() }",
        "fn f<high: From<u8>>() -> high::Item { high::from(1) }",
        "enum Kind { A } use Kind::*; fn f() { Kind::A; self::Kind::A }",
        "use self::inner::*; mod inner { pub use super::*; }",
    ] {
        let problems = layer_violations("made_up", &crate_with("", low), &[&["low"], &["high"]]);
        assert!(problems.is_empty(), "{low}\n{problems:?}");
    }
}

#[test]
fn files_of_modules_are_found_or_missed() {
    let nested =
        read(&[("src/main.rs", "mod a;"), ("src/a/mod.rs", "mod b { mod c; }"), ("src/a/b/c.rs", "")]).unwrap();
    let paths: Vec<String> = nested.modules.keys().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["", "a", "a::b", "a::b::c"]);
    for (root, error) in [
        ("mod a;", "src/a/mod.rs is missing"),
        ("#[path = \"elsewhere.rs\"] mod a;", "src/lib.rs: `#[path]` of module a is not understood"),
        ("mod;", "src/lib.rs: expected identifier"),
    ] {
        assert_eq!(read(&[("src/lib.rs", root)]).err().as_deref(), Some(error));
    }
}

#[test]
fn cycles_are_found_and_told_with_their_places() {
    let krate = read(&[
        ("lib.rs", "mod a; mod b; mod c; mod d; pub use a::A;"),
        ("a.rs", "use crate::b::B;\npub struct A;"),
        ("b.rs", "\nuse crate::c;"),
        ("c.rs", "use crate::d;\n\nuse crate::A;"),
        ("d.rs", "fn f(all: &[super::c::C]) {}"),
    ])
    .unwrap();
    let found = cycle_violations("made_up", &krate);
    assert_eq!(
        found,
        [
            "made_up has a cycle: a uses b (a.rs:1), b uses c (b.rs:2), c uses a (c.rs:3)",
            "made_up has a cycle: d uses c (d.rs:1), c uses d (c.rs:1)",
        ]
    );
    let below = read(&[
        ("lib.rs", "mod a;"),
        ("a.rs", "mod b; mod c; fn f(all: &[b::B]) {}"),
        ("a/b.rs", "use super::c::deep::D; pub struct B;"),
        ("a/c.rs", "mod deep;"),
        ("a/c/deep.rs", "use crate::a::b::B; pub struct D;"),
    ])
    .unwrap();
    let cycle = "made_up::a has a cycle: b uses c (a/b.rs:1), c uses b (a/c/deep.rs:1)";
    assert_eq!(cycle_violations("made_up", &below), [cycle]);
}

#[test]
fn every_module_stands_in_a_layer() {
    let krate = crate_with("", "");
    assert_eq!(layer_violations("made_up", &krate, &[&["high"]]), ["made_up::low stands in no layer"]);
    assert_eq!(layer_violations("made_up", &krate, &[&["low", "gone"], &["high"]]), ["made_up::gone is no module"]);
    let upward = crate_with("", "\nuse crate::high;");
    let problem = "made_up::low must not use made_up::high (src/low.rs:2)";
    assert_eq!(layer_violations("made_up", &upward, &[&["low"], &["high"]]), [problem]);
    assert_eq!(layer_violations("made_up", &upward, &[&["low", "high"]]), [""; 0]);
    assert_eq!(layer_violations("made_up", &upward, &[&["high"], &["low"]]), [""; 0]);
}

#[test]
fn what_is_reserved_is_kept_for_its_users() {
    let krate = crate_with("", "use sqlx::query_as as ask; fn f() { ask!(); crate::high::inner::f() }");
    let found = |paths, users| use_violations("made_up", &krate, &[UseRule { paths, users }]);
    let sql = "made_up::low must not use sqlx::query_as (src/low.rs:1)";
    assert_eq!(found(&["gone", "sqlx::query"], Users::Only(&["made_up::high"])), [sql]);
    assert_eq!(found(&["sqlx::query"], Users::Only(&["made_up::lo"])), [sql]);
    assert_eq!(found(&["sqlx::query"], Users::Only(&["other", "made_up"])), [""; 0]);
    assert_eq!(found(&["sqlx"], Users::AllExcept(&["made_up::low"])), [sql]);
    assert_eq!(found(&["sqlx"], Users::AllExcept(&["made_up::high"])), [""; 0]);
    let inner = "made_up::low must not use made_up::high::inner (src/low.rs:1)";
    assert_eq!(found(&["made_up::high::inner"], Users::Only(&["made_up::high"])), [inner]);
}

/// A workspace of these crates, each with the lines of its manifest that name what it depends on.
fn workspace(crates: &[(&str, &str)]) -> Workspace {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    for (name, dependencies) in crates {
        let krate = folder.path().join("crates").join(name);
        fs::create_dir_all(krate.join("src")).unwrap();
        let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{dependencies}\n");
        fs::write(krate.join("Cargo.toml"), manifest).unwrap();
        fs::write(krate.join("src/lib.rs"), "").unwrap();
    }
    Workspace::read(folder.path()).unwrap()
}

#[test]
fn crates_keep_to_their_rows() {
    let to_low = "[dependencies]\nlow = { path = \"../low\" }";
    let rules = |dependencies| Rules { dependencies, free_of: &[] };
    let fine = workspace(&[("low", ""), ("high", to_low)]);
    assert_eq!(fine.problems(&rules(&[("low", &[]), ("high", &["low"])])), [""; 0]);
    assert_eq!(fine.crates["high"].roots[0].name, "high");
    assert_eq!(fine.problems(&rules(&[("low", &[]), ("high", &[])])), ["high must not depend on low"]);
    assert_eq!(fine.problems(&rules(&[("low", &[])])), ["high has no row that says which crates it may depend on"]);
    assert_eq!(
        fine.problems(&rules(&[("low", &[]), ("high", &["low"]), ("gone", &[])])),
        ["gone has a row, but is no crate"]
    );
    for kind in ["dev-dependencies", "build-dependencies", "target.'cfg(windows)'.dependencies"] {
        let edge = format!("[{kind}]\nhigh = {{ path = \"../high\" }}");
        let upward = workspace(&[("low", &edge), ("high", "")]);
        assert_eq!(upward.problems(&rules(&[("low", &[]), ("high", &[])])), ["low must not depend on high"], "{kind}");
    }
}

#[test]
fn what_a_crate_must_be_free_of_is_found_at_any_remove() {
    let on = |name: &str| format!("[dependencies]\n{name} = {{ path = \"../{name}\" }}");
    let rules = Rules {
        dependencies: &[("low", &["between"]), ("between", &["tokio"]), ("tokio", &[])],
        free_of: &[("low", &["tokio", "sqlx"])],
    };
    let built = workspace(&[("low", &on("between")), ("between", &on("tokio")), ("tokio", "")]);
    assert_eq!(built.problems(&rules), ["low must not be built from tokio"]);
    let tested = on("between").replace("dependencies", "dev-dependencies");
    let tested = workspace(&[("low", &tested), ("between", &on("tokio")), ("tokio", "")]);
    assert_eq!(tested.problems(&rules), [""; 0]);
    let optional = on("between").replace(" }", ", optional = true }");
    let optional = workspace(&[("low", &optional), ("between", &on("tokio")), ("tokio", "")]);
    assert_eq!(optional.problems(&rules), ["low must not be built from tokio"]);
}
