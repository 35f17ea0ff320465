//! The requests of a hostile author, runner and viewer: the same as in server/tests/it/abuse/together.rs.

use std::collections::BTreeMap;

use anyhow::Context;
use projects::library::Files;
use reqwest::Method;
use serde_json::{Value, json};

use super::{HANDOVER, HELP, PROJECT};

const CODE: &str = "playbooks/retail_bank/tools.star";

/// Method, path and body.
pub type Attack = (Method, String, Option<Value>);

/// Documents that take all the time and memory that a check may have.
pub fn of_an_author(files: &Files) -> anyhow::Result<Vec<Attack>> {
    let bank: BTreeMap<&String, &String> = files.iter().filter(|(path, _)| path.starts_with("playbooks/")).collect();
    let code = files.get(CODE).context("the bank has no tools")?;
    let with = |more: &str| {
        let mut changed: BTreeMap<&str, String> =
            bank.iter().map(|(path, text)| (path.as_str(), (*text).clone())).collect();
        changed.insert(CODE, format!("{code}\n{more}\n"));
        json!({"files": changed})
    };
    let at = code.find("def get_customer(").context("no tool to change")?;
    let end = at + code[at..].find("\ndef ").context("no other tool")?;
    let drafts = |body: &str| {
        let code = format!("{}def get_customer(world, args):\n{body}{}", &code[..at], &code[end..]);
        json!({"drafts": {CODE: code},
               "calls": [{"tool": "get_customer", "arguments": {"customer_id": "cus_1001"}}]})
    };
    let post = |action: &str, body| (Method::POST, format!("{PROJECT}/playbooks/retail_bank/{action}"), Some(body));
    Ok(vec![
        post("check", with(&format!("_x = {}", "[".repeat(50_000)))),
        post("check", with("_x = [i * j for i in range(100000) for j in range(100000)]")),
        post("try", drafts("    return {\"x\": [\"x\" * 1000000 for i in range(2000)]}\n")),
        post("try", drafts("    n = 0\n    for i in range(1000000000):\n        n += i\n    return n\n")),
    ])
}

/// Orders that name what is not there, judges without number, and runs that take all players.
pub fn of_a_runner(n: u32) -> Vec<Attack> {
    let unknown: Vec<String> = (0..140_000).map(|i| format!("unknown_{i}")).collect();
    let panel = vec!["scripted"; 40_000];
    let post = |path: &str, body| (Method::POST, format!("{PROJECT}/runs{path}"), Some(body));
    vec![
        post("/preview", json!({"scenarios": unknown, "n": 10})),
        post("", json!({"scenarios": [HELP], "n": 10, "panel": panel})),
        post("", json!({"scenarios": [HELP, HANDOVER], "n": n, "seed": 1})),
    ]
}

/// Lists, facets and archives, as fast as they come.
pub fn of_a_viewer() -> Vec<Attack> {
    let long = format!("/scenarios?search={}", "a".repeat(20_000));
    let paths =
        ["/archive", "/conversations?limit=1000", "/conversations/facets?search=a", "/playbooks/retail_bank", &long];
    paths.map(|path| (Method::GET, format!("{PROJECT}{path}"), None)).into()
}
