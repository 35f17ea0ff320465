//! /api/v1/runs/{id}/conversations and /api/v1/conversations

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use domain::api::{
    ConversationDetail, ConversationFacets, ConversationSummary, Neighbours, Page, RunAnalytics, RunComparison,
    RunState, RunSummary,
};
use domain::corpus::Report;
use domain::filter::list_parameters;
use domain::outcome::{Blame, Outcome};
use domain::reward::{GroupRewards, reward};
use domain::role::Role;
use generation::judge_again::JudgingSpec;
use reqwest::StatusCode;
use serde_json::json;
use sqlx::PgPool;
use store::clock;
use store::{control, verdicts};

use super::TestApp;
use crate::support::agent::verdict;
use crate::support::endpoint::{Endpoint, nobody, says};
use crate::support::pass;
use crate::support::play::{HANDOVER, HELP, TRANSFER, planned, planned_as, play_all, played, stories};

type List = Page<ConversationSummary>;

#[sqlx::test(migrations = "../migrations")]
async fn a_long_run_comes_in_pages_and_in_order(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP, HANDOVER], 120, 1, &[]).await;
    played(&pool, &[HELP], 3, 1, &[]).await;
    let list = format!("/api/v1/runs/{}/conversations", player.control.run.id);
    let (mut positions, mut sizes) = (Vec::new(), Vec::new());
    let mut next = Some(list.clone());
    while let Some(path) = next {
        let page: List = app.json(&path).await;
        sizes.push(page.items.len());
        positions.extend(page.items.iter().map(|item| item.position));
        next = page.next.map(|after| format!("{list}?after={after}"));
    }
    assert_eq!(sizes, [50, 50, 20]);
    assert_eq!(positions, (0..120).collect::<Vec<_>>());
}

#[sqlx::test(migrations = "../migrations")]
async fn a_page_far_down_is_read_without_those_before_it(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP, HANDOVER], 30, 1, &[]).await;
    let list = format!("/api/v1/runs/{}/conversations?limit=5", player.control.run.id);
    let far: List = app.json(&format!("{list}&skip=20")).await;
    assert_eq!((positions(&far), far.next.is_some()), ((20..25).collect(), true));
    // From there it goes on as from any other page, and what is skipped counts from the cursor on.
    let next = far.next.unwrap();
    let last: List = app.json(&format!("{list}&after={next}")).await;
    assert_eq!((positions(&last), last.next), ((25..30).collect(), None));
    let last: List = app.json(&format!("{list}&after={next}&skip=3")).await;
    assert_eq!((positions(&last), last.next), ((28..30).collect(), None));
    let beyond: List = app.json(&format!("{list}&skip=4294967295")).await;
    assert_eq!((beyond.items.len(), beyond.next), (0, None));
    let of_project: List = app.json("/api/v1/projects/default/conversations?limit=5&skip=29&order=desc").await;
    assert_eq!(positions(&of_project), [0]);
    let detail = app.problem(&format!("{list}&skip=-1"), StatusCode::BAD_REQUEST).await;
    assert_eq!(detail, "`skip`: invalid digit found in string");
    app.problem(&format!("{list}&skip=1&skip=2"), StatusCode::BAD_REQUEST).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_page_that_is_just_full_is_the_last_one(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 50, 1, &[]).await;
    let page: List = app.json(&format!("/api/v1/runs/{}/conversations", player.control.run.id)).await;
    assert_eq!((page.items.len(), page.next), (50, None));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_has_not_begun_is_in_no_page(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = planned(&pool, &[HELP], 50, 1, &[]).await;
    let page: List = app.json(&format!("/api/v1/runs/{}/conversations", player.control.run.id)).await;
    assert_eq!((page.items.len(), page.next), (0, None));
    let run: RunSummary = app.json(&format!("/api/v1/runs/{}", player.control.run.id)).await;
    assert_eq!((run.planned, run.finished, run.state), (50, 0, RunState::Running));
}

