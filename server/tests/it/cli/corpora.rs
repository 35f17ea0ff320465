//! `groundstate corpora`.

use sqlx::PgPool;

use super::{Project, database_url, said};
use crate::support::play::{HANDOVER, HELP, played};

#[sqlx::test(migrations = "../migrations")]
async fn a_corpus_from_flags_and_a_file(pool: PgPool) {
    let project = Project::new();
    played(&pool, &[HELP, HANDOVER], 12, 7, &[]).await;
    let run =
        async |arguments: &str| said(project.groundstate(arguments).env("DATABASE_URL", database_url(&pool))).await;
    std::fs::write(project.join("corpus.yaml"), "filter: {min_overall: 9}\nsplit: {golden: 0.5, seed: 3}\n").unwrap();

    let tried = run("corpora create --spec corpus.yaml --dry-run").await;
    assert_eq!(tried.code, Some(0), "{}", tried.stderr);
    insta::assert_snapshot!(tried.stdout, @r"
           12  conversations have ended
           12  found by the filter
           12  left after pii (0 dropped)
           12  left after secrets (0 dropped)
            6  left after exact_duplicates (6 dropped)
    train      3 conversations of 1 scenarios in 1 families
    golden     3 conversations of 1 scenarios in 1 families
               50.0 % golden; 50.0 % were asked for
    on both sides: 0 scenarios, 0 families, 0 pairs that resemble each other by 0.8 or more
                   of 9 pairs, 0 could and were compared
    ");
    let made = run("corpora create v1 --spec corpus.yaml --near 0.9").await;
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stdout.starts_with("corpus     v1 (") && made.stdout.contains("state      ready"), "{}", made.stdout);
    let listed = run("corpora list").await.stdout;
    assert!(listed.lines().count() == 2 && listed.contains("  v1"), "{listed}");
    assert_eq!(run("corpora show v1").await.stdout, made.stdout);

    let manifest = run("corpora manifest v1 --format csv").await.stdout;
    assert_eq!(manifest.lines().count(), 13);
    assert_eq!(run("corpora manifest v1 --out manifest.jsonl").await.code, Some(0));
    assert_eq!(std::fs::read_to_string(project.join("manifest.jsonl")).unwrap().lines().count(), 12);

    let again = run("corpora create v1").await;
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("NAME: there is a corpus `v1` already"), "{}", again.stderr);
    assert_eq!(run("corpora delete v1").await.stdout, "the corpus v1 is deleted\n");
    assert!(run("corpora show v1").await.stderr.contains("there is no corpus `v1`"));
}

#[tokio::test]
async fn what_is_wrong_with_an_order_is_said_at_once() {
    let project = Project::new();
    std::fs::write(project.join("corpus.yaml"), "filter:\n  min_overal: 9\nsplit: {golden: 2}\n").unwrap();
    let said = said(&mut project.groundstate("corpora create v1 --spec corpus.yaml")).await;
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.starts_with("corpus.yaml:2: filter.min_overal: unknown field (did you mean `min_overall`?)"));
    let said = super::said(&mut project.groundstate("corpora create V1 --golden 1 --near 0.1")).await;
    insta::assert_snapshot!(said.stderr, @r"
    --near: expected 0.3 to 1, found 0.1
    --golden: expected a share from 0 to below 1, found 1
    NAME: expected 1 to 64 lower-case letters, digits, `_`, `-` and `.`, the first one a letter or digit
    3 problems found; nothing was started
    ");
}
