//! What filters of corpora select, beside what events and the files of scenarios tell.

use domain::event::EventKind;
use domain::outcome::Outcome;
use domain::verdict::Verdict;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{built, manifest};
use crate::http::TestApp;
use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HANDOVER, HELP, Story, TRANSFER, planned_as, play_all, stories};
use crate::support::project;

pub const SCENARIOS: [&str; 5] = [HELP, HANDOVER, TRANSFER, "claim_wrong_amount", "claim_wrong_date"];

/// A judge that gives scores from 4 to 10, by what it reads.
pub async fn judge(salt: usize) -> Endpoint {
    Endpoint::start(move |request| {
        let read = request["messages"].to_string();
        let score = 4 + read.bytes().fold(salt, |sum, byte| (sum * 31 + usize::from(byte)) % 1_000_003) % 7;
        let mut said = verdict();
        for one in said["scores"].as_array_mut().unwrap() {
            one["score"] = json!(score);
        }
        said["overall"] = json!(score);
        says(&said.to_string())
    })
    .await
}

/// A conversation as its events tell it.
struct StoryColumns {
    id: String,
    /// The file of its scenario.
    text: String,
    turns: usize,
    overall: u8,
    agreement: f64,
    reason: Option<String>,
}

fn columns_of(story: &Story) -> StoryColumns {
    let text = project().join(format!("scenarios/retail_bank/{}.yaml", story.planned.scenario));
    let spoke = |kind: &EventKind| matches!(kind, EventKind::UserSpoke { .. });
    let judged = story.events.iter().filter_map(|event| match &event.kind {
        EventKind::Judged { verdict, .. } => Some(verdict),
        _ => None,
    });
    let [one, other] = judged.collect::<Vec<&Verdict>>().try_into().unwrap();
    StoryColumns {
        id: story.planned.id.to_string(),
        text: std::fs::read_to_string(text).unwrap(),
        turns: story.events.iter().filter(|event| event.ancestry.is_empty() && spoke(&event.kind)).count(),
        // Of two, the lower one counts. Each gave all criteria the same score.
        overall: one.overall.min(other.overall),
        agreement: 1.0 - f64::from(one.overall.abs_diff(other.overall)) / 10.0,
        reason: match &story.outcome {
            Outcome::Failed { reason, .. } => Some(reason.clone()),
            Outcome::Accepted => None,
        },
    }
}

impl StoryColumns {
    fn has_tag(&self, tag: &str) -> bool {
        let tags = self.text.lines().find_map(|line| line.strip_prefix("tags: [")).unwrap();
        tags.trim_end_matches(']').split(", ").any(|own| own == tag)
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn filters_select_what_events_and_files_tell(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let judges = [judge(1).await, judge(7).await];
    let models = [(domain::role::Role::Judge, judges[0].model())];
    let run = planned_as(&pool, &SCENARIOS, 40, 3, &models, |config| {
        config.panel = vec![judges[1].model().parse().unwrap()];
    });
    let run = play_all(run.await, 8).await;
    let all: Vec<StoryColumns> = stories(&run).await.iter().map(columns_of).collect();
    let select = |keep: &dyn Fn(&StoryColumns) -> bool| {
        let kept: Vec<&str> = all.iter().filter(|told| keep(told)).map(|told| told.id.as_str()).collect();
        assert!(!kept.is_empty() && kept.len() < all.len(), "{} of {} are no test", kept.len(), all.len());
        kept
    };
    let most = all.iter().map(|told| told.turns).max().unwrap();
    // A tenth of forty, and all that are as good as the fourth.
    let mut best: Vec<u8> = all.iter().map(|told| told.overall).collect();
    best.sort_unstable_by_key(|score| std::cmp::Reverse(*score));
    let times = "SELECT to_json(finished_at) #>> '{}' FROM tasks ORDER BY finished_at";
    let times: Vec<String> = sqlx::query_scalar(times).fetch_all(&pool).await.unwrap();
    let late = "SELECT id::text FROM tasks WHERE finished_at >= $1::timestamptz ORDER BY position";
    let late: Vec<String> = sqlx::query_scalar(late).bind(&times[20]).fetch_all(&pool).await.unwrap();
    let cases: Vec<(Value, Vec<&str>)> = vec![
        (json!({"tags": ["user_mistake"]}), select(&|told| told.has_tag("user_mistake"))),
        (
            json!({"tags": ["parallel_calls", "terminal"]}),
            select(&|told| told.has_tag("parallel_calls") || told.has_tag("terminal")),
        ),
        (json!({"families": ["memory_differs"]}), select(&|told| told.text.contains("\nfamily: memory_differs\n"))),
        (
            json!({"families": ["memory_differs", HELP]}),
            select(&|told| {
                told.text.contains("\nfamily: memory_differs\n") || told.text.contains(&format!("id: {HELP}\n"))
            }),
        ),
        (json!({"turns": {"min": most}}), select(&|told| told.turns == most)),
        (json!({"turns": {"max": most - 1}}), select(&|told| told.turns < most)),
        (json!({"min_agreement": 0.75}), select(&|told| told.agreement > 0.75)),
        (json!({"min_agreement": 0.9}), select(&|told| told.agreement > 0.85)),
        (json!({"top": [{"share": 0.1}]}), select(&|told| told.overall >= best[3])),
        (json!({"min_scores": {"tool_usage": 6}, "max_overall": 8}), select(&|told| (6..=8).contains(&told.overall))),
        (json!({"max_scores": {"consistency": 5}}), select(&|told| told.overall <= 5)),
        (
            json!({"reason": "is below"}),
            select(&|told| told.reason.as_ref().is_some_and(|reason| reason.contains("is below"))),
        ),
        (json!({"finished_from": times[20]}), late.iter().map(String::as_str).collect()),
        (
            json!({"models": [format!("judge:{}", judges[1].model())]}),
            all.iter().map(|told| told.id.as_str()).collect(),
        ),
    ];
    for (n, (mut filter, expected)) in cases.into_iter().enumerate() {
        filter["outcomes"] = json!(["accepted", "failed"]);
        let spec = json!({"filter": filter, "duplicates": {"exact": false}, "split": {"golden": 0}});
        let corpus = built(&app, &format!("c{n}"), spec).await;
        let (_, rows) = manifest(&app, &corpus).await;
        let found: Vec<&str> = rows.iter().map(|row| row.conversation.as_str()).collect();
        assert_eq!(found, expected, "{filter}");
        assert!(rows.iter().all(|row| row.split.is_some()), "nothing else drops them: {filter}");
    }
    let nobody = json!({"filter": {"models": ["agent:nobody"]}});
    let report: domain::corpus::Report = app.post(&format!("{}/preview", super::LIST), &nobody).await;
    assert_eq!((report.looked_at, report.found), (40, 0));
}