#[sqlx::test(migrations = "../migrations")]
async fn cursors_that_are_none(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = planned(&pool, &[HELP], 1, 1, &[]).await;
    let list = format!("/api/v1/runs/{}/conversations", player.control.run.id);
    for cursor in ["x", "", "1.5", "99999999999"] {
        let detail = app.problem(&format!("{list}?after={cursor}"), StatusCode::BAD_REQUEST).await;
        assert_eq!(detail, format!("`after`: `{cursor}` is not a cursor"));
    }
    let run = player.control.run.id.simple();
    app.problem(&format!("{list}?after=0.{run}.1&after=0.{run}.2"), StatusCode::BAD_REQUEST).await;
    let other = clock::id().simple();
    let detail = app.problem(&format!("{list}?after=0.{other}.1"), StatusCode::BAD_REQUEST).await;
    assert_eq!(detail, "`after`: it is the cursor of another list");
    let beyond: List = app.json(&format!("{list}?after=0.{run}.7")).await;
    assert_eq!((beyond.items.len(), beyond.next), (0, None));
}

#[sqlx::test(migrations = "../migrations")]
async fn one_conversation_whole(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 1, 1, &[]).await;
    let story = &stories(&player).await[0];
    let detail: ConversationDetail = app.json(&format!("/api/v1/conversations/{}", story.planned.id)).await;
    assert_eq!(detail.run_id, player.control.run.id.to_string());
    assert_eq!(detail.events, story.events);
    assert_eq!(detail.models, Role::ALL.map(|role| (role.to_string(), "scripted".to_owned())).into());
    assert!(detail.verification.unwrap().passed());
    let verdict = detail.verdict.unwrap();
    assert_eq!(verdict.scores.len(), 8);
    assert_eq!(detail.summary.overall, Some(verdict.overall.into()));
    assert_eq!(detail.summary.outcome, Some(Outcome::Accepted));
    assert_eq!(usize::try_from(detail.summary.events), Ok(story.events.len()));
    assert_eq!((detail.summary.scenario.as_str(), detail.summary.position), (HELP, 0));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_failed_conversation_says_who_and_why(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Judge, nobody())]).await;
    let id = stories(&player).await[0].planned.id;
    let detail: ConversationDetail = app.json(&format!("/api/v1/conversations/{id}")).await;
    let Some(Outcome::Failed { blame, reason }) = detail.summary.outcome else { panic!() };
    assert_eq!(blame, Blame::Infrastructure);
    assert!(reason.contains("cannot be reached"), "{reason}");
    assert!(detail.verdict.is_none());
    assert!(detail.verification.is_some());
}

#[sqlx::test(migrations = "../migrations")]
async fn unknown_conversations(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for id in ["0199fe00-0000-7000-8000-000000000000", "1"] {
        let detail = app.problem(&format!("/api/v1/conversations/{id}"), StatusCode::NOT_FOUND).await;
        assert_eq!(detail, format!("there is no conversation {id}"));
    }
}

fn positions(list: &List) -> Vec<i32> {
    list.items.iter().map(|item| item.position).collect()
}

/// Whether a conversation passes.
type Keep<'a> = Box<dyn Fn(&ConversationSummary) -> bool + 'a>;

/// A scenario with a family.
const REFUND: &str = "fee_refund_goodwill";

/// A judge that gives scores from 4 to 10, and says whether the goal was achieved, by what it reads.
async fn critic(salt: usize) -> Endpoint {
    Endpoint::start(move |request| {
        let read = request["messages"].to_string();
        let hash = read.bytes().fold(salt, |sum, byte| (sum * 31 + usize::from(byte)) % 1_000_003);
        let (score, mut said) = (4 + hash % 7, verdict());
        for one in said["scores"].as_array_mut().unwrap() {
            one["score"] = json!(score);
        }
        said["overall"] = json!(score);
        said["goal_achieved"] = json!(hash % 3 > 0);
        says(&said.to_string())
    })
    .await
}

