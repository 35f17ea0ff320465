//! What two runs of the same cases came to, side by side.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::Value;

use super::play::PlayedRun;
use super::run::Run;

pub fn of(played: &PlayedRun) -> Result<String> {
    let runs = [&played.scripted, &played.local];
    let mut lines = vec![line("", &["scripted", "local model"].map(str::to_owned))];
    for (name, word) in [("played", "finished"), ("accepted", "accepted"), ("failures", "failures")] {
        let [one, other] = runs.map(|run| run.value_after(word).map(str::to_owned));
        lines.push(line(name, &[one?, other?]));
    }
    lines.push("mean score, 0 to 10:".to_owned());
    for criterion in criteria(runs) {
        lines.push(line(&format!("  {criterion}"), &runs.map(|run| mean(run, |row| score(row, &criterion)))));
    }
    lines.push(line("  overall", &runs.map(|run| mean(run, overall))));
    let written = |run: &Run| run.model_use().iter().map(|asked| asked.tokens_written).sum::<u64>();
    lines.push(line("tokens written by models", &runs.map(|run| written(run).to_string())));
    Ok(lines.join("\n"))
}

fn line(name: &str, values: &[String; 2]) -> String {
    let [one, other] = values;
    format!("{name:26} {one:>24} {other:>36}").trim_end().to_owned()
}

fn criteria(runs: [&Run; 2]) -> BTreeSet<String> {
    let scores = runs.into_iter().flat_map(|run| &run.rows).filter_map(|row| row["metadata"]["scores"].as_object());
    scores.flat_map(|scores| scores.keys().cloned()).collect()
}

/// None if nobody judged: a conversation that broke off is worth nothing that a judge could say.
fn score(row: &Value, criterion: &str) -> Option<f64> {
    row["metadata"]["scores"][criterion].as_f64()
}

/// It is 0 also if nobody judged, which is no score.
fn overall(row: &Value) -> Option<f64> {
    let judged = row["metadata"]["scores"].as_object()?.values().any(|score| !score.is_null());
    judged.then(|| row["metadata"]["overall"].as_f64()).flatten()
}

fn mean(run: &Run, of: impl Fn(&Value) -> Option<f64>) -> String {
    let (sum, count) =
        run.rows.iter().filter_map(of).fold((0.0, 0.0), |(sum, count), score| (sum + score, count + 1.0));
    if count > 0.0 { format!("{:.2}", sum / count) } else { "-".to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(scores: &Value, overall: u8) -> Value {
        json!({"metadata": {"scores": scores, "overall": overall}})
    }

    fn run(finished: u32, accepted: u32, failures: &str, rows: Vec<Value>) -> Run {
        let shown = format!("finished     {finished} of 3\naccepted     {accepted}\nfailures     {failures}");
        Run { shown, rows }
    }

    #[test]
    fn what_nobody_judged_counts_as_played_and_lowers_no_mean() {
        let scripted = run(3, 3, "none", vec![row(&json!({"goal": 9}), 9)]);
        let judged = [row(&json!({"goal": 3}), 4), row(&json!({"goal": 6}), 5)];
        let local = judged.into_iter().chain([row(&json!({"goal": null}), 0)]).collect();
        let local = run(3, 0, "2 by agent, 1 by simulated user", local);
        let table = of(&PlayedRun { scripted, local }).unwrap();
        let words: Vec<String> =
            table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for expected in
            ["played 3 of 3 3 of 3", "accepted 3 0", "failures none 2 by agent, 1 by simulated user", "goal 9.00 4.50"]
        {
            assert!(words.iter().any(|line| line == expected), "{expected} is not in\n{table}");
        }
    }
}
