//! Models behind endpoints that do what they should.

use domain::outcome::Outcome;
use domain::role::Role;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::agent::{self, THOUGHT};
use crate::support::endpoint::{Endpoint, busy, says};
use crate::support::play::{HELP, played, rows, stories};

#[sqlx::test(migrations = "../migrations")]
async fn an_agent_behind_an_endpoint_earns_a_row_under_its_own_name(pool: PgPool) {
    let endpoint = Endpoint::start(agent::help).await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Agent, endpoint.model())]).await;
    let rows = rows(&player).await;
    let [row] = rows.as_slice() else { panic!("{} rows", rows.len()) };
    let metadata = &row["metadata"];
    assert_eq!(metadata["models"]["agent"], endpoint.model());
    assert_eq!(metadata["scripted_roles"], json!(["judge", "simulated_user", "state_manager", "tool_simulator"]));
    assert_eq!(metadata["accepted"], true);
    let asks = endpoint.requests().len();
    let usage = json!({"prompt_tokens": 11 * asks, "cached_tokens": 4 * asks, "completion_tokens": 7 * asks});
    assert_eq!(metadata["usage"]["agent"], usage, "with what its endpoint had cached");

    let messages = row["messages"].as_array().unwrap();
    let calling = messages.iter().find(|m| m["tool_calls"].is_array()).unwrap();
    assert_eq!(calling["reasoning_content"], THOUGHT);
    assert_eq!(calling["content"], "");
    let ids: Vec<&Value> = calling["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
    assert_eq!(ids, ["call_1", "call_2"], "the endpoint's own ids are not unique in a conversation");

    let request = &endpoint.requests()[0];
    let temperature = request["temperature"].as_f64().unwrap();
    assert!((temperature - 0.7).abs() < 1e-6, "{temperature}");
    assert_eq!(request["tools"], row["tools"]);
}

#[sqlx::test(migrations = "../migrations")]
async fn all_roles_behind_one_endpoint(pool: PgPool) {
    let endpoint = Endpoint::start(|request| match request["response_format"]["json_schema"]["name"].as_str() {
        Some("verdict") => says(&agent::verdict().to_string()),
        Some("search_help_response") => says(&agent::search_help().to_string()),
        Some(other) => panic!("nobody asks for {other} here"),
        None if request["tools"].is_array() => agent::help(request),
        None if request.to_string().contains("1.75") => says("Thank you! [END]"),
        None if request.to_string().contains("15 to 30 words") => {
            says("I am going to travel soon: what does paying by card abroad cost me, and when can I call you?")
        }
        None => says("What does paying by card abroad cost me?"),
    })
    .await;
    let models = Role::ALL.map(|role| (role, endpoint.model()));
    let player = played(&pool, &[HELP], 2, 1, &models).await;
    for row in rows(&player).await {
        assert_eq!(row["metadata"]["scripted_roles"], json!([]));
        assert_eq!(row["metadata"]["overall"], 8);
    }
    for story in stories(&player).await {
        assert_eq!(story.outcome, Outcome::Accepted, "as {}: {:?}", story.planned.complexity, story.events.last());
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_busy_endpoint_is_asked_again_when_it_says(pool: PgPool) {
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let endpoint = Endpoint::start(move |request| {
        // Busy every second time.
        let turn = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if turn.is_multiple_of(2) { busy() } else { agent::help(request) }
    })
    .await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Agent, endpoint.model())]).await;
    assert_eq!(stories(&player).await[0].outcome, Outcome::Accepted);
    let requests = endpoint.requests();
    assert!(requests.chunks(2).all(|pair| pair[0] == pair[1]), "the same is asked again");
}
