//! Model specs: what is read, and what is said about those that cannot be.

use llm::{EndpointOptions, ModelSpec, Pool};

#[test]
fn specs_are_read_and_written_back() {
    for (text, name, base_url, key_env) in [
        (
            "gpt-x@https://api.openai.com/v1@OPENAI_API_KEY",
            "gpt-x",
            "https://api.openai.com/v1",
            Some("OPENAI_API_KEY"),
        ),
        ("Qwen/Qwen3-8B@http://localhost:8000/v1", "Qwen/Qwen3-8B", "http://localhost:8000/v1", None),
        ("qwen3:8b@http://[::1]:11434/v1/@_K2", "qwen3:8b", "http://[::1]:11434/v1/", Some("_K2")),
    ] {
        let ModelSpec::Endpoint(spec) = text.parse().unwrap() else { panic!("{text}") };
        assert_eq!((spec.name(), spec.base_url(), spec.key_env()), (name, base_url, key_env));
        assert_eq!(spec.to_string(), text);
        let spec = ModelSpec::Endpoint(spec);
        assert_eq!(serde_json::to_value(&spec).unwrap(), text);
        assert_eq!(serde_json::from_value::<ModelSpec>(text.into()).unwrap(), spec);
    }
    for name in ["gpt-4", "org/Model_2.5", "x"] {
        let spec = ModelSpec::Named(name.into());
        assert_eq!(name.parse().as_ref(), Ok(&spec));
        assert_eq!(serde_json::to_value(&spec).unwrap(), name);
    }
    assert_eq!(" scripted ".parse(), Ok(ModelSpec::Scripted));
    assert_eq!(ModelSpec::Scripted.to_string(), "scripted");
}

#[test]
fn bad_specs_say_what_is_wrong_with_an_example_and_without_secrets() {
    for (text, said) in [
        ("gpt 4", "`gpt 4` is not a model"),
        ("qwen3:8b", "`qwen3:8b` is not a model"),
        ("", "`` is not a model"),
        ("@http://localhost/v1", "no model name"),
        ("m@localhost:8000/v1", "begins with `localhost:`"),
        ("m@ftp://host/v1", "begins with `ftp:`"),
        ("m@nowhere", "base URL `nowhere` is not a URL"),
        ("m@https://host:port", "`https://host:port` is not a URL (invalid port number)"),
        ("m@https://ann:secret@host/v1", "user name or password"),
        ("m@https://ann:secret@host/v1@KEY", "user name or password"),
        ("m@https://ann:secret@HOST", "is not a URL (invalid port number)"),
        ("m@https://host/v1?api_key=secret", "query or fragment"),
        ("m@https://host/v1#secret", "query or fragment"),
        ("m@https://host/v1@sk-secret", "no name of an environment variable"),
        ("m@https://host/v1@", "no name of an environment variable"),
        ("m@https://host/v1/chat/completions", "ends in /chat/completions"),
    ] {
        let error = text.parse::<ModelSpec>().unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
        assert!(error.contains("e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY"), "{error}");
        assert!(!error.contains("secret"), "{text}: {error}");
    }
}

#[test]
fn a_missing_key_is_said_before_anything_is_asked() {
    let ModelSpec::Endpoint(spec) = "m@http://localhost/v1@GROUNDSTATE_NO_SUCH_KEY".parse().unwrap() else { panic!() };
    let error = Pool::of_endpoint(spec, EndpointOptions::default()).unwrap_err().to_string();
    assert!(error.contains("environment variable GROUNDSTATE_NO_SUCH_KEY"), "{error}");
}
