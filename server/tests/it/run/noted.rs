//! What is noted of conversations in narrow columns: the same whether it was written when they ended or filled in later.

use domain::role::Role;
use serde_json::Value;
use sqlx::PgPool;

use crate::support::agent::{self, is_help};
use crate::support::endpoint::{Endpoint, calls, says};
use crate::support::ledger;
use crate::support::play::{HANDOVER, HELP, TRANSFER, planned_as, play_all, stories};

/// One row for each conversation and each verdict.
async fn noted(pool: &PgPool) -> Vec<Value> {
    let query =
        "SELECT jsonb_build_object('id', c.id, 'verified', c.verified, 'tool_calls', tool_calls, 'tools', tools,
                        'scores', scores, 'weighted_mean', weighted_mean, 'agreement', round(agreement::numeric, 4))
                 FROM tasks c LEFT JOIN verdicts ON conversation_id = c.id ORDER BY c.id";
    sqlx::query_scalar(query).fetch_all(pool).await.unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_noted_can_be_filled_in(pool: PgPool) {
    // An agent that calls a tool that nobody has, and a panel that does not agree.
    let endpoint = Endpoint::start(|request| match is_help(request) {
        true => agent::help(request),
        false if request.to_string().contains("no_such_tool") => says("I am done."),
        false => calls(&[("no_such_tool", serde_json::json!({}))], "Let me try."),
    })
    .await;
    let judge = Endpoint::start(|_| {
        let mut verdict = agent::verdict();
        verdict["scores"][0]["score"] = 3.into();
        says(&verdict.to_string())
    })
    .await;
    let models = [(Role::Agent, endpoint.model())];
    let run = planned_as(&pool, &[HELP, TRANSFER, HANDOVER], 9, 1, &models, |config| {
        config.panel = vec![judge.model().parse().unwrap()];
    });
    let run = play_all(run.await, 4).await;
    ledger::check(&pool, run.control.run.id).await;
    let written = noted(&pool).await;
    assert_eq!(written.len(), 9);
    assert!(written.iter().any(|row| row["agreement"].as_f64() < Some(1.0)), "{written:?}");
    assert!(written.iter().any(|row| row["tools"].as_array().is_some_and(|tools| tools.len() > 1)), "{written:?}");
    assert!(written.iter().any(|row| row["tools"] == serde_json::json!([]) && row["tool_calls"].as_i64() > Some(0)));
    assert!(written.iter().any(|row| row["verified"] == true) && written.iter().any(|row| row["verified"] == false));
    for story in stories(&run).await {
        let case =
            generation::plan::case(&run.kind.library, &run.kind.config, run.control.run.seed, &story.planned).unwrap();
        let played = engine::Conversation::resume(case.into(), &story.events).unwrap();
        let own = played.state().transcript.agent_calls().count();
        let row = written.iter().find(|row| row["id"] == story.planned.id.to_string()).unwrap();
        assert_eq!(row["tool_calls"], own);
    }

    // A database from before the columns.
    let drop = "ALTER TABLE tasks RENAME TO conversations; ALTER TABLE events RENAME COLUMN task_id TO conversation_id;
                ALTER TABLE conversations DROP COLUMN verified, DROP COLUMN tool_calls, DROP COLUMN tools;
                ALTER TABLE verdicts DROP COLUMN scores, DROP COLUMN weighted_mean, DROP COLUMN agreement,
                    DROP COLUMN verified;
                ALTER TABLE runs DROP COLUMN retried";
    sqlx::raw_sql(drop).execute(&pool).await.unwrap();
    let fill = include_str!("../../../../migrations/20261122141000_keep_narrow_facts.sql");
    let mut tx = pool.begin().await.unwrap();
    sqlx::raw_sql(fill).execute(&mut *tx).await.unwrap();
    let rename =
        "ALTER TABLE conversations RENAME TO tasks; ALTER TABLE events RENAME COLUMN conversation_id TO task_id";
    sqlx::raw_sql(rename).execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(noted(&pool).await, written);
    ledger::check(&pool, run.control.run.id).await;
}