#[sqlx::test(migrations = "../migrations")]
async fn lists_are_narrowed_by_what_they_show(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let critics = [critic(1).await, critic(7).await];
    let idle = Endpoint::start(|_| says("I can not say.")).await;
    let models = [(Role::Judge, critics[0].model())];
    let run = planned_as(&pool, &[HELP, TRANSFER, HANDOVER, REFUND], 32, 1, &models, |config| {
        config.panel = vec![critics[1].model().parse().unwrap()];
    });
    let run = play_all(run.await, 4).await.control.run.id.to_string();
    let failing = played(&pool, &[HELP], 6, 1, &[(Role::Agent, idle.model())]).await.control.run.id.to_string();

    let list = "/api/v1/projects/default/conversations";
    let all = app.json::<List>(&format!("{list}?limit=200")).await.items;
    let persona = all[0].persona.clone();
    let mut finished: Vec<DateTime<Utc>> = all.iter().map(|item| item.finished_at.unwrap()).collect();
    finished.sort_unstable();
    let middle = finished[15];
    // The best quarter, and all that are as good as the last of it.
    let least_of_best = |mut scores: Vec<i16>| {
        scores.sort_unstable();
        scores[scores.len() - scores.len().div_ceil(4)]
    };
    let least = least_of_best(all.iter().filter_map(|item| item.overall).collect());
    let consistency = |item: &ConversationSummary| item.scores.get("consistency").copied().map(i16::from);
    let least_consistency = least_of_best(all.iter().filter_map(consistency).collect());
    let moment = middle.to_rfc3339_opts(SecondsFormat::Micros, true);
    let models = [&critics[0], &idle].map(|endpoint| endpoint.model().replace('@', "%40"));
    let score = |item: &ConversationSummary, criterion: &str| item.scores.get(criterion).copied();
    let has = |item: &ConversationSummary, tool: &str| item.tools.iter().any(|own| own == tool);
    let blamed = |item: &ConversationSummary| match &item.outcome {
        Some(Outcome::Failed { blame, reason }) => Some((*blame, reason.clone())),
        _ => None,
    };
    let reward = |item: &ConversationSummary| reward(blamed(item).map(|(blame, _)| blame), item.verified == Some(true));
    let solve_rate = |item: &ConversationSummary| {
        let same = all.iter().filter(|other| (&other.run_id, &other.scenario) == (&item.run_id, &item.scenario));
        GroupRewards::of(same.map(reward)).mean
    };
    let cases: Vec<(String, Keep<'_>)> = vec![
        (format!("run={failing}"), Box::new(|item| item.run_id == failing)),
        (format!("scenario={HELP}"), Box::new(|item| item.scenario == HELP)),
        (
            format!("scenario={HELP}&scenario={TRANSFER}"),
            Box::new(|item| item.scenario == HELP || item.scenario == TRANSFER),
        ),
        ("family=goodwill_refund".into(), Box::new(|item| item.scenario == REFUND)),
        ("tag=parallel_calls".into(), Box::new(|item| item.scenario == HELP || item.scenario == TRANSFER)),
        ("playbook=retail_bank".into(), Box::new(|_| true)),
        ("playbook=telecom_support".into(), Box::new(|_| false)),
        ("model=scripted".into(), Box::new(|item| item.run_id == run)),
        (format!("model={}", models[1]), Box::new(|item| item.run_id == failing)),
        ("model=judge:scripted&model=nobody".into(), Box::new(|item| item.run_id == failing)),
        (format!("model=judge:{}", models[0]), Box::new(|item| item.run_id == run)),
        ("search=transfer".into(), Box::new(|item| item.scenario.contains("transfer"))),
        (format!("persona={persona}"), Box::new(|item| item.persona == persona)),
        (
            "complexity=simple&complexity=vague".into(),
            Box::new(|item| item.complexity == "simple" || item.complexity == "vague"),
        ),
        ("outcome=accepted".into(), Box::new(|item| item.outcome == Some(Outcome::Accepted))),
        ("outcome=failed".into(), Box::new(|item| item.outcome != Some(Outcome::Accepted))),
        ("blame=agent".into(), Box::new(|item| blamed(item).is_some_and(|(blame, _)| blame == Blame::Agent))),
        ("reason=is%20below".into(), Box::new(|item| blamed(item).is_some_and(|(_, why)| why.contains("is below")))),
        ("ending=terminal".into(), Box::new(|item| item.ending.as_deref() == Some("terminal"))),
        ("tool_any=search_help".into(), Box::new(|item| has(item, "search_help"))),
        (
            "tool_all=search_help&tool_all=get_opening_hours".into(),
            Box::new(|item| has(item, "search_help") && has(item, "get_opening_hours")),
        ),
        ("min_tool_calls=2&max_tool_calls=2".into(), Box::new(|item| item.tool_calls == Some(2))),
        ("min_tool_calls=1".into(), Box::new(|item| item.tool_calls >= Some(1))),
        ("max_tool_calls=2".into(), Box::new(|item| item.tool_calls.is_some_and(|calls| calls <= 2))),
        ("min_turns=3".into(), Box::new(|item| item.turns >= Some(3))),
        ("max_turns=2".into(), Box::new(|item| item.turns.is_some_and(|turns| turns <= 2))),
        ("min_score=consistency:7".into(), Box::new(|item| score(item, "consistency") >= Some(7))),
        ("max_score=consistency:6".into(), Box::new(|item| score(item, "consistency").is_some_and(|n| n <= 6))),
        ("min_overall=7".into(), Box::new(|item| item.overall >= Some(7))),
        ("max_overall=6".into(), Box::new(|item| item.overall.is_some_and(|overall| overall <= 6))),
        ("top=0.25".into(), Box::new(|item| item.overall >= Some(least))),
        ("top=consistency:0.25".into(), Box::new(|item| consistency(item) >= Some(least_consistency))),
        ("goal_achieved=true".into(), Box::new(|item| item.goal_achieved == Some(true))),
        ("goal_achieved=false".into(), Box::new(|item| item.goal_achieved == Some(false))),
        ("verified=true".into(), Box::new(|item| item.verified == Some(true))),
        ("verified=false".into(), Box::new(|item| item.verified == Some(false))),
        ("min_agreement=0.8".into(), Box::new(|item| item.agreement >= Some(0.8))),
        ("min_solve_rate=0.5".into(), Box::new(|item| solve_rate(item) >= Some(0.5))),
        ("max_solve_rate=0.4".into(), Box::new(|item| solve_rate(item).is_some_and(|rate| rate <= 0.4))),
        (format!("finished_from={moment}"), Box::new(|item| item.finished_at >= Some(middle))),
        (format!("finished_before={moment}"), Box::new(|item| item.finished_at < Some(middle))),
    ];
    let mut vain = Vec::new();
    for (query, keep) in &cases {
        let expected: Vec<&ConversationSummary> = all.iter().filter(|item| keep(item)).collect();
        // The library of tests has one playbook.
        if !query.starts_with("playbook") && !(1..all.len()).contains(&expected.len()) {
            vain.push(query);
        }
        let found: List = app.json(&format!("{list}?limit=200&{query}")).await;
        assert_eq!(found.items.iter().collect::<Vec<_>>(), expected, "{query}");
        let facets: ConversationFacets = app.json(&format!("{list}/facets?{query}")).await;
        assert_eq!(facets.matching, expected.len() as u64, "{query}");
        // Other runs than those of the filter are not counted.
        let total = if query.starts_with("run=") { expected.len() } else { all.len() };
        assert_eq!(facets.total, total as u64, "{query}");
        // The best of the project are not those of a run.
        if !query.starts_with("top") {
            let of_run: List = app.json(&format!("/api/v1/runs/{run}/conversations?limit=200&{query}")).await;
            let expected: Vec<_> = expected.into_iter().filter(|item| item.run_id == run).collect();
            assert_eq!(of_run.items.iter().collect::<Vec<_>>(), expected, "{query}");
        }
    }
    assert!(vain.is_empty(), "all conversations or none pass: {vain:?}");
    // Others have tests of their own: what people did, and another judging.
    for name in list_parameters().filter(|name| !["rated", "annotated", "corrected", "judging"].contains(name)) {
        assert!(cases.iter().any(|(query, _)| query.contains(&format!("{name}="))), "{name} is in no query");
    }
    let facets: ConversationFacets =
        app.json(&format!("/api/v1/runs/{run}/conversations/facets?scenario={HELP}")).await;
    let scenarios = facets.facets.iter().find(|facet| facet.name == "scenario").unwrap();
    assert_eq!(
        scenarios.values.iter().map(|value| value.count).collect::<Vec<_>>(),
        [8, 8, 8, 8],
        "what else there is"
    );
    assert_eq!(facets.scores["overall"].iter().map(|bin| bin.count).sum::<u64>(), 8);
}

