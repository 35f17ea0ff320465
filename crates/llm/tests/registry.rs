//! models.yaml: what is read, and what is said about what cannot be.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use domain::price::Price;
use insta::assert_snapshot;
use llm::{PoolSpec, Registry};

fn problems(text: &str) -> String {
    let problems = Registry::read("models.yaml", text).unwrap_err();
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

const GOOD: &str = "\
models:
  - name: qwen
    model: Qwen/Qwen3-30B-A3B
    replicas: [http://gpu1:8000/v1, http://gpu2:8000/v1]
    key_env: QWEN_KEY
    price: {prompt: 0.15, completion: 1}
    max_in_flight: 200
    slow_after_seconds: 20
  - name: org/small
    replicas:
      - http://localhost:8080/v1
";

#[test]
fn pools_are_read_with_their_defaults() {
    let registry = Registry::read("models.yaml", GOOD).unwrap();
    let qwen = registry.pool("qwen").unwrap();
    assert_eq!((qwen.model(), qwen.replicas.len(), qwen.start_in_flight), ("Qwen/Qwen3-30B-A3B", 2, 16));
    assert_eq!(qwen.price, Some(Price { prompt: 0.15, completion: 1.0 }));
    let small = registry.pool("org/small").unwrap();
    assert_eq!(small, &PoolSpec::new("org/small", vec!["http://localhost:8080/v1".into()]));
    assert_eq!(small.model(), "org/small");
    let stored = serde_json::to_value(qwen).unwrap();
    assert_eq!(&serde_json::from_value::<PoolSpec>(stored).unwrap(), qwen);
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let registry = Registry::read("models.yaml", GOOD).unwrap();
    assert_snapshot!(registry.pool("qwne").unwrap_err(), @"no model is named `qwne` (did you mean `qwen`?); models.yaml has org/small, qwen, or give NAME@BASE_URL");
    assert_snapshot!(Registry::default().pool("x").unwrap_err(), @"no model is named `x`; add it to models.yaml, which names none, or give NAME@BASE_URL");
}

#[test]
fn what_the_form_forbids_is_said_with_its_line() {
    assert_snapshot!(problems("\
models:
  - name: a
    replica: [http://host/v1]
  - name: b
    replicas: []
    max_in_flight: 0
    price: {prompt: free}
"), @"
    models.yaml:3: models[0].replica: unknown field (did you mean `replicas`?); expected one of: name, model, replicas, workers, key_env, key_file, price, max_in_flight, start_in_flight, slow_after_seconds, token_ids
    models.yaml:6: models[1].max_in_flight: 0 is less than the minimum of 1
    models.yaml:7: models[1].price: field `completion` is missing
    models.yaml:7: models[1].price.prompt: expected number, found text `free`
    ");
}

#[test]
fn what_the_rules_forbid_is_said_with_its_line_and_without_secrets() {
    let said = problems(
        "\
models:
  - name: scripted
    replicas: [http://host/v1, http://host/v1/]
  - name: b
    model: ''
    key_env: sk-secret
    replicas:
      - http://ann:secret@host/v1
      - host:8000/v1
      - http://host/v1?key=secret
      - http://host/v1/chat/completions
    price: {prompt: -1, completion: 0}
    slow_after_seconds: 0
  - name: b
    replicas: [http://host/v1]
",
    );
    assert!(!said.contains("secret"));
    assert_snapshot!(said, @"
    models.yaml:2: models[0].name: expected 1 to 200 letters, digits and `._/-`, and not `scripted`
    models.yaml:3: models[0].replicas[1]: this endpoint is in the list already
    models.yaml:5: models[1].model: expected the model's name at the endpoint, which may be a path of up to 2,000 bytes
    models.yaml:6: models[1].key_env: expected the name of an environment variable like OPENAI_API_KEY (the value is not shown, it may be a key)
    models.yaml:8: models[1].replicas[0]: the base URL holds a user name or password, which would be stored
    models.yaml:9: models[1].replicas[1]: the base URL begins with `host:`, expected http: or https:
    models.yaml:10: models[1].replicas[2]: the base URL has a query or fragment, which may hold a key and would be stored
    models.yaml:11: models[1].replicas[3]: the base URL ends in /chat/completions, which is added by Groundstate
    models.yaml:12: models[1].price.prompt: expected a price for a million tokens, 0 or more, found -1
    models.yaml:13: models[1].slow_after_seconds: expected seconds, more than 0
    models.yaml:14: models[2].name: a model named `b` is already in line 4
    ");
}
