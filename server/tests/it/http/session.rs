//! /api/v1/session, /api/v1/invitations/accept, /api/v1/users, /api/v1/tokens, /api/v1/audit

use chrono::TimeDelta;
use domain::access::{Role, Scope};
use domain::api::{
    AuditEntry, Invitation, NewTokenAnswer, Page, ProblemDetails, SessionDetail, TokenSummary, UserSummary,
};
use futures::future::join_all;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use server::secret;
use sqlx::{AssertSqlSafe, PgPool};
use store::clock;
use store::{invitations, projects};

use super::{TestApp, somebody, token};

const PASSWORD: &str = "correct horse";

/// A browser with the cookie of an answer.
struct Browser<'a> {
    app: &'a TestApp,
    cookie: String,
    csrf: String,
}

impl<'a> Browser<'a> {
    async fn of(app: &'a TestApp, answer: Response) -> Self {
        assert_eq!(answer.status(), StatusCode::OK);
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Max-Age=1209600"), "{cookie}");
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let session: SessionDetail = answer.json().await.unwrap();
        Self { app, cookie, csrf: session.csrf_token.unwrap() }
    }

    async fn send(&self, method: Method, path: &str, csrf: Option<&str>, body: &Value) -> StatusCode {
        self.answer(method, path, csrf, body).await.status()
    }

    async fn answer(&self, method: Method, path: &str, csrf: Option<&str>, body: &Value) -> Response {
        let mut request = llm::http_client().build().unwrap().request(method, format!("{}{path}", self.app.url));
        request = request.header("cookie", &self.cookie).json(body);
        if let Some(csrf) = csrf {
            request = request.header("x-csrf-token", csrf);
        }
        request.send().await.unwrap()
    }
}

async fn sign_in(app: &TestApp, name: &str, password: &str) -> Response {
    let request = app.with_token(String::new()).request(Method::POST, "/api/v1/session");
    request.json(&json!({"name": name, "password": password})).send().await.unwrap()
}

