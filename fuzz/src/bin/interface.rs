//! An interface that is imported: the first line says which kind, and the rest is the interface.
#![no_main]

use domain::untrusted;
use libfuzzer_sys::fuzz_target;
use projects::import::ReadInterface;
use serde_json::json;

fuzz_target!(|input: &[u8]| {
    let Some((kind, text)) = str::from_utf8(input).ok().and_then(|input| input.split_once('\n')) else { return };
    let wanted = match kind {
        "openapi" => json!({ "openapi": text }),
        "mcp" | "openai" => match untrusted::json(text) {
            Ok(value) => json!({ kind: value }),
            Err(_) => return,
        },
        _ => return,
    };
    let Ok(wanted) = serde_json::from_value(wanted) else { return };
    let _ = fuzz::work(ReadInterface { name: "imported".to_owned(), wanted });
});
