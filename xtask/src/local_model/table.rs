//! What two runs of the same cases came to, side by side.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::play::Played;

/// From the rows' own metadata.
pub fn of(played: &Played) -> String {
    let columns = [&played.scripted, &played.local].map(Vec::as_slice);
    let mut lines = vec![line("", ["scripted", "local model"].map(str::to_owned))];
    lines.push(line("played", columns.map(|rows| rows.len().to_string())));
    lines.push(line("accepted", columns.map(|rows| rows.iter().filter(|row| accepted(row)).count().to_string())));
    lines.push(line("failed by", columns.map(blames)));
    lines.push("mean score, 0 to 10:".to_owned());
    for criterion in criteria(columns) {
        lines.push(line(&format!("  {criterion}"), columns.map(|rows| mean(rows, |row| score(row, &criterion)))));
    }
    lines.push(line("  overall", columns.map(|rows| mean(rows, overall))));
    lines.push(line("tokens written", columns.map(|rows| rows.iter().map(written).sum::<u64>().to_string())));
    lines.join("\n")
}

fn line(name: &str, values: [String; 2]) -> String {
    let [one, other] = values;
    format!("{name:26} {one:>20} {other:>20}").trim_end().to_owned()
}

fn accepted(row: &Value) -> bool {
    row["metadata"]["accepted"] == true
}

fn blames(rows: &[Value]) -> String {
    let mut counts = BTreeMap::<&str, u32>::new();
    for row in rows.iter().filter(|row| !accepted(row)) {
        *counts.entry(row["metadata"]["blame"].as_str().unwrap_or("?")).or_default() += 1;
    }
    let words: Vec<String> = counts.iter().map(|(blame, count)| format!("{blame} {count}")).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

fn criteria(columns: [&[Value]; 2]) -> BTreeSet<String> {
    let scores = columns.into_iter().flatten().filter_map(|row| row["metadata"]["scores"].as_object());
    scores.flat_map(|scores| scores.keys().cloned()).collect()
}

/// None if nobody judged, for a conversation that broke off is worth nothing that a judge could say.
fn score(row: &Value, criterion: &str) -> Option<f64> {
    row["metadata"]["scores"][criterion].as_f64()
}

/// 0 also if nobody judged, which is no score.
fn overall(row: &Value) -> Option<f64> {
    let scores = row["metadata"]["scores"].as_object()?;
    let judged = scores.values().any(|score| !score.is_null());
    judged.then(|| row["metadata"]["overall"].as_f64()).flatten()
}

fn mean(rows: &[Value], of: impl Fn(&Value) -> Option<f64>) -> String {
    let (sum, count) = rows.iter().filter_map(of).fold((0.0, 0.0), |(sum, count), score| (sum + score, count + 1.0));
    if count > 0.0 { format!("{:.2}", sum / count) } else { "-".to_owned() }
}

/// By models, in all roles.
pub fn written(row: &Value) -> u64 {
    let usage = row["metadata"]["usage"].as_object();
    usage.into_iter().flatten().filter_map(|(_, usage)| usage["completion_tokens"].as_u64()).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(accepted: bool, blame: &str, scores: &Value, overall: u8) -> Value {
        let usage = json!({"agent": {"completion_tokens": 5}, "simulated_user": {"completion_tokens": 7}});
        json!({"metadata": {"accepted": accepted, "blame": blame, "scores": scores, "overall": overall, "usage": usage}})
    }

    #[test]
    fn what_nobody_judged_counts_as_played_and_lowers_no_mean() {
        let scripted = vec![row(true, "", &json!({"goal": 9}), 9)];
        let local = vec![
            row(false, "agent", &json!({"goal": 3}), 4),
            row(false, "agent", &json!({"goal": 6}), 5),
            row(false, "simulated_user", &json!({"goal": null}), 0),
        ];
        let table = of(&Played { scripted, local });
        let words: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        for expected in [
            &["played", "1", "3"][..],
            &["accepted", "1", "0"],
            &["failed", "by", "-", "agent", "2,", "simulated_user", "1"],
            &["goal", "9.00", "4.50"],
            &["overall", "9.00", "4.50"],
            &["tokens", "written", "12", "36"],
        ] {
            assert!(words.iter().any(|line| line == expected), "{expected:?} is not in\n{table}");
        }
    }
}
