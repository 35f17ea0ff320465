//! The probe against what engines and hosted endpoints are known to send.

use domain::api::probe::{ProbeKind, ProbeOutcome};
use serde_json::Value;
use wiremock::{Request, Respond, ResponseTemplate};

use super::probe::{Able, OPTIONS, kind, outcome, probed, server};

/// Answers one question as it was recorded, and the others as they should be answered.
struct Recorded {
    to: ProbeKind,
    body: &'static str,
    status: u16,
}

impl Respond for Recorded {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let asked: Value = request.body_json().unwrap();
        if kind(&asked) != self.to {
            return Able.respond(request);
        }
        let form = if self.body.starts_with("data:") { "text/event-stream" } else { "application/json" };
        ResponseTemplate::new(self.status).set_body_raw(self.body, form)
    }
}

/// A file of `recorded`; the status of an error stands in its name.
macro_rules! recorded {
    ($to:ident, $file:literal) => {
        recorded!($to, $file, 200)
    };
    ($to:ident, $file:literal, $status:literal) => {
        ($file, Recorded { to: ProbeKind::$to, body: include_str!(concat!("../recorded/", $file)), status: $status })
    };
}

#[tokio::test]
async fn quirks_are_understood() {
    use ProbeKind::{ContextOverflow, Reasoning, StopReason, ToolCall};
    use ProbeOutcome::{Failed, Passed, Warning};
    for ((file, recorded), kind, expected, says) in [
        // The last part repeats id, type and name beside what is left of the arguments: vllm-project/vllm#44098.
        (
            recorded!(ToolCall, "vllm/tool_call_repeats_its_head.sse"),
            ToolCall,
            Passed,
            r#"get_weather({"city":"Lisbon"})"#,
        ),
        // Newer releases call the field `reasoning`, and usage comes in a chunk without choices.
        (recorded!(Reply, "vllm/reasoning.sse"), Reasoning, Passed, "it is in `reasoning`"),
        // The last word and the reason share a chunk: vllm-project/vllm#36944.
        (recorded!(StopReason, "vllm/cut_with_the_last_word.sse"), StopReason, Passed, "finish_reason `length`"),
        // Without a parser a call is text: waybarrios/vllm-mlx#43.
        (recorded!(ToolCall, "vllm/no_tool_parser.sse"), ToolCall, Failed, "it called no tool and said `<tool_call>"),
        (recorded!(ToolCall, "vllm/no_auto_tool_choice.400.json", 400), ToolCall, Failed, "--enable-auto-tool-choice"),
        (recorded!(ContextOverflow, "vllm/too_long.400.json", 400), ContextOverflow, Passed, "maximum context length"),
        // Two reasons, the first of them wrong: sgl-project/sglang#8417.
        (recorded!(ToolCall, "sglang/two_finish_reasons.sse"), ToolCall, Passed, r#"get_weather({"city":"Lisbon"})"#),
        // Calls end with `stop`: sgl-project/sglang#7708.
        (
            recorded!(ParallelToolCalls, "sglang/calls_end_with_stop.sse"),
            ProbeKind::ParallelToolCalls,
            Passed,
            "2 calls in one reply",
        ),
        (recorded!(Reply, "sglang/reasoning_content.sse"), Reasoning, Passed, "it is in `reasoning_content`"),
        (recorded!(ContextOverflow, "sglang/too_long.400.json", 400), ContextOverflow, Passed, "is longer than"),
        // The error comes in place of a reply, with status 200: oobabooga/textgen#7257.
        (
            recorded!(ContextOverflow, "llama-server/too_long_with_status_200.json"),
            ContextOverflow,
            Passed,
            "exceeds the available context size",
        ),
        // Before ggml-org/llama.cpp#15780 it was a fault of the server.
        (
            recorded!(ContextOverflow, "llama-server/too_long.500.json", 500),
            ContextOverflow,
            Warning,
            "such calls are retried in vain",
        ),
        // As captured. A model of this size calls nothing, and the server holds it to a schema.
        (
            recorded!(ParallelToolCalls, "llama-server/no_parallel_calls.sse"),
            ProbeKind::ParallelToolCalls,
            Failed,
            "it called no tool and said `Lisbon is currently",
        ),
        (recorded!(JsonSchema, "llama-server/json_schema.sse"), ProbeKind::JsonSchema, Passed, r#"{"city":"Lisbon"}"#),
        (recorded!(StopReason, "llama-server/cut.sse"), StopReason, Passed, "finish_reason `length`"),
        (
            recorded!(ContextOverflow, "llama-server/too_long.400.json", 400),
            ContextOverflow,
            Passed,
            "request (2607 tokens) exceeds the available context size (2048 tokens)",
        ),
        // Arguments end anywhere, also between a backslash and the quote that it belongs to.
        (recorded!(BracesInArguments, "openai/call_in_small_parts.sse"), ProbeKind::BracesInArguments, Passed, "if {"),
        (
            recorded!(ContextOverflow, "openai/too_long.400.json", 400),
            ContextOverflow,
            Passed,
            "maximum context length",
        ),
        (recorded!(StopReason, "openai/no_room_for_a_reply.400.json", 400), StopReason, Passed, "it refuses to cut"),
    ] {
        let found = probed(&server(recorded).await, OPTIONS).await;
        let (outcome, detail) = outcome(&found, kind);
        assert!(outcome == expected && detail.contains(says), "{file}: {outcome:?} {detail}");
    }
}