#[sqlx::test(migrations = "../migrations")]
async fn failures_are_found_by_their_reason_and_runs_by_their_models(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let broken = nobody();
    played(&pool, &[HELP], 2, 1, &[]).await;
    let run = played(&pool, &[HELP], 3, 1, &[(Role::Judge, broken.clone())]).await;
    let id = run.control.run.id.to_string();
    let broken = broken.replace('@', "%40");
    for (query, own, other) in [
        ("reason=cannot%20be%20reached".to_owned(), 3, 0),
        ("reason=Cannot".to_owned(), 0, 0),
        (format!("model=judge:{broken}"), 3, 0),
        (format!("model={broken}"), 0, 0),
        ("model=judge:scripted".to_owned(), 0, 2),
        (format!("model=agent:scripted&model=judge:{broken}&outcome=failed"), 3, 0),
    ] {
        let found: List = app.json(&format!("/api/v1/projects/default/conversations?{query}")).await;
        let owns = found.items.iter().filter(|item| item.run_id == id).count();
        assert_eq!((owns, found.items.len() - owns), (own, other), "{query}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn lists_are_ordered_and_every_conversation_has_its_neighbours(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP, TRANSFER], 14, 1, &[]).await;
    let list = format!("/api/v1/runs/{}/conversations", run.control.run.id);
    for order in ["sort=overall", "sort=score:consistency&order=asc", "order=desc", "sort=position"] {
        let all: List = app.json(&format!("{list}?{order}")).await;
        let mut paged = Vec::new();
        let mut next = Some(String::new());
        while let Some(after) = next {
            let page: List = app.json(&format!("{list}?{order}&limit=5{after}")).await;
            paged.extend(positions(&page));
            next = page.next.map(|next| format!("&after={next}"));
        }
        assert_eq!(paged, positions(&all), "{order}");
        for (i, item) in all.items.iter().enumerate() {
            let path = format!("/api/v1/conversations/{}/neighbours?{order}", item.id);
            let found: Neighbours = app.json(&path).await;
            let id = |i: Option<usize>| i.and_then(|i| all.items.get(i)).map(|item| item.id.clone());
            assert_eq!((found.previous, found.next), (id(i.checked_sub(1)), id(Some(i + 1))), "{order}");
        }
    }
    let desc: List = app.json(&format!("{list}?sort=position&order=desc&limit=3")).await;
    assert_eq!(positions(&desc), [13, 12, 11]);
    let best: List = app.json(&format!("{list}?sort=overall")).await;
    assert!(best.items.is_sorted_by_key(|item| std::cmp::Reverse(item.overall)));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_played_while_somebody_looks_is_seen(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let judge = Endpoint::start(|_| says("I would rather not say.")).await;
    let run = planned(&pool, &[HELP], 20, 1, &[(Role::Judge, judge.model())]).await;
    let id = run.control.run.id;
    let list = format!("/api/v1/runs/{id}/conversations?limit=200");
    let count = async || app.json::<List>(&list).await.items.len();
    assert_eq!(count().await, 0);
    play_all(run, 4).await;
    pass(Duration::from_millis(1100)).await;
    assert_eq!(count().await, 20);
    // All were the judge's fault: they are opened again, and nobody plays them.
    control::retry_failed(&mut pool.acquire().await.unwrap(), id).await.unwrap();
    pass(Duration::from_millis(1100)).await;
    let facets: ConversationFacets = app.json(&format!("/api/v1/runs/{id}/conversations/facets")).await;
    let outcome = facets.facets.iter().find(|facet| facet.name == "outcome").unwrap();
    assert_eq!((outcome.values[0].value.as_str(), outcome.values[0].count), ("unfinished", 20));
}

#[sqlx::test(migrations = "../migrations")]
async fn hostile_filters(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP], 1, 1, &[]).await;
    let list = format!("/api/v1/runs/{}/conversations", run.control.run.id);
    // Names that nothing has find nothing, whatever they say.
    for value in ["'%3B%20DROP%20TABLE%20runs%3B--", "%25", "%F0%9F%90%98", "%22%7D"] {
        for name in
            ["scenario", "family", "tag", "model", "persona", "playbook", "ending", "reason", "tool_any", "tool_all"]
        {
            let found: List = app.json(&format!("{list}?{name}={value}")).await;
            assert_eq!(found.items.len(), 0, "{name}={value}");
        }
        let found: List = app.json(&format!("{list}?search={value}")).await;
        assert_eq!(found.items.len(), 0, "{value}");
    }
    let long = "x".repeat(300);
    let many = (0..1001).map(|i| format!("tag=t{i}")).collect::<Vec<_>>().join("&");
    for (query, said) in [
        ("scenarios=x", "`scenarios`: there is no such parameter (did you mean `scenario`?)"),
        ("min_overall=11", "`min_overall`: expected 0 to 10, found 11"),
        ("min_overall=1e9", "`min_overall`: expected a whole number from 0 to 10, found `1e9`"),
        ("min_overall=-1", "`min_overall`: expected a whole number from 0 to 10, found `-1`"),
        ("min_overall=1&min_overall=2", "`min_overall`: is given twice"),
        (
            "min_turns=99999999999999999999",
            "`min_turns`: expected a whole number up to 4294967295, found `99999999999999999999`",
        ),
        ("min_turns=5&max_turns=4", "`max_turns`: nothing is at least 5 and at most 4"),
        ("min_score=tone", "`min_score`: expected CRITERION:SCORE, found `tone`"),
        ("min_score=tone:11", "`min_score`: expected 0 to 10, found 11"),
        ("max_score=tone", "`max_score`: expected CRITERION:SCORE, found `tone`"),
        ("max_score=tone:1&max_score=tone:2", "`max_score`: the criterion `tone` is given twice"),
        ("min_score=tone:5&max_score=tone:4", "`max_score`: nothing is at least 5 and at most 4"),
        ("max_overall=11", "`max_overall`: expected 0 to 10, found 11"),
        ("min_overall=5&max_overall=4", "`max_overall`: nothing is at least 5 and at most 4"),
        ("model=", "`model`: expected a name of 1 to 200 bytes without control characters"),
        ("reason=", "`reason`: expected 1 to 200 bytes without control characters"),
        ("reason=a&reason=b", "`reason`: is given twice"),
        (
            "finished_from=today",
            "`finished_from`: expected a day, such as 2026-11-24, or RFC 3339: 2026-11-24T18:00:00Z, found `today`",
        ),
        (
            "finished_from=2026-11-24T10:00:00Z&finished_before=2026-11-24T10:00:00Z",
            "`finished_before`: nothing is finished from 2026-11-24 10:00:00 UTC on and before 2026-11-24 10:00:00 UTC",
        ),
        ("top=0", "`top`: expected a share above 0, up to 1; found 0"),
        ("top=NaN", "`top`: expected a share above 0, up to 1; found NaN"),
        ("min_agreement=inf", "`min_agreement`: expected 0 to 1, found inf"),
        ("run=1", "`run`: `1` is not the id of a run"),
        ("judging=x", "`judging`: expected `own`, `latest` or a judging's id, found `x`"),
        ("sort=date", "`sort`: expected `position`, `overall` or `score:CRITERION`, found `date`"),
        (
            "sort=score:consistancy",
            "`sort`: no conversation was judged by the criterion `consistancy` (did you mean `consistency`?)",
        ),
        ("order=up", "`order`: expected `asc` or `desc`, found `up`"),
        ("limit=0", "`limit`: 0 is not from 1 to 200"),
        ("limit=201", "`limit`: 201 is not from 1 to 200"),
        ("tag=%00", "`tag`: it has a zero byte"),
        ("verified=maybe", "`verified`: expected `true` or `false`, found `maybe`"),
    ] {
        assert_eq!(app.problem(&format!("{list}?{query}"), StatusCode::BAD_REQUEST).await, said, "{query}");
    }
    for query in [format!("tag={long}"), format!("search={long}"), many, "outcome=won".into(), "complexity=hard".into()]
    {
        let said = app.problem(&format!("{list}?{query}"), StatusCode::BAD_REQUEST).await;
        assert!(said.len() < 300, "{said}");
    }
    let judging = clock::id();
    let detail = app.problem(&format!("{list}?judging={judging}"), StatusCode::BAD_REQUEST).await;
    assert_eq!(detail, format!("`judging`: none of the runs has the judging `{judging}`"));
    app.problem(&format!("{list}/facets?sort=overall"), StatusCode::BAD_REQUEST).await;
    app.problem(&format!("/api/v1/conversations/{}/neighbours", clock::id()), StatusCode::NOT_FOUND).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn another_judging_sees_them_otherwise(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP], 3, 1, &[]).await;
    let mut db = pool.acquire().await.unwrap();
    let own = verdicts::of(&mut db, run.control.run.own_judging()).await.unwrap();
    let models = ["scripted".parse().unwrap()];
    let spec =
        JudgingSpec { models: &models, pools: Vec::new(), judges: None, criteria_apart: false, created_by: "ann" };
    let judging = spec.insert(&mut db, &run.control.run).await.unwrap();
    let story = &stories(&run).await[1];
    let mut strict = own[&story.planned.id].clone();
    strict.outcome = Outcome::Failed { blame: Blame::Agent, reason: "too long".to_owned() };
    strict.verdict.as_mut().unwrap().overall = 2;
    verdicts::insert(&mut db, judging.id, story.planned.id, &strict, clock::now()).await.unwrap();
    for path in [
        format!("/api/v1/runs/{}/conversations", run.control.run.id),
        "/api/v1/projects/default/conversations".to_owned(),
    ] {
        for whose in [judging.id.to_string(), "latest".to_owned()] {
            let found: List = app.json(&format!("{path}?judging={whose}")).await;
            assert_eq!(found.items.iter().map(|item| item.overall).collect::<Vec<_>>(), [None, Some(2), None]);
            assert_eq!(found.items[1].outcome, Some(strict.outcome.clone()));
            assert_eq!((&found.items[0].outcome, found.items[1].scores.len()), (&None, 8));
            let failed: List = app.json(&format!("{path}?judging={whose}&blame=agent")).await;
            assert_eq!(positions(&failed), [1]);
            let long: List = app.json(&format!("{path}?judging={whose}&reason=too%20long")).await;
            assert_eq!(positions(&long), [1]);
            let unfinished: List = app.json(&format!("{path}?judging={whose}&outcome=unfinished")).await;
            assert_eq!(positions(&unfinished), [0, 2]);
        }
        assert_eq!(app.json::<List>(&format!("{path}?judging=own&reason=too%20long")).await.items, []);
        let found: List = app.json(&format!("{path}?judging=own&outcome=accepted")).await;
        assert_eq!(positions(&found), [0, 1, 2]);
    }
    // So do figures and corpora.
    let analytics = format!("/api/v1/runs/{}/analytics", run.control.run.id);
    let preview = "/api/v1/projects/default/corpora/preview";
    let at_most = json!({"filter": {"max_overall": 2, "outcomes": ["accepted", "failed"]}});
    for whose in [judging.id.to_string(), "latest".to_owned()] {
        let seen: RunAnalytics = app.json(&format!("{analytics}?judging={whose}")).await;
        let outcomes: Vec<(&str, u64)> =
            seen.analytics.outcomes.iter().map(|o| (o.outcome.as_str(), o.count)).collect();
        assert_eq!(outcomes, [("agent", 1), ("unfinished", 2)]);
        assert_eq!((seen.analytics.scores["overall"].n, seen.analytics.scores["overall"].mean), (1, 2.0));
        let compared: RunComparison =
            app.json(&format!("/api/v1/runs/{0}/comparison?with={0}&judging={whose}", run.control.run.id)).await;
        assert_eq!(compared.comparison.rates["accepted"].one.of, 1);
        let mut spec = at_most.clone();
        spec["filter"]["judging"] = whose.into();
        let report: Report = app.post(preview, &spec).await;
        assert_eq!(report.found, 1, "{spec}");
    }
    assert_eq!(app.json::<RunAnalytics>(&analytics).await.analytics.accepted.unwrap().count, 3);
    assert_eq!(app.post::<Report>(preview, &at_most).await.found, 0);
}
