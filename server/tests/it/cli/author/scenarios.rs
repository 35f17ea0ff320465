//! Scenarios that a model drafts, with an endpoint that answers what models answer.

mod drafts;
mod refusals;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::response::Response;
use serde_json::Value;
use tokio::process::Command;

use super::{RENT, small_project};
use crate::cli::{Project, said};
use crate::support::endpoint::{Endpoint, endless, says, status};
use crate::support::project;

/// A shipped scenario in other words: sound, and unlike the one it is made from.
fn music_school() -> String {
    rewritten(&[
        ("id: transfer_rent_to_payee", "id: music_school_term"),
        (
            "description: A monthly rent payment to a landlord who is already on the list of payees.",
            "description: Somebody settles the fee of the summer term at a music school that was paid before.",
        ),
        (
            "You want to send the rent of 950.00 to Hilltop Lettings from your current account, with the reference \"Rent March\".",
            "A term of trumpet lessons is due: 950.00 must reach the Brass and Reed School, and \"Summer term\" is to stand on it.",
        ),
        ("Hilltop Lettings", "Brass and Reed School"),
        ("Rent March", "Summer term"),
        ("Please pay my rent to", "Please pay the trumpet lessons at"),
        ("it is the rent.", "it is for the lessons."),
    ])
}

/// Another one.
fn bicycle() -> String {
    rewritten(&[
        ("id: transfer_rent_to_payee", "id: bicycle_deposit"),
        (
            "description: A monthly rent payment to a landlord who is already on the list of payees.",
            "description: The deposit on a new bicycle goes to a workshop from the list.",
        ),
        (
            "You want to send the rent of 950.00 to Hilltop Lettings from your current account, with the reference \"Rent March\".",
            "You bought a bicycle. Spoke and Saddle waits for 950.00, marked \"Blue tourer\"; take it from the current account.",
        ),
        ("Hilltop Lettings", "Spoke and Saddle"),
        ("Rent March", "Blue tourer"),
        ("Please pay my rent to", "Please pay the bicycle at"),
    ])
}

fn rewritten(edits: &[(&str, &str)]) -> String {
    let mut text = std::fs::read_to_string(project().join(RENT)).unwrap();
    for (from, to) in edits {
        assert!(text.contains(from), "`{from}` stands nowhere any more");
        text = text.replace(from, to);
    }
    text
}

/// A model that answers one request after the other so, and then is asked no more.
async fn model(answers: Vec<fn() -> Response>) -> Endpoint {
    let asked = Arc::new(AtomicUsize::new(0));
    let answers = Arc::new(answers);
    Endpoint::start(move |_: &Value| match answers.get(asked.fetch_add(1, Ordering::Relaxed)) {
        Some(answer) => answer(),
        None => panic!("asked too often"),
    })
    .await
}

fn author(project: &Project, endpoint: &Endpoint, flags: &str) -> Command {
    let fixed = "author scenarios --playbook retail_bank --intent money_transfer --concurrency 1";
    let mut command = project.groundstate(&format!("{fixed} {flags} --model"));
    command.arg(endpoint.model());
    command
}

/// Every file of the project's scenarios and its text.
fn scenarios(project: &Project) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(project.join("scenarios/retail_bank")).unwrap();
    let mut files: Vec<(String, String)> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap()))
        .collect();
    files.sort();
    files
}

/// What a model was told in its n-th request: system and user, one after the other.
fn prompts_sent(endpoint: &Endpoint, n: usize) -> Vec<String> {
    let requests = endpoint.requests();
    let messages = requests[n]["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}
