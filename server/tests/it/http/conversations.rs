//! /api/v1/runs/{id}/conversations and /api/v1/conversations

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use domain::api::{
    ConversationDetail, ConversationFacets, ConversationSummary, Neighbours, Page, RunAnalytics, RunComparison,
    RunState, RunSummary,
};
use domain::corpus::Report;
use domain::outcome::{Blame, Outcome};
use domain::role::Role;
use generation::judge;
use reqwest::StatusCode;
use serde_json::json;
use sqlx::PgPool;
use store::clock;
use store::{control, judgings, verdicts};

use super::TestApp;
use crate::support::endpoint::{Endpoint, nobody, says};
use crate::support::pass;
use crate::support::play::{HANDOVER, HELP, TRANSFER, planned, play_all, played, stories};

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
    assert_eq!(detail, "`skip`: `-1`: invalid digit found in string");
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
        assert_eq!(detail, format!("`after`: `{cursor}` is no cursor"));
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
    let player = played(&pool, &[HELP], 1, 1, &[(Role::Judge, nobody().await)]).await;
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

#[sqlx::test(migrations = "../migrations")]
async fn lists_are_narrowed_by_what_they_show(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP, TRANSFER, HANDOVER], 30, 1, &[]).await;
    let list = format!("/api/v1/runs/{}/conversations", run.control.run.id);
    let all: List = app.json(&list).await;
    let all = all.items;
    let keep = |test: &dyn Fn(&ConversationSummary) -> bool| -> Vec<i32> {
        all.iter().filter(|item| test(item)).map(|item| item.position).collect()
    };
    let persona = all[0].persona.clone();
    let middle = all[15].finished_at.unwrap();
    let moment = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Micros, true);
    let score = |item: &ConversationSummary, criterion: &str| item.scores[criterion];
    let cases: Vec<(String, Vec<i32>)> = vec![
        (format!("scenario={HELP}"), keep(&|item| item.scenario == HELP)),
        (format!("scenario={HELP}&scenario={TRANSFER}"), keep(&|item| item.scenario != HANDOVER)),
        ("search=transfer".into(), keep(&|item| item.scenario.contains("transfer"))),
        (format!("persona={persona}"), keep(&|item| item.persona == persona)),
        ("complexity=simple&complexity=vague".into(), keep(&|i| i.complexity == "simple" || i.complexity == "vague")),
        ("ending=terminal".into(), keep(&|item| item.ending.as_deref() == Some("terminal"))),
        ("tool_any=search_help".into(), keep(&|item| item.tools.iter().any(|tool| tool == "search_help"))),
        ("min_tool_calls=2&max_tool_calls=2".into(), keep(&|item| item.tool_calls == Some(2))),
        ("min_turns=3".into(), keep(&|item| item.turns >= Some(3))),
        ("min_score=consistency:9".into(), keep(&|item| score(item, "consistency") >= 9)),
        ("min_overall=9".into(), keep(&|item| item.overall >= Some(9))),
        ("max_score=consistency:9".into(), keep(&|item| score(item, "consistency") <= 9)),
        (
            "min_score=consistency:9&max_score=consistency:9&max_overall=9".into(),
            keep(&|item| score(item, "consistency") == 9 && item.overall <= Some(9)),
        ),
        ("max_overall=0".into(), Vec::new()),
        (format!("finished_from={}", moment(middle)), keep(&|item| item.finished_at >= Some(middle))),
        (format!("finished_before={}", moment(middle)), keep(&|item| item.finished_at < Some(middle))),
        ("model=scripted&model=nobody".into(), keep(&|_| true)),
        ("model=judge:scripted".into(), keep(&|_| true)),
        ("model=judge:nobody".into(), Vec::new()),
        ("reason=a".into(), Vec::new()),
        (
            "outcome=accepted&verified=true&goal_achieved=true".into(),
            keep(&|item| item.outcome == Some(Outcome::Accepted)),
        ),
        ("playbook=retail_bank".into(), keep(&|_| true)),
        ("outcome=unfinished".into(), Vec::new()),
        ("blame=agent".into(), Vec::new()),
        ("tool_all=no_such_tool".into(), Vec::new()),
        ("judging=latest".into(), keep(&|_| true)),
    ];
    for (query, expected) in cases {
        let found: List = app.json(&format!("{list}?{query}")).await;
        assert_eq!(positions(&found), expected, "{query}");
        let of_project: List = app.json(&format!("/api/v1/projects/default/conversations?{query}")).await;
        assert_eq!(positions(&of_project), expected, "{query}");
        let facets: ConversationFacets = app.json(&format!("{list}/facets?{query}")).await;
        assert_eq!(usize::try_from(facets.matching), Ok(expected.len()), "{query}");
        assert_eq!(facets.total, 30);
    }
    let facets: ConversationFacets = app.json(&format!("{list}/facets?scenario={HELP}")).await;
    let scenarios = facets.facets.iter().find(|facet| facet.name == "scenario").unwrap();
    assert_eq!(
        scenarios.values.iter().map(|value| value.count).collect::<Vec<_>>(),
        [10, 10, 10],
        "what else there is"
    );
    assert_eq!(facets.scores["overall"].iter().map(|bin| bin.count).sum::<u64>(), 10);
}

