//! Are datasets and indexes the same in S3? The tests of both once more, with a bucket in place of folders, for objects and for the
//! files that become a dataset. What answers is moto's server, which speaks the protocol of S3 and keeps everything in its memory.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::{Outcome, linted, with_database};
use crate::groundstate::RunningProcess;
use crate::process::{check_interrupted, run};
use crate::{install, places, python};

const REQUIREMENTS: &str = "xtask/src/test/storage-requirements.txt";
const BUCKET: &str = "groundstate";
/// Those whose objects the tests keep where `GROUNDSTATE_TEST_OBJECTS` says (server/tests/it/support/jobs.rs).
const TESTS: [&str; 3] = ["http::datasets::", "http::indexes::", "cli::datasets::"];
const PATIENCE: Duration = Duration::from_mins(1);

pub fn run_step() -> Result<Outcome> {
    install::postgres()?;
    let programs = python::environment("object-storage", REQUIREMENTS)?;
    // Free now, and hardly taken by somebody else in a second.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut moto = Command::new(programs.join("moto_server"));
    moto.args(["-H", "127.0.0.1", "-p", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut moto = RunningProcess::start(&mut moto)?;
    make_bucket(&mut moto, port)?;
    let mut tests = linted("test");
    tests.args(["--quiet", "--test", "it", "--"]).args(TESTS);
    tests.env("GROUNDSTATE_TEST_OBJECTS", format!("s3://{BUCKET}")).env("TMPDIR", places::scratch_dir());
    tests.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")).env("AWS_ALLOW_HTTP", "true");
    tests.env("AWS_ACCESS_KEY_ID", "anybody").env("AWS_SECRET_ACCESS_KEY", "anything").env("AWS_REGION", "us-east-1");
    with_database(|url| run(tests.env("DATABASE_URL", url)))?;
    Ok(Outcome::Passed)
}

/// Waits until the server answers.
fn make_bucket(server: &mut RunningProcess, port: u16) -> Result<()> {
    let begun = Instant::now();
    let order =
        format!("PUT /{BUCKET} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let ask = || {
        let mut connection = TcpStream::connect(("127.0.0.1", port))?;
        connection.write_all(order.as_bytes())?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).map(|_| answer)
    };
    loop {
        check_interrupted()?;
        server.check()?;
        match ask() {
            Ok(answer) => {
                ensure!(answer.starts_with("HTTP/1.1 200"), "the object storage made no bucket: {answer}");
                return Ok(());
            }
            Err(error) => ensure!(begun.elapsed() < PATIENCE, "the object storage does not answer: {error}"),
        }
        sleep(Duration::from_millis(100));
    }
}
