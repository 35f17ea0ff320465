//! Which endpoints are asked for the rows of a run.

use std::time::Duration;

use domain::price::Price;
use llm::{ModelSpec, Registry};
use rows::order::Order;
use sqlx::PgPool;

use super::{answer, order_of, played, played_by, prompt, stored_order, summary, topics};
use crate::support::endpoint::Endpoint;
use crate::support::ledger;

const ROWS: usize = 6;

#[sqlx::test(migrations = "../migrations")]
async fn each_endpoint_is_asked_what_belongs_to_its_role(pool: PgPool) {
    let (writer, judge) = (Endpoint::start(answer).await, Endpoint::start(answer).await);
    let models = [("writer", &writer), ("judge", &judge)]
        .map(|(role, endpoint)| (role.to_owned(), endpoint.model().parse::<ModelSpec>().unwrap()));
    let run = stored_order(&pool, Order { models: models.into(), ..order_of("report", topics(ROWS)) }).await;
    let run = played(run).await;
    let now = summary(&pool, &run).await;
    assert_eq!(now.accepted, i64::try_from(ROWS).unwrap());
    for (role, endpoint, each) in [("writer", &writer, 1 + 3), ("judge", &judge, 6)] {
        let asked = endpoint.requests();
        assert_eq!(asked.len(), each * ROWS, "{role}");
        let foreign = asked.iter().map(prompt).find(|prompt| prompt.starts_with("judge") != (role == "judge"));
        assert_eq!(foreign, None, "{role}");
        let usage = now.usage.iter().find(|usage| usage.role == role).unwrap();
        assert_eq!((&usage.model, usage.calls), (&endpoint.model(), i64::try_from(asked.len()).unwrap()));
    }
    assert_eq!(now.usage.len(), 2, "{:?}", now.usage);
    ledger::check(&pool, run.control.run.id).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn the_replicas_of_a_model_share_what_is_asked(pool: PgPool) {
    let latency = Duration::from_millis(5);
    let replicas = [Endpoint::start_slow(latency, answer).await, Endpoint::start_slow(latency, answer).await];
    let urls = replicas.each_ref().map(|endpoint| endpoint.model().split_once('@').unwrap().1.to_owned());
    let text = format!(
        "models:\n  - name: pair\n    replicas: ['{}', '{}']\n    price: {{prompt: 1000, completion: 5000}}\n",
        urls[0], urls[1]
    );
    let registry = Registry::read("models.yaml", &text).map_err(|wrong| format!("{wrong:?}")).unwrap();
    let pools = vec![registry.pool("pair").unwrap().clone()];
    let order = Order { models: played_by("pair"), pools, ..order_of("report", topics(ROWS)) };
    let run = played(stored_order(&pool, order).await).await;
    let now = summary(&pool, &run).await;
    assert_eq!(now.accepted, i64::try_from(ROWS).unwrap());
    let asked = replicas.each_ref().map(|endpoint| endpoint.requests().len());
    assert_eq!(asked[0] + asked[1], 10 * ROWS, "nothing was asked twice");
    assert!(asked.iter().all(|n| *n >= 2 * ROWS), "none has much less to do than the other: {asked:?}");
    // It is one model, whichever endpoint answers.
    let price = Price { prompt: 1000.0, completion: 5000.0 };
    assert_eq!(run.kind.spec.pools[0].price, Some(price));
    let models: Vec<&str> = now.usage.iter().map(|usage| usage.model.as_str()).collect();
    assert_eq!(models, ["pair", "pair"], "for both roles");
    let cost: f64 = now.usage.iter().map(|usage| usage.cost).sum();
    let each = (11.0 * price.prompt + 7.0 * price.completion) / 1e6;
    assert!((cost - each * 60.0).abs() < 1e-9, "{:?}", now.usage);
    ledger::check(&pool, run.control.run.id).await;
}
