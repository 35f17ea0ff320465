//! Tools by code, held against recordings of the same tools elsewhere: the retail domain of tau2-bench (Sierra
//! Research, MIT licence). The recordings are data only and lie beside the repository.

#![expect(clippy::expect_used, reason = "what cannot be read fails the test that needs it")]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use domain::patch::Patch;
use engine::World;
use engine::playbook::{Playbook, Sources, compile};
use engine::tools::code::{CallContext, CodeError};
use engine::world::Node;
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Calls from one initial world, each with what it answered and changed.
#[derive(Deserialize)]
struct Sequence {
    id: String,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    arguments: Map<String, Value>,
    /// The text that the agent read.
    response: String,
    is_error: bool,
    patch: Patch,
}

/// What a call came to here.
struct Outcome {
    response: String,
    is_error: bool,
    world: World,
}

#[test]
fn retail_tools_do_as_recorded_where_tasks_are_solved() {
    check("gold.jsonl.gz", 114, 550);
}

#[test]
fn retail_tools_do_as_recorded_where_calls_go_wrong() {
    check("probes.jsonl.gz", 150, 900);
}

/// Replays a file of so many sequences with so many calls.
fn check(name: &str, sequences: usize, calls: usize) {
    let Some(recordings) = recordings() else { return };
    let playbook = playbook();
    let initial = World::new(&parse(&unzip(&recordings.join("world.json.gz"))));
    playbook.check_world(&initial, &playbook.now()).expect("the initial world is one of the playbook's");
    let recorded: Vec<Sequence> = unzip(&recordings.join(name)).lines().map(parse).collect();
    let found = (recorded.len(), recorded.iter().map(|sequence| sequence.calls.len()).sum::<usize>());
    assert_eq!(found, (sequences, calls), "{name} is not whole");
    let mismatches: Vec<String> = recorded.iter().flat_map(|sequence| replay(&playbook, &initial, sequence)).collect();
    let first = mismatches.iter().take(10).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(mismatches.is_empty(), "{} differences in {calls} calls; the first:\n{first}", mismatches.len());
}

#[test]
fn retail_tools_are_described_as_recorded() {
    let Some(recordings) = recordings() else { return };
    let recorded: Value = parse(&fs::read_to_string(recordings.join("tools.json")).expect("tools.json is read"));
    assert_eq!(json!(playbook().functions(playbook().agent(None))), recorded);
}

/// What differs in a sequence. After a difference it goes on from the recorded world, so that each call is judged alone.
fn replay(playbook: &Playbook, initial: &World, sequence: &Sequence) -> Vec<String> {
    let mut mismatches = Vec::new();
    let mut world = initial.clone();
    for (i, call) in sequence.calls.iter().enumerate() {
        let found = answer(playbook, &world, &sequence.id, call);
        let expected = world.apply(&call.patch).expect("a recorded patch applies");
        let at = format!("{}, call {i}, {} {}", sequence.id, call.name, Value::Object(call.arguments.clone()));
        if found.is_error != call.is_error || !same_text(call, &found.response) {
            mismatches.push(format!("{at}\n  expected {}\n  found    {}", call.response, found.response));
        }
        if found.world.root() != expected.root() {
            let changed =
                |after: &World| serde_json::to_string(&world.patch_to(after.root())).expect("a patch is JSON");
            mismatches.push(format!("{at}\n  expected {}\n  found    {}", changed(&expected), changed(&found.world)));
        }
        world = expected;
    }
    mismatches
}

/// Answers a call in the order of a conversation: arguments, simulation, checks, commit.
fn answer(playbook: &Playbook, world: &World, id: &str, call: &Call) -> Outcome {
    let moment = CallContext { now: "2024-05-15T15:00:00Z", id_seed: id };
    let committed = || {
        let tool = playbook.tool(&call.name).ok_or("no such tool")?;
        let faults = tool.argument_faults(&Value::Object(call.arguments.clone()));
        if !faults.is_empty() {
            return Err(format!("invalid arguments: {}", faults.join("; ")));
        }
        let (response, patch) =
            playbook.run_code(tool, &call.arguments, world, &moment).map_err(|error| match error {
                CodeError::Refused(text) => text,
                CodeError::Broken(text) => format!("the tool is broken: {text}"),
            })?;
        let after = playbook
            .commit(tool, &call.arguments, world, &patch, moment.now)
            .map_err(|e| format!("not committed: {e}"))?;
        Ok((response, after))
    };
    match committed() {
        Ok((Value::String(response), world)) => Outcome { response, is_error: false, world },
        Ok((response, world)) => Outcome { response: response.to_string(), is_error: false, world },
        Err(reason) => Outcome { response: format!("Error: {reason}"), is_error: true, world: world.clone() },
    }
}

/// JSON is compared as values, numbers by what they are worth; anything else as text. What is wrong with an expression
/// everybody may say in their own words.
fn same_text(call: &Call, found: &str) -> bool {
    if call.name == "calculate" && call.is_error {
        return true;
    }
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    match (parse(&call.response), parse(found)) {
        (Some(expected), Some(found)) => Node::from(&expected) == Node::from(&found),
        _ => call.response == found,
    }
}

fn playbook() -> Playbook {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/tau2_retail");
    let files: BTreeMap<String, String> = fs::read_dir(&folder)
        .expect("the playbook's folder is read")
        .map(|entry| {
            let entry = entry.expect("an entry is read");
            let text = fs::read_to_string(entry.path()).expect("a file is read");
            (entry.file_name().into_string().expect("a plain file name"), text)
        })
        .collect();
    compile(&Sources { folder: "tau2_retail", files: &files })
        .unwrap_or_else(|problems| panic!("the playbook does not compile: {problems:#?}"))
}

/// The recordings' folder. Where it is missing there is nothing to test, except in CI, which must not pass by accident.
fn recordings() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = env::var_os("GROUNDSTATE_SHARED").map_or_else(beside, PathBuf::from);
    let folder = shared.join("conformance/tau2_retail");
    if folder.is_dir() {
        return Some(folder);
    }
    let reason = format!("no recordings at {}; set GROUNDSTATE_SHARED to the folder that holds them", folder.display());
    assert!(env::var_os("CI").is_none(), "{reason}");
    // Straight to the terminal: a passing test's output is not shown.
    writeln!(io::stderr(), "conformance is not tested: {reason}").expect("standard error is written");
    None
}

fn unzip(path: &Path) -> String {
    let file = fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text
}

fn parse<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("a recording is JSON of its kind")
}
