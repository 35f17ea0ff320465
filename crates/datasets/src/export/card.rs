//! The card of a bundle: for programs, a declaration of the columns; for people, what the rows are and how they came about.

use std::collections::BTreeMap;
use std::fmt::Write;

use domain::export::{Arguments, Data, DatasetSummary, ExportPart, ExportReport, Reasoning, Shape, ToolsAs};

use super::contents::{Order, extension};

pub fn text(order: &Order, report: &ExportReport) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = declare(&mut out, order, report);
    let _ = tell(&mut out, order, report);
    out
}

/// What `datasets` and the Hub read. JSON columns are declared as such: without it, a loader guesses the types of the
/// first rows and breaks or alters the later ones.
fn declare(out: &mut String, order: &Order, report: &ExportReport) -> std::fmt::Result {
    let shape = &order.shape;
    writeln!(out, "---\npretty_name: {}", serde_json::Value::from(order.title.as_str()))?;
    writeln!(out, "task_categories:\n- text-generation")?;
    writeln!(out, "tags:\n- conversational\n- tool-calling\n- synthetic")?;
    if report.parts.iter().any(|part| part.written.about.with_reasoning > 0) && shape.reasoning != Reasoning::Drop {
        writeln!(out, "- reasoning")?;
    }
    writeln!(out, "size_categories:\n- {}", size(report.rows))?;
    writeln!(out, "configs:\n- config_name: default\n  data_files:")?;
    for part in &report.parts {
        writeln!(out, "  - split: {}\n    path: {}", part.split, part.path)?;
    }
    let json = |yes| if yes { "json" } else { "string" };
    let arguments = json(shape.arguments == Arguments::Object);
    let tools = json(shape.tools == ToolsAs::Array);
    writeln!(out, "dataset_info:\n- config_name: default\n  features:\n  - name: messages\n    list:")?;
    for name in ["role", "content", "reasoning_content"] {
        writeln!(out, "    - name: {name}\n      dtype: string")?;
    }
    writeln!(out, "    - name: tool_calls\n      list:\n      - name: id\n        dtype: string")?;
    writeln!(out, "      - name: type\n        dtype: string\n      - name: function\n        struct:")?;
    writeln!(
        out,
        "        - name: name\n          dtype: string\n        - name: arguments\n          dtype: {arguments}"
    )?;
    writeln!(out, "    - name: tool_call_id\n      dtype: string")?;
    writeln!(out, "  - name: tools\n    dtype: {tools}\n  - name: metadata\n    dtype: json\n---\n")
}

fn size(rows: i64) -> &'static str {
    match rows {
        ..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        _ => "10M<n<100M",
    }
}

fn tell(out: &mut String, order: &Order, report: &ExportReport) -> std::fmt::Result {
    writeln!(out, "# {}\n", plain(&order.title))?;
    writeln!(
        out,
        "Conversations between a simulated user and an agent that calls tools, played by Groundstate over a simulated \
         backend. A program decided which tool calls succeed and what they change; a judge and a program scored the outcome.\n"
    )?;
    for part in &report.parts {
        scripted(out, part)?;
    }
    writeln!(out, "## How the rows were chosen\n\n{}\n", plain(&order.chosen))?;
    for part in &report.parts {
        writeln!(out, "## `{}`: {} rows\n", part.split, part.written.rows)?;
        left_out(out, part)?;
        write_summary(out, &part.written.about)?;
    }
    loading(out, &order.shape)?;
    writeln!(
        out,
        "## Licence\n\nNot chosen yet. Whoever publishes these rows names the licence here and as `license:` in the header, and \
         observes the terms of the models that are named above.\n"
    )?;
    writeln!(
        out,
        "## Limits\n\nUsers, companies and records are made up. Simulated users are more patient and more regular than people. \
         Scores are a model's where the judge is a model; see `metadata.judge`."
    )
}