async fn accept(app: &TestApp, body: &Value) -> Response {
    app.with_token(String::new()).request(Method::POST, "/api/v1/invitations/accept").json(body).send().await.unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn the_first_administrator_comes_by_a_link_that_works_once(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    sqlx::query("DELETE FROM users").execute(&pool).await.unwrap();
    let (link, now) = (secret::make("").unwrap(), clock::now());
    let mut db = pool.acquire().await.unwrap();
    invitations::insert(&mut db, &secret::hash(&link), None, now, now + TimeDelta::days(1)).await.unwrap();
    let body = |password: &str| json!({"secret": link, "name": "Ann", "password": password});
    let short = accept(&app, &body("short")).await;
    assert_eq!(short.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let problem: Value = short.json().await.unwrap();
    assert_eq!(problem["errors"], json!([{"pointer": "/password", "detail": "use at least 10 characters"}]));
    let browser = Browser::of(&app, accept(&app, &body(PASSWORD)).await).await;
    assert_eq!(accept(&app, &body(PASSWORD)).await.status(), StatusCode::FORBIDDEN);
    // Her cookie is enough to look, and not enough to change anything.
    assert_eq!(browser.send(Method::GET, "/api/v1/users", None, &json!({})).await, StatusCode::OK);
    let new = json!({"name": "bob"});
    for csrf in [None, Some("x"), Some(secret::csrf_token("x").as_str())] {
        let refused = browser.answer(Method::POST, "/api/v1/users", csrf, &new).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN);
        assert!(refused.json::<ProblemDetails>().await.unwrap().is_about_csrf());
    }
    assert_eq!(browser.send(Method::POST, "/api/v1/users", Some(&browser.csrf), &new).await, StatusCode::CREATED);
    // Signed out is signed out.
    assert_eq!(
        browser.send(Method::DELETE, "/api/v1/session", Some(&browser.csrf), &new).await,
        StatusCode::NO_CONTENT
    );
    assert_eq!(browser.send(Method::GET, "/api/v1/session", None, &new).await, StatusCode::UNAUTHORIZED);
    let again = Browser::of(&app, sign_in(&app, " ANN ", PASSWORD).await).await;
    assert_ne!(again.cookie, browser.cookie);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_session_ends_in_its_time_and_with_its_user(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let invited: Invitation = app.post("/api/v1/users", &json!({"name": "bob"})).await;
    Browser::of(&app, accept(&app, &json!({"secret": invited.secret, "password": PASSWORD})).await).await;
    for end in [
        "UPDATE sessions SET expires_at = now() - interval '1 second'",
        "UPDATE users SET disabled_at = now() WHERE name = 'bob'",
    ] {
        let browser = Browser::of(&app, sign_in(&app, "bob", PASSWORD).await).await;
        let looks = async || browser.send(Method::GET, "/api/v1/session", None, &json!({})).await;
        assert_eq!(looks().await, StatusCode::OK);
        sqlx::query(end).execute(&pool).await.unwrap();
        assert_eq!(looks().await, StatusCode::UNAUTHORIZED, "{end}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn people_are_invited_changed_and_never_the_last_one_locked_out(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let invited: Invitation = app.post("/api/v1/users", &json!({"name": "bob", "administrator": true})).await;
    assert_eq!(invited.path, format!("/welcome#{}", invited.secret));
    let (status, _) = app.send(Method::POST, "/api/v1/users", &json!({"name": "BOB"})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    let again: Invitation = app.post("/api/v1/users/bob/invitation", &json!({})).await;
    let void = accept(&app, &json!({"secret": invited.secret, "password": PASSWORD})).await;
    assert_eq!(void.status(), StatusCode::FORBIDDEN, "a new link makes the old one void");
    Browser::of(&app, accept(&app, &json!({"secret": again.secret, "password": PASSWORD})).await).await;
    let users: Page<UserSummary> = app.json("/api/v1/users").await;
    let names: Vec<(&str, bool)> = users.items.iter().map(|user| (user.name.as_str(), user.invited)).collect();
    assert_eq!(names, [("bob", false), ("root", true)]);
    let after: Page<UserSummary> = app.json("/api/v1/users?after=bob").await;
    assert_eq!(after.items, users.items[1..]);
    let detail = app.problem("/api/v1/users?after=b%00b", StatusCode::BAD_REQUEST).await;
    assert_eq!(detail, "`after`: it has a zero byte");
    for change in [json!({"administrator": false}), json!({"disabled": true})] {
        let (status, _) = app.send(Method::PATCH, "/api/v1/users/bob", &change).await;
        assert_eq!(status, StatusCode::OK);
    }
    assert_eq!(sign_in(&app, "bob", PASSWORD).await.status(), StatusCode::FORBIDDEN);
    let (status, problem) = app.send(Method::PATCH, "/api/v1/users/root", &json!({"disabled": true})).await;
    assert_eq!(
        (status, problem["detail"].as_str()),
        (StatusCode::CONFLICT, Some("at least one administrator must remain"))
    );
    let refused = app.refused("/api/v1/users", &json!({"name": "<script>"})).await;
    assert_eq!(refused[0].0, "/name");
}

#[sqlx::test(migrations = "../migrations")]
async fn whoever_guesses_must_wait(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let invited: Invitation = app.post("/api/v1/users", &json!({"name": "bob"})).await;
    Browser::of(&app, accept(&app, &json!({"secret": invited.secret, "password": PASSWORD})).await).await;
    for _ in 0..5 {
        assert_eq!(sign_in(&app, "bob", "wrong password").await.status(), StatusCode::FORBIDDEN);
    }
    // The right password does not help either, nor does another name from the same address.
    for name in ["bob", "carol"] {
        let answer = sign_in(&app, name, PASSWORD).await;
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS, "{name}");
        assert!((1..=2).contains(&answer.headers()["retry-after"].to_str().unwrap().parse::<i32>().unwrap()));
    }
    sqlx::query("UPDATE sign_in_failures SET last_at = last_at - interval '1 minute'").execute(&pool).await.unwrap();
    assert_eq!(sign_in(&app, "bob", PASSWORD).await.status(), StatusCode::OK);
    let long = "x".repeat(100_000);
    assert_eq!(sign_in(&app, "bob", &long).await.status(), StatusCode::FORBIDDEN);
}

#[sqlx::test(migrations = "../migrations")]
async fn whoever_guesses_links_must_wait_and_keeps_nobody_from_signing_in(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let invited: Invitation = app.post("/api/v1/users", &json!({"name": "bob"})).await;
    let guessed = json!({"secret": secret::make("").unwrap(), "password": PASSWORD});
    for _ in 0..5 {
        assert_eq!(accept(&app, &guessed).await.status(), StatusCode::FORBIDDEN);
    }
    assert_eq!(accept(&app, &guessed).await.status(), StatusCode::TOO_MANY_REQUESTS);
    // Whoever has a link need not wait.
    Browser::of(&app, accept(&app, &json!({"secret": invited.secret, "password": PASSWORD})).await).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn who_guesses_many_times_at_once_guesses_no_more_often(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let guesses = (0..30).map(|_| sign_in(&app, "bob", "wrong password"));
    let answers: Vec<StatusCode> = join_all(guesses).await.iter().map(Response::status).collect();
    let looked_at = answers.iter().filter(|status| **status == StatusCode::FORBIDDEN).count();
    let refused = answers.iter().filter(|status| **status == StatusCode::TOO_MANY_REQUESTS).count();
    // The waits begin at a second, so that a slow machine lets a few more in.
    assert!((5..=8).contains(&looked_at), "{looked_at} passwords were looked at");
    assert_eq!(looked_at + refused, 30);
}

#[sqlx::test(migrations = "../migrations")]
async fn who_signs_in_often_from_one_address_need_not_wait(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let invited: Invitation = app.post("/api/v1/users", &json!({"name": "bob"})).await;
    Browser::of(&app, accept(&app, &json!({"secret": invited.secret, "password": PASSWORD})).await).await;
    for _ in 0..7 {
        assert_eq!(sign_in(&app, "bob", PASSWORD).await.status(), StatusCode::OK);
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn behind_a_proxy_only_who_guesses_waits(pool: PgPool) {
    let app = TestApp::behind_proxy(&pool).await;
    let guess = async |name: String, from: &str| {
        let request = app.request(Method::POST, "/api/v1/session").header("x-forwarded-for", from);
        request.json(&json!({"name": name, "password": "wrong password"})).send().await.unwrap().status()
    };
    for n in 0..5 {
        // Who guesses claims to be somebody else each time; the proxy appends the truth.
        assert_eq!(guess(format!("name{n}"), &format!("10.0.0.{n}, 192.0.2.1")).await, StatusCode::FORBIDDEN);
    }
    assert_eq!(guess("carol".into(), "10.0.0.9, 192.0.2.1").await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(guess("carol".into(), "192.0.2.1, 192.0.2.2").await, StatusCode::FORBIDDEN);
    assert_eq!(guess("carol".into(), "no address").await, StatusCode::FORBIDDEN);
}

/// Who does not know a password must not be able to lock out who does.
#[sqlx::test(migrations = "../migrations")]
async fn guesses_from_elsewhere_lock_nobody_out(pool: PgPool) {
    let app = TestApp::behind_proxy(&pool).await;
    let invited: Invitation = app.post("/api/v1/users", &json!({"name": "bob", "administrator": true})).await;
    assert_eq!(accept(&app, &json!({"secret": invited.secret, "password": PASSWORD})).await.status(), StatusCode::OK);
    let try_in = async |password: &str, from: &str| {
        let request = app.with_token(String::new()).request(Method::POST, "/api/v1/session");
        let request = request.header("x-forwarded-for", from).json(&json!({"name": "bob", "password": password}));
        request.send().await.unwrap().status()
    };
    for _ in 0..5 {
        assert_eq!(try_in("wrong password", "192.0.2.1").await, StatusCode::FORBIDDEN);
    }
    assert_eq!(try_in("wrong password", "192.0.2.1").await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        try_in(PASSWORD, "192.0.2.1").await,
        StatusCode::TOO_MANY_REQUESTS,
        "who guesses waits, also when right"
    );
    assert_eq!(try_in(PASSWORD, "192.0.2.2").await, StatusCode::OK, "and nobody else");
    // Many addresses guess: each answer takes a while, and the right one is still an answer.
    let many = "INSERT INTO sign_in_failures (subject, failures, last_at) VALUES ('name bob', 100000, now())
                ON CONFLICT (subject) DO UPDATE SET failures = EXCLUDED.failures";
    sqlx::query(many).execute(&pool).await.unwrap();
    let begun = std::time::Instant::now();
    assert_eq!(try_in(PASSWORD, "192.0.2.3").await, StatusCode::OK);
    assert!(begun.elapsed() >= std::time::Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[sqlx::test(migrations = "../migrations")]
async fn a_name_that_nobody_can_have_is_refused(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    // Letters that no index can hold by compressing them.
    let long: String = (0..10_000_u32).map(|n| char::from(b'a' + u8::try_from(n * n / 7 % 26).unwrap())).collect();
    let answer = sign_in(&app, &long, PASSWORD).await;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let problem: Value = answer.json().await.unwrap();
    assert_eq!(problem["errors"][0]["pointer"], "/name");
    assert!(problem.to_string().len() < 1_000, "{problem}");
}

#[sqlx::test(migrations = "../migrations")]
async fn behind_a_proxy_cookies_go_over_https_alone(pool: PgPool) {
    let app = TestApp::behind_proxy(&pool).await;
    let invited: Invitation = app.post("/api/v1/users", &json!({"name": "bob"})).await;
    let accepted = accept(&app, &json!({"secret": invited.secret, "password": PASSWORD})).await;
    let signed_in = sign_in(&app, "bob", PASSWORD).await;
    let signed_out = app.request(Method::DELETE, "/api/v1/session").send().await.unwrap();
    let header = signed_in.headers()["strict-transport-security"].to_str().unwrap();
    assert_eq!(header, "max-age=31536000");
    for (answer, age) in [(accepted, 1_209_600), (signed_in, 1_209_600), (signed_out, 0)] {
        assert!(answer.status().is_success());
        let cookie = answer.headers()["set-cookie"].to_str().unwrap();
        assert!(cookie.starts_with("groundstate_session="), "{cookie}");
        assert!(cookie.ends_with(&format!("; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}; Secure")), "{cookie}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn tokens_are_made_in_sessions_and_shown_once(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let (status, problem) = app.send(Method::POST, "/api/v1/tokens", &json!({"name": "ci", "scopes": ["run"]})).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{problem}");
    let invited: Invitation = app.post("/api/v1/users", &json!({"name": "bob", "administrator": true})).await;
    let browser = Browser::of(&app, accept(&app, &json!({"secret": invited.secret, "password": PASSWORD})).await).await;
    let make = async |body: Value| {
        let request = llm::http_client().build().unwrap().post(format!("{}/api/v1/tokens", app.url));
        request
            .header("cookie", &browser.cookie)
            .header("x-csrf-token", &browser.csrf)
            .json(&body)
            .send()
            .await
            .unwrap()
    };
    for (body, pointer) in [
        (json!({"name": "", "scopes": ["run"]}), "/name"),
        (json!({"name": "ci", "scopes": []}), "/scopes"),
        (json!({"name": "ci", "scopes": ["all"]}), "/scopes/0"),
        (json!({"name": "ci", "scopes": ["run"], "project": "nothing"}), "/project"),
        (json!({"name": "ci", "scopes": ["run"], "expires_at": "2020-01-01T00:00:00Z"}), "/expires_at"),
        (json!({"name": "ci", "scopes": ["run"], "admin": true}), "/admin"),
    ] {
        let answer = make(body).await;
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
    let answer = make(json!({"name": "ci", "scopes": ["run"], "project": "default"})).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    let made: NewTokenAnswer = answer.json().await.unwrap();
    let other: NewTokenAnswer = make(json!({"name": "other", "scopes": ["admin"]})).await.json().await.unwrap();
    let with = app.with_token(made.secret.clone());
    let mine: Vec<TokenSummary> = with.json("/api/v1/tokens").await;
    let own = mine.iter().find(|token| token.id == made.token.id).unwrap();
    assert_eq!((mine.len(), own.project.as_deref()), (2, Some("default")));
    let (status, _) = with.send(Method::DELETE, &format!("/api/v1/tokens/{}", other.token.id), &json!({})).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "a token that leaked must not end the others");
    let stored: Vec<String> = sqlx::query_scalar("SELECT t::text FROM api_tokens t").fetch_all(&pool).await.unwrap();
    assert!(stored.iter().all(|row| !row.contains(&made.secret)), "only its hash is kept");
    let (status, _) = with.send(Method::DELETE, &format!("/api/v1/tokens/{}", made.token.id), &json!({})).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert_eq!(with.status("/api/v1/session").await, StatusCode::UNAUTHORIZED);
    // All of it can be read later, by an administrator.
    let log: Page<AuditEntry> = app.json("/api/v1/audit").await;
    let said: Vec<(String, String)> = log.items.into_iter().rev().map(|e| (e.actor, e.action)).collect();
    let expected = [
        ("root", "POST /api/v1/users"),
        ("bob", "POST /api/v1/invitations/accept"),
        ("bob", "POST /api/v1/tokens"),
        ("bob", "POST /api/v1/tokens"),
        ("bob", "DELETE /api/v1/tokens/{token}"),
    ];
    assert_eq!(said, expected.map(|(actor, action)| (actor.to_owned(), action.to_owned())));
}

#[sqlx::test(migrations = "../migrations")]
async fn nobody_has_more_than_a_hundred_tokens(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let invited: Invitation = app.post("/api/v1/users", &json!({"name": "bob"})).await;
    let accepted = accept(&app, &json!({"secret": invited.secret, "password": PASSWORD})).await;
    let browser = Browser::of(&app, accepted).await;
    let many = "INSERT INTO api_tokens (id, user_id, name, secret_hash, scopes, created_at)
                SELECT gen_random_uuid(), id, 'ci', decode(md5(n::text), 'hex'), '{read}'::text[], now()
                FROM users CROSS JOIN generate_series(1, 99) AS n WHERE name = 'bob'";
    sqlx::query(many).execute(&pool).await.unwrap();
    let new = json!({"name": "ci", "scopes": ["read"]});
    let make = async || browser.send(Method::POST, "/api/v1/tokens", Some(&browser.csrf), &new).await;
    assert_eq!((make().await, make().await), (StatusCode::CREATED, StatusCode::CONFLICT));
}

/// The tables in which a text stands.
async fn holding(pool: &PgPool, text: &str) -> Vec<String> {
    let tables = "SELECT table_name::text FROM information_schema.tables
                  WHERE table_schema = 'public' AND table_type = 'BASE TABLE'";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(pool).await.unwrap();
    let mut found = Vec::new();
    for table in tables {
        let rows = format!("SELECT count(*) FROM \"{table}\" t WHERE strpos(t::text, $1) > 0");
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(rows)).bind(text).fetch_one(pool).await.unwrap();
        found.extend((rows > 0).then_some(table));
    }
    found
}

#[sqlx::test(migrations = "../migrations")]
async fn a_secret_is_not_kept_for_a_request_that_is_sent_again(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let invited: Invitation = app.post("/api/v1/users", &json!({"name": "ann", "administrator": true})).await;
    let browser = Browser::of(&app, accept(&app, &json!({"secret": invited.secret, "password": PASSWORD})).await).await;
    for (path, body) in [
        ("/api/v1/users", json!({"name": "bob"})),
        ("/api/v1/users/bob/invitation", json!({})),
        ("/api/v1/join-tokens", json!({"name": "gpu"})),
        ("/api/v1/tokens", json!({"name": "ci", "scopes": ["run"]})),
    ] {
        let send = async || {
            let request =
                llm::http_client().build().unwrap().post(format!("{}{path}", app.url)).header("idempotency-key", path);
            let request = request.header("cookie", &browser.cookie).header("x-csrf-token", &browser.csrf);
            request.json(&body).send().await.unwrap()
        };
        let answer = send().await;
        assert_eq!(
            (answer.status(), answer.headers()["cache-control"].to_str().unwrap()),
            (StatusCode::CREATED, "no-store")
        );
        let secret = answer.json::<Value>().await.unwrap()["secret"].as_str().unwrap().to_owned();
        assert_eq!(holding(&pool, &secret).await, [""; 0], "{path}");
        let again = send().await;
        assert_eq!(again.status(), StatusCode::CONFLICT);
        let detail = again.json::<Value>().await.unwrap()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("was done; its answer held a secret"), "{detail}");
    }
    assert!(holding(&pool, "bob").await.contains(&"users".to_owned()), "what is looked for would be found");
}

/// An answer that is given again is given to whoever may still do what it answers, and to nobody else.
#[sqlx::test(migrations = "../migrations")]
async fn an_answer_is_not_given_again_to_who_may_not_ask_any_more(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let user = somebody(&pool, "ann", false).await;
    let role = async |role: Role| {
        let mut db = pool.acquire().await.unwrap();
        projects::set_role(&mut db, projects::DEFAULT, user, role.into_str()).await.unwrap();
    };
    role(Role::Author).await;
    let (author, reader) = (token(&pool, user, &[Scope::Author]).await, token(&pool, user, &[Scope::Read]).await);
    let send = async |token: &str| {
        let request = app.with_token(token.to_owned()).request(Method::POST, "/api/v1/projects/default/corpora");
        let answer =
            request.header("idempotency-key", "one").json(&json!({"name": "secret-corpus"})).send().await.unwrap();
        // As JSON: what is kept in the database has its fields in another order.
        (answer.status(), answer.json::<Value>().await.unwrap())
    };
    let first = send(&author).await;
    assert_eq!(first.0, StatusCode::CREATED, "{}", first.1);
    assert_eq!(send(&author).await, first, "the same person, who may do it");
    for (refused, why) in [
        (send(&reader).await, "a token that may only read"),
        (
            {
                role(Role::Viewer).await;
                send(&author).await
            },
            "somebody who may only read",
        ),
        (
            {
                projects::remove(&mut pool.acquire().await.unwrap(), projects::DEFAULT, user).await.unwrap();
                send(&author).await
            },
            "no member any more",
        ),
    ] {
        assert!(matches!(refused.0, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND), "{why}: {refused:?}");
        assert!(!refused.1.to_string().contains("secret-corpus"), "{why}: {refused:?}");
    }
    let other = token(&pool, somebody(&pool, "ben", false).await, &[Scope::Admin]).await;
    assert_eq!(send(&other).await.0, StatusCode::NOT_FOUND, "a key is one person's");
    role(Role::Author).await;
    assert_eq!(send(&author).await, first, "it was not forgotten, nor done again");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_request_that_is_sent_twice_is_done_once(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let send = async |key: &str, body: Value| {
        let request = app.request(Method::POST, "/api/v1/projects").header("idempotency-key", key).json(&body);
        let answer = request.send().await.unwrap();
        let replayed = answer.headers().contains_key("idempotency-replayed");
        (answer.status(), replayed, answer.json::<Value>().await.unwrap())
    };
    let (status, replayed, first) = send("one", json!({"name": "a"})).await;
    assert_eq!((status, replayed), (StatusCode::CREATED, false));
    let (status, replayed, second) = send("one", json!({"name": "a"})).await;
    assert_eq!((status, replayed, &second), (StatusCode::CREATED, true, &first));
    let (status, _, problem) = send("one", json!({"name": "b"})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
    // What was refused may be sent again with the same key, once it is mended.
    assert_eq!(send("two", json!({"name": "A B"})).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(send("two", json!({"name": "ab"})).await.0, StatusCode::CREATED);
    assert_eq!(send("", json!({"name": "c"})).await.0, StatusCode::BAD_REQUEST);
    let log: Page<AuditEntry> = app.json("/api/v1/audit").await;
    assert_eq!(log.items.len(), 2, "what was answered again was not done again");
}
