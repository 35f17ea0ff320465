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
                       0  dropped by outcomes
                       0  dropped by min_overall
           12  found by the filter
           12  left after pii (0 dropped)
           12  left after secrets (0 dropped)
            6  left after exact_duplicates (6 dropped)
    train      3 conversations of 1 scenarios in 1 families
    golden     3 conversations of 1 scenarios in 1 families
               50.0 % golden; 50.0 % were asked for
    on both sides: 0 scenarios, 0 families, 0 pairs that resemble each other by 0.8 or more
                   of 9 pairs, 0 could resemble each other and were compared
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

/// Whatever a filter can ask for has a flag: what each one leaves of twelve accepted conversations.
#[sqlx::test(migrations = "../migrations")]
async fn every_condition_has_a_flag(pool: PgPool) {
    let project = Project::new();
    played(&pool, &[HELP, HANDOVER], 12, 7, &[]).await;
    let found = async |flags: &str| {
        let mut command = project.groundstate(&format!("corpora create --dry-run {flags}"));
        let said = said(command.env("DATABASE_URL", database_url(&pool))).await;
        assert_eq!(said.code, Some(0), "{flags}: {}", said.stderr);
        let line = said.stdout.lines().find(|line| line.ends_with("found by the filter")).unwrap_or_default();
        line.split_whitespace().next().unwrap_or_default().to_owned()
    };
    let mut table = String::new();
    for flags in [
        "--near 0.9",
        "--scenario help_card_abroad",
        "--family help_card_abroad --family bereavement_handover",
        "--playbook retail_bank --tag nobody_has_it",
        "--persona careful_pensioner",
        "--complexity simple --complexity vague",
        "--complexity medium --complexity complex",
        "--model scripted",
        "--model judge:another",
        "--outcome failed",
        "--outcome failed --blame agent --reason nothing",
        "--ending user_ended",
        "--ending terminal --ending turn_limit",
        "--min-overall 9 --max-overall 9",
        "--max-overall 5",
        "--min-score tool_usage=5 --max-score tool_usage=10",
        "--max-score tool_usage=4",
        "--top 0.5 --top tool_usage=0.5",
        "--verified --goal-achieved",
        "--verified=false",
        "--goal-achieved=false",
        "--finished-from 2020-01-01",
        "--finished-before 2020-01-01T00:00:00Z",
        "--min-turns 1 --max-turns 50 --min-tool-calls 1 --max-tool-calls 50",
        "--max-tool-calls 0",
        "--min-turns 50",
        "--tool-any search_help --tool-any no_such_tool",
        "--tool-all search_help --tool-all no_such_tool",
        "--min-agreement 0.5",
        "--judging latest",
    ] {
        table.push_str(&format!("{:>3} {flags}\n", found(flags).await));
    }
    insta::assert_snapshot!(table, @r"
     12 --near 0.9
      6 --scenario help_card_abroad
     12 --family help_card_abroad --family bereavement_handover
      0 --playbook retail_bank --tag nobody_has_it
      1 --persona careful_pensioner
      7 --complexity simple --complexity vague
      5 --complexity medium --complexity complex
     12 --model scripted
      0 --model judge:another
      0 --outcome failed
      0 --outcome failed --blame agent --reason nothing
      6 --ending user_ended
      6 --ending terminal --ending turn_limit
     12 --min-overall 9 --max-overall 9
      0 --max-overall 5
     12 --min-score tool_usage=5 --max-score tool_usage=10
      0 --max-score tool_usage=4
     12 --top 0.5 --top tool_usage=0.5
     12 --verified --goal-achieved
      0 --verified=false
      0 --goal-achieved=false
     12 --finished-from 2020-01-01
      0 --finished-before 2020-01-01T00:00:00Z
     12 --min-turns 1 --max-turns 50 --min-tool-calls 1 --max-tool-calls 50
      0 --max-tool-calls 0
      0 --min-turns 50
      6 --tool-any search_help --tool-any no_such_tool
      0 --tool-all search_help --tool-all no_such_tool
      0 --min-agreement 0.5
     12 --judging latest
    ");
}

#[tokio::test]
async fn a_condition_that_nothing_can_be_like_is_refused_by_its_flag() {
    let project = Project::new();
    let order = "corpora create v1 --min-overall 8 --max-overall 7 --max-score tool_usage=11 --top goal=0 --min-agreement 2 \
                 --finished-from 2026-11-24 --finished-before 2026-11-24 --min-turns 5 --max-turns 4 --judging mine --run 7";
    let said = said(&mut project.groundstate(order)).await;
    assert_eq!(said.code, Some(2));
    insta::assert_snapshot!(said.stderr, @r"
    --run: `7` is not the id of a run
    --finished-before: nothing is finished from 2026-11-24 00:00:00 UTC on and before 2026-11-24 00:00:00 UTC
    --max-turns: nothing is at least 5 and at most 4
    --min-agreement: expected 0 to 1, found 2
    --max-overall: nothing is at least 8 and at most 7
    --max-score: expected 0 to 10, found 11
    --top: expected a share above 0, up to 1; found 0
    --judging: expected `own`, `latest` or a judging's id, found `mine`
    8 problems found; nothing was done
    ");
    for (flag, wanted) in [
        ("--max-overall 300", "expected a whole number from 0 to 10"),
        ("--max-score tool_usage", "expected CRITERION=SCORE, found `tool_usage`"),
        ("--top best", "expected a share above 0, up to 1"),
        ("--finished-from yesterday", "expected a day, such as 2026-11-24, or RFC 3339"),
        (
            "--blame weather",
            "[possible values: agent, simulated_user, tool_simulator, judge, playbook, infrastructure]",
        ),
        ("--outcome unfinished", "[possible values: accepted, failed]"),
        ("--ending never", "[possible values: user_ended, walked_out, terminal, turn_limit, step_limit, agent_ended]"),
    ] {
        let said = super::said(&mut project.groundstate(&format!("corpora create v1 {flag}"))).await;
        assert!(said.code == Some(2) && said.stderr.contains(wanted), "{flag}: {}", said.stderr);
    }
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
    3 problems found; nothing was done
    ");
}