#[sqlx::test(migrations = "../migrations")]
async fn failures_are_found_by_their_reason_and_runs_by_their_models(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let broken = nobody().await;
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
        ("model=scripted".to_owned(), 3, 2),
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
        ("min_overall=1e9", "`min_overall`: `1e9`: invalid digit found in string"),
        ("min_overall=-1", "`min_overall`: `-1`: invalid digit found in string"),
        ("min_overall=1&min_overall=2", "`min_overall`: is given twice"),
        (
            "min_turns=99999999999999999999",
            "`min_turns`: `99999999999999999999`: number too large to fit in target type",
        ),
        ("min_turns=5&max_turns=4", "`min_turns`: nothing is at least 5 and at most 4"),
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
        ("finished_from=today", "`finished_from`: `today`: input contains invalid characters"),
        (
            "finished_from=2026-11-24T10:00:00Z&finished_before=2026-11-24T10:00:00Z",
            "`finished_before`: nothing is finished from 2026-11-24 10:00:00 UTC on and before 2026-11-24 10:00:00 UTC",
        ),
        ("top=0", "`top`: expected a share above 0, up to 1; found 0"),
        ("top=NaN", "`top`: expected a share above 0, up to 1; found NaN"),
        ("min_agreement=inf", "`min_agreement`: expected 0 to 1, found inf"),
        ("run=1", "`run`: `1` is no run's id"),
        ("judging=x", "`judging`: expected `own`, `latest` or a judging's id, found `x`"),
        ("sort=date", "`sort`: expected `position`, `overall` or `score:CRITERION`, found `date`"),
        (
            "sort=score:consistancy",
            "`sort`: nothing was judged by the criterion `consistancy` (did you mean `consistency`?)",
        ),
        ("order=up", "`order`: expected `asc` or `desc`, found `up`"),
        ("limit=0", "`limit`: 0 is not from 1 to 200"),
        ("limit=201", "`limit`: 201 is not from 1 to 200"),
        ("tag=%00", "`tag`: expected a name of 1 to 200 bytes without control characters"),
        ("verified=maybe", "`verified`: `maybe`: provided string was not `true` or `false`"),
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
    assert_eq!(detail, format!("`judging`: no run that is looked at has the judging `{judging}`"));
    app.problem(&format!("{list}/facets?sort=overall"), StatusCode::BAD_REQUEST).await;
    app.problem(&format!("/api/v1/conversations/{}/neighbours", clock::id()), StatusCode::NOT_FOUND).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn another_judging_sees_them_otherwise(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP], 3, 1, &[]).await;
    let mut db = pool.acquire().await.unwrap();
    let own = verdicts::of(&mut db, run.control.run.own_judging()).await.unwrap();
    let judging = judge::plan(&run.control.run, &run.kind.library, &["scripted".parse().unwrap()]).unwrap();
    judgings::insert(&mut db, &judging).await.unwrap();
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
