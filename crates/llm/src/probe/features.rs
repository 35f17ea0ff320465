//! What the platform will use of an endpoint, from how it did.

use domain::api::probe::{Feature, ProbeCheck, ProbeFeature, ProbeKind, ProbeOutcome};

use super::probe_answer::ProbeAnswer;
use crate::client::Format;

/// Nothing of one that never answered.
pub fn of(checks: &[ProbeCheck], all: &[ProbeAnswer], format: Format) -> Vec<ProbeFeature> {
    if all.iter().all(|tried| tried.heard.is_none()) {
        return Vec::new();
    }
    let outcome = |kind: ProbeKind| checks.iter().find(|check| check.kind == kind).map(|check| check.outcome);
    let passed = |kind: ProbeKind| outcome(kind) == Some(ProbeOutcome::Passed);
    let json = passed(ProbeKind::JsonSchema) && format == Format::Schema;
    let calls = function_calling(checks, json);
    let parallel = calls.used && passed(ProbeKind::ParallelToolCalls);
    let early = calls.used && all.iter().any(|tried| tried.passed() && argument_parts(tried) > 1);
    let reasons = all.iter().any(reasons);
    let seed = passed(ProbeKind::Seed);
    let tokens = all.iter().any(|tried| tried.kind == ProbeKind::TokenIds && returns_tokens(tried));
    let feature = |feature, used: bool, yes: &str, no: &str| {
        let detail = if used { yes } else { no }.to_owned();
        ProbeFeature { feature, used, detail }
    };
    vec![
        calls,
        feature(Feature::ParallelToolCalls, parallel, "several tools in one turn", "one tool per turn"),
        feature(Feature::Pipelining, early, "a call is made as soon as its JSON is there", "calls wait for the reply"),
        feature(Feature::JsonSchema, json, "the endpoint keeps replies to the schema", without_schema(format)),
        feature(Feature::Reasoning, reasons, "kept beside the reply", "there is none"),
        feature(Feature::Seed, seed, "a reply can be reproduced", "a reply cannot be reproduced"),
        feature(
            Feature::TokenIds,
            tokens,
            "kept for the agent of a model with `token_ids: true`",
            "exports say `off_policy`",
        ),
    ]
}

/// `json`: whether it holds replies to a schema.
fn function_calling(checks: &[ProbeCheck], json: bool) -> ProbeFeature {
    use ProbeKind::{BracesInArguments, NestedArguments, Reply, ToolCall, ToolResult, UnicodeArguments};
    let needed = [Reply, ToolCall, ToolResult, NestedArguments, UnicodeArguments, BracesInArguments];
    let worst = checks.iter().filter(|check| needed.contains(&check.kind));
    let broken = worst.filter(|check| !matches!(check.outcome, ProbeOutcome::Passed | ProbeOutcome::Warning));
    let broken: Vec<&str> = broken.map(|check| check.kind.into_str()).collect();
    let used = broken.is_empty();
    let detail = if used {
        "the agent style `function_calling`".to_owned()
    } else {
        let style = if json { "json" } else { "react" };
        format!("use the agent style `{style}` (not in order: {})", broken.join(", "))
    };
    ProbeFeature { feature: Feature::FunctionCalling, used, detail }
}

const fn without_schema(format: Format) -> &'static str {
    match format {
        Format::Schema => "the prompt asks for JSON, and the engine asks again for what does not fit",
        Format::Object => "the endpoint refuses schemas: it guarantees JSON, and the prompt gives the schema",
        Format::Plain => "the endpoint refuses response formats: only the prompt asks for JSON",
    }
}

fn argument_parts(tried: &ProbeAnswer) -> u32 {
    tried.heard.as_ref().map_or(0, |heard| heard.manner.argument_parts)
}

fn returns_tokens(tried: &ProbeAnswer) -> bool {
    let sampling = tried.heard.as_ref().and_then(|heard| heard.reply.sampling.as_ref());
    sampling.is_some_and(|sampling| sampling.tokens().is_some())
}

fn reasons(tried: &ProbeAnswer) -> bool {
    tried.heard.as_ref().is_some_and(|heard| {
        heard.manner.reasoning.is_some() || domain::reasoning::split(&heard.reply.content, None).1.is_some()
    })
}
