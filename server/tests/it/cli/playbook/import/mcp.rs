//! From MCP servers that run, over the real protocol.

mod server;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{empty, import, names, refused, sound};
use crate::cli::groundstate;
use server::{Server, listen, tool};

/// What is said of a server that is of no use.
async fn said_of(server: &str, arguments: &[&str]) -> String {
    refused(empty().path(), &[&["mcp", server, "--name", "desk"], arguments].concat()).await
}

#[tokio::test]
async fn commands_that_are_no_server() {
    let mut all = String::new();
    for command in [
        "",
        "'npx",
        "/nowhere/at/all",
        "true",
        "sh -c 'echo error: no file >&2; exit 3'",
        "echo '{\"jsonrpc\": \"2.0\"}'",
        "sh -c 'kill -9 $$'",
    ] {
        all += &said_of(command, &[]).await;
    }
    insta::assert_snapshot!(all, @"
    COMMAND|URL: is not a command: it is empty
    1 problem found; nothing was done
    COMMAND|URL: is not a command: a quote is not closed
    1 problem found; nothing was done
    COMMAND|URL: `/nowhere/at/all` cannot be started: No such file or directory (os error 2)
    1 problem found; nothing was done
    COMMAND|URL: ended before it had listed its tools (exit status: 0)
    1 problem found; nothing was done
    COMMAND|URL: ended before it had listed its tools (exit status: 3); it said: error: no file
    1 problem found; nothing was done
    COMMAND|URL: ended before it had listed its tools (exit status: 0)
    1 problem found; nothing was done
    COMMAND|URL: ended before it had listed its tools (signal: 9 (SIGKILL))
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn servers_that_never_answer() {
    let begun = Instant::now();
    let mut all = said_of("sleep 1000", &["--timeout", "1"]).await;
    all += &said_of("sh -c 'while true; do echo junk; echo more >&2; sleep 0.01; done'", &["--timeout", "1"]).await;
    let (listener, address) = listen().await;
    all += &said_of(&format!("http://{address}"), &["--timeout", "1"]).await.replace(&address, "ADDRESS");
    drop(listener);
    insta::assert_snapshot!(all, @"
    COMMAND|URL: has not listed its tools within 1 s (--timeout)
    1 problem found; nothing was done
    COMMAND|URL: has not listed its tools within 1 s (--timeout); it wrote `junk`, which is not an MCP message; it said: more
    1 problem found; nothing was done
    COMMAND|URL: has not listed its tools within 1 s (--timeout)
    1 problem found; nothing was done
    ");
    assert!(begun.elapsed() < Duration::from_secs(20));
    let flag = empty();
    insta::assert_snapshot!(refused(flag.path(), &["mcp", "true", "--name", "desk", "--timeout", "0"]).await, @"
    error: invalid value '0' for '--timeout <SECONDS>': 0 is not in 1..=3600

    For more information, try '--help'.
    ");
}

#[tokio::test]
async fn junk_without_end() {
    let said = said_of("yes {junk", &["--timeout", "2"]).await;
    assert!(said.contains("has not listed its tools within 2 s"), "{said}");
    // A message without an end is not read for ever.
    let said = said_of("sh -c 'cat /dev/zero'", &["--timeout", "60"]).await;
    assert!(said.contains("ended before it had listed its tools (exit status: 141)"), "{said}");
}

#[tokio::test]
async fn addresses_without_a_server() {
    let (listener, address) = listen().await;
    drop(listener);
    let mut all = said_of(&format!("http://{address}/mcp"), &[]).await;
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n<h1>Hello</h1>")
                .await
                .ok();
        }
    });
    all += &said_of(&format!("http://{address}/"), &[]).await;
    all += &said_of("http://", &[]).await;
    insta::assert_snapshot!(all, @r#"
    COMMAND|URL: did not answer as an MCP server: Connection refused (os error 111)
    1 problem found; nothing was done
    COMMAND|URL: did not answer as an MCP server: Unexpected content type: Some("text/html")
    1 problem found; nothing was done
    COMMAND|URL: did not answer as an MCP server: empty host
    1 problem found; nothing was done
    "#);
}

#[tokio::test]
async fn servers_without_tools_or_without_end() {
    let none = Server::default();
    let useless = Server { pages: vec![vec![tool("odd", "", &json!({"type": "array"}))]], endless: false };
    let endless = Server { pages: Vec::new(), endless: true };
    let many = Server { pages: vec![vec![tool("same", "", &json!({"type": "object"})); 501]], endless: true };
    let mut all = String::new();
    for server in [none, useless, endless, many] {
        all += &said_of(&server.clone().over_http().await, &[]).await;
        all += &said_of(&server.over_stdio().await, &[]).await;
    }
    insta::assert_snapshot!(all, @"
    COMMAND|URL: has no tools
    1 problem found; nothing was done
    COMMAND|URL: has no tools
    1 problem found; nothing was done
    COMMAND|URL: has no tool that fits; `odd`: its inputSchema is not of `type: object`
    1 problem found; nothing was done
    COMMAND|URL: has no tool that fits; `odd`: its inputSchema is not of `type: object`
    1 problem found; nothing was done
    COMMAND|URL: has more than 100 pages of tools; they seem to have no end
    1 problem found; nothing was done
    COMMAND|URL: has more than 100 pages of tools; they seem to have no end
    1 problem found; nothing was done
    COMMAND|URL: has more than 500 tools; that is too many for an agent
    1 problem found; nothing was done
    COMMAND|URL: has more than 500 tools; that is too many for an agent
    1 problem found; nothing was done
    ");
}

#[tokio::test]
async fn the_process_always_ends() {
    let dir = empty();
    // The server, as `npx` does, starts another process and waits for it.
    let never = format!("sh -c 'sleep 987654 & echo $! > {0}/inner; echo $$ > {0}/outer; wait'", dir.path().display());
    let out = empty();
    refused(out.path(), &["mcp", &never, "--name", "desk", "--timeout", "1"]).await;
    for name in ["inner", "outer"] {
        assert!(ended(&dir.path().join(name)).await, "{name} is running");
    }
    std::fs::remove_file(dir.path().join("outer")).unwrap();
    let mut asked = groundstate(["playbook", "import", "mcp", &never, "--name", "desk"]);
    let mut asked = asked.current_dir(out.path()).spawn().unwrap();
    while !dir.path().join("outer").exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let id = rustix::process::Pid::from_raw(asked.id().unwrap().try_into().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(asked.wait().await.unwrap().code(), Some(1));
    assert!(ended(&dir.path().join("inner")).await, "the server is running after Ctrl-C");
    let fine = Server::parcels()
        .over_stdio()
        .await
        .replace("exec 3", &format!("echo $$ > {}/fine; exec 3", dir.path().display()));
    assert_eq!(import(out.path(), &["mcp", &fine, "--name", "desk"]).await.code, Some(0));
    assert!(ended(&dir.path().join("fine")).await, "the server is running");
}

/// Whether the process whose id is in the file is gone, or nothing but a name that nobody has asked after yet.
async fn ended(file: &Path) -> bool {
    let id = std::fs::read_to_string(file).unwrap();
    for _ in 0..40 {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
        if status.is_err() || status.is_ok_and(|status| status.contains(") Z ")) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

#[tokio::test]
async fn the_tools_of_a_server() {
    let dir = empty();
    let over_http = import(dir.path(), &["mcp", &Server::parcels().over_http().await, "--name", "desk"]).await;
    assert_eq!((over_http.code, over_http.stderr.as_str()), (Some(0), ""));
    let over_stdio = import(dir.path(), &["mcp", &Server::parcels().over_stdio().await, "--name", "desk_2"]).await;
    assert_eq!((over_stdio.code, over_stdio.stderr.as_str()), (Some(0), ""));
    assert_eq!(over_stdio.stdout.replace("desk_2", "desk"), over_http.stdout);
    insta::assert_snapshot!(over_http.stdout, @r#"
    4 tools imported into playbooks/desk:
      get_parcel                reads /parcels/{parcel_id}
      report_loss               writes /records/+
      track                     reads /records
      get_parcel_2  get parcel  reads /parcels
    the world holds: parcels, records
    changed:
      get_parcel_2: was called `get parcel`
      3 tools: no outputSchema, so `returns` is any value
    skipped:
      odd: its inputSchema is not of `type: object`
      worse: its inputSchema is wrong at `/allOf/0/$ref`: `http://x/y` is in another document; only references within the document (`#/...`) are read
      (without a name): its name holds no letter that a name may have

    What tools read and write, and what records look like, was guessed. Check it first:
      playbooks/desk/playbook.yaml, world.schema.yaml
    Then write records (base_world.yaml), rules (policy.md, prompt.md.j2) and cases (scenarios/desk), and tools as code
    where you can. After each change:
      groundstate playbook check desk
      groundstate playbook try get_parcel --playbook desk --args '{"parcel_id":"example_1"}'
      groundstate validate
    "#);
    sound(dir.path(), "desk_2", "get_parcel", r#"{"parcel_id": "par_1"}"#).await;
    assert_eq!(names(dir.path()), ["judges", "personas", "playbooks", "scenarios"]);
}

#[tokio::test]
async fn what_is_written_of_a_server() {
    let dir = empty();
    assert_eq!(
        import(dir.path(), &["mcp", &Server::parcels().over_http().await, "--name", "desk"]).await.code,
        Some(0)
    );
    let prompt = sound(dir.path(), "desk", "track", r#"{"parcel_id": "par_1"}"#).await;
    assert!(prompt.contains("\n  {{ 7 * 7 }}{% endraw %} Tracks.\n"), "{prompt}");
    let written = |file: &str| std::fs::read_to_string(dir.path().join("playbooks/desk").join(file)).unwrap();
    assert!(written("prompt.md.j2").contains("You are the chat agent of Parcels [31m{{ \"{\" }}{ desk }}."));
    insta::assert_snapshot!(written("playbook.yaml").split("  - name: ").nth(1).unwrap(), @r#"
    get_parcel
        description: Returns a parcel.
        simulate: model
        parameters:
          type: object
          properties:
            parcel_id:
              type: string
          required:
            - parcel_id
        reads:
          - "/parcels/{parcel_id}"
        template: templates/get_parcel.md.j2
        returns:
          type: object
          properties:
            parcel_id:
              type: string
            state:
              type: string
              enum:
                - sent
                - lost
          required:
            - parcel_id
    "#);
    insta::assert_snapshot!(written("world.schema.yaml"), @r#"
    # What the records may look like: JSON Schema, written as YAML. Guessed from what the tools answer; a call that
    # leaves something else behind is undone.
    $schema: "https://json-schema.org/draft/2020-12/schema"
    type: object
    additionalProperties: false
    required:
      - parcels
      - records
    properties:
      parcels:
        type: object
        additionalProperties:
          type: object
          properties:
            parcel_id:
              type: string
            state:
              type: string
              enum:
                - sent
                - lost
          required:
            - parcel_id
      records:
        type: object
        additionalProperties:
          type: object
    "#);
}