/// What was played from a script is said before anything else.
fn scripted(out: &mut String, part: &ExportPart) -> std::fmt::Result {
    let of_all = part.written.rows;
    for (role, rows) in &part.written.about.scripted_roles {
        writeln!(
            out,
            "**In {rows} of {of_all} rows of `{}` the role `{role}` was played from the scenario's script: its words are no \
             output of a model.**\n",
            part.split
        )?;
    }
    Ok(())
}

fn left_out(out: &mut String, part: &ExportPart) -> std::fmt::Result {
    let written = &part.written;
    writeln!(out, "Of {} conversations:\n", written.conversations)?;
    for (count, what) in [
        (written.not_accepted, "were not accepted"),
        (written.not_judged, "have no verdict"),
        (written.unfinished, "did not come to an end"),
    ] {
        if count > 0 {
            writeln!(out, "- {count} {what}")?;
        }
    }
    for (reason, count) in &written.left_out {
        writeln!(out, "- {count} rows were left out: {}", plain(reason))?;
    }
    writeln!(out, "- {} rows are here\n", written.rows)
}

fn write_summary(out: &mut String, about: &DatasetSummary) -> std::fmt::Result {
    writeln!(out, "| | |\n| --- | --- |")?;
    writeln!(out, "| playbooks | {} |", counts(&about.playbooks))?;
    writeln!(out, "| scenarios | {} |", counts(&about.scenarios))?;
    writeln!(out, "| personas | {} |", counts(&about.personas))?;
    writeln!(out, "| complexity | {} |", counts(&about.complexities))?;
    for (role, models) in &about.models {
        writeln!(out, "| {} | {} |", plain(role), counts(models))?;
    }
    writeln!(out, "| how they ended | {} |", counts(&about.endings))?;
    writeln!(out, "| messages | {} |\n| tool calls | {} |", about.messages, about.tool_calls)?;
    writeln!(out, "| with parallel calls | {} |", about.with_parallel_calls)?;
    writeln!(out, "| with reasoning | {} |", about.with_reasoning)?;
    writeln!(out, "| of sub-agents | {} |", about.of_sub_agents)?;
    writeln!(out, "| not accepted | {} |", about.not_accepted)?;
    let overall: Vec<String> = about.overall.iter().map(|(score, rows)| format!("{score}: {rows}")).collect();
    writeln!(out, "| overall score: rows | {} |", overall.join(", "))?;
    for (criterion, (rows, sum)) in &about.criteria {
        #[expect(clippy::cast_precision_loss, reason = "a mean")]
        let mean = *sum as f64 / *rows as f64;
        writeln!(out, "| {}, mean of {rows} | {mean:.2} |", plain(criterion))?;
    }
    writeln!(out)
}

fn loading(out: &mut String, shape: &Shape) -> std::fmt::Result {
    writeln!(out, "## Loading\n\n```python\nfrom datasets import load_dataset\nds = load_dataset(\"PATH\")\n```\n")?;
    if shape.data == Data::Jsonl {
        writeln!(
            out,
            "`arguments`, `tools` and `metadata` are JSON text in the files ({}) and load as the header declares: `datasets` \
                       from 4.7. Older versions read the export profile `json_strings`.\n",
            extension(shape)
        )
    } else {
        writeln!(
            out,
            "`arguments`, `tools` and `metadata` are JSON text in the files and load as the header declares: `datasets` from \
                       5.0 for `tools`. Older versions read the columns as text.\n"
        )
    }
}

/// The most frequent first, at most twenty.
fn counts(counts: &BTreeMap<String, i64>) -> String {
    let mut sorted: Vec<(&String, &i64)> = counts.iter().collect();
    sorted.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
    let mut named: Vec<String> = sorted.iter().take(20).map(|(name, n)| format!("{} ({n})", plain(name))).collect();
    if sorted.len() > named.len() {
        named.push(format!("and {} more", sorted.len() - named.len()));
    }
    named.join(", ")
}

/// Names come from documents and models: they stay in their line and their cell, and start nothing.
fn plain(text: &str) -> String {
    let safe = |c: char| match c {
        '|' | '`' | '<' | '>' | '[' | ']' | '\\' | '*' => format!("\\{c}"),
        c if c.is_control() => " ".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(safe).collect()
}
