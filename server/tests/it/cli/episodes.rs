//! `groundstate episodes`.

use sqlx::PgPool;

use super::{groundstate, said};
use crate::http::archive::filled;
use crate::support::process;

#[sqlx::test(migrations = "../migrations")]
async fn a_command_gets_the_token_of_its_episode_and_no_other(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = process::play(&pool);
    let seen = tempfile::tempdir().unwrap();
    let file = seen.path().join("environment");
    let script = format!("env > '{}'", file.display());
    let mut command = groundstate(["episodes", "try", "--server", &app.url, "--token-env", "TOKEN_OF_A_PERSON"]);
    command.args(["--environment", "retail_bank", "-n", "1", "--", "bash", "-c", &script]);
    command.env("TOKEN_OF_A_PERSON", app.token()).env("KEY_OF_A_MODEL", "passed-on");
    for variable in ["DATABASE_URL", "GROUNDSTATE_JOIN_TOKEN", "GROUNDSTATE_OF_TOMORROW"] {
        command.env(variable, "withheld");
    }
    let tried = said(&mut command).await;
    assert_eq!(tried.code, Some(0), "{}{}", tried.stdout, tried.stderr);
    let environment = std::fs::read_to_string(file).unwrap();
    assert!(environment.contains("\nGROUNDSTATE_TOKEN=gse_") || environment.starts_with("GROUNDSTATE_TOKEN=gse_"));
    assert!(!environment.contains(app.token()) && !environment.contains("withheld"), "{environment}");
    assert!(environment.contains("KEY_OF_A_MODEL=passed-on"), "{environment}");
}
