//! Asking a judge, and reading its verdict.

mod per_criterion;
#[cfg(test)]
mod tests;

use domain::judge::{Adjustments, Judge as Spec};
use domain::problem::Problem;
use domain::verdict::{Score, Verdict};
use minijinja::Environment;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::templates;
pub use per_criterion::{merge_replies, per_criterion_requests};

#[derive(Clone)]
pub struct Judge {
    pub spec: Spec,
    templates: Environment<'static>,
    prompt: String,
    version: String,
}

impl Judge {
    /// `files` are those of the judge's folder.
    pub fn compile(folder: &str, files: &std::collections::BTreeMap<String, String>) -> Result<Self, Vec<Problem>> {
        let name = format!("{folder}/judge.yaml");
        let Some(text) = files.get("judge.yaml") else {
            return Err(vec![Problem::new(name, 0, "", "the file is missing")]);
        };
        let (spec, located) = domain::document::located::<Spec>(&name, text)?;
        let problems = spec.problems();
        if !problems.is_empty() {
            return Err(problems.into_iter().map(|(at, message)| located.problem(&at, message)).collect());
        }
        let Some(prompt) = files.get(&spec.prompt) else {
            return Err(vec![located.problem("/prompt", format!("no file `{}` in {folder}", spec.prompt))]);
        };
        let mut templates = templates::environment();
        if let Err(e) = templates::add(&mut templates, "prompt", prompt) {
            let (file, line) = (format!("{folder}/{}", spec.prompt), templates::place(&e).map_or(0, |(_, line)| line));
            return Err(vec![Problem::new(file, line, "", e)]);
        }
        Ok(Self { version: version(&spec, prompt), spec, templates, prompt: prompt.clone() })
    }

    /// The judge with the criteria of a playbook.
    ///
    /// # Errors
    /// Pointers into the adjustments, and what is wrong there.
    pub fn adjusted(&self, by: &Adjustments) -> Result<Self, Vec<(String, String)>> {
        let spec = self.spec.adjusted(by)?;
        Ok(Self { version: version(&spec, &self.prompt), spec, ..self.clone() })
    }

    /// Which judge this is: a hash of its criteria and its prompt.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn prompt(&self, context: &Value) -> Result<String, String> {
        templates::render(&self.templates, "prompt", context)
    }

    /// JSON Schema of the reply.
    pub fn reply_schema(&self) -> Value {
        let names: Vec<&str> = self.spec.criteria.iter().map(|c| c.name.as_str()).collect();
        let score = json!({"type": "integer", "minimum": 0, "maximum": 10});
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["scores", "overall", "rationale", "goal_achieved"],
            "properties": {
                "scores": {
                    "type": "array",
                    "minItems": names.len(),
                    "maxItems": names.len(),
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["criterion", "score", "rationale"],
                        "properties": {
                            "criterion": {"type": "string", "enum": names},
                            "score": score,
                            "rationale": {"type": "string"}
                        }
                    }
                },
                "overall": score,
                "rationale": {"type": "string"},
                "goal_achieved": {"type": "boolean"}
            }
        })
    }

    /// # Errors
    /// Why the reply is no verdict: words for the model that is asked again.
    pub fn read(&self, reply: &Value) -> Result<Verdict, String> {
        let reply: Reply = serde_json::from_value(reply.clone()).map_err(|e| e.to_string())?;
        let names: Vec<&str> = self.spec.criteria.iter().map(|c| c.name.as_str()).collect();
        if let Some(stranger) = reply.scores.iter().find(|s| !names.contains(&s.criterion.as_str())) {
            return Err(format!("`{}` is no criterion; they are {}", stranger.criterion, names.join(", ")));
        }
        if let Some(silent) = reply.scores.iter().find(|s| s.rationale.trim().is_empty()) {
            return Err(format!("the rationale of `{}` is empty", silent.criterion));
        }
        let mut scores = Vec::new();
        for criterion in &self.spec.criteria {
            let mut found = reply.scores.iter().filter(|s| s.criterion == criterion.name);
            match (found.next(), found.next()) {
                (Some(score), None) if score.score <= 10 => scores.push(score.clone()),
                (Some(score), None) => return Err(format!("`{}` is scored {}, above 10", criterion.name, score.score)),
                (Some(_), Some(_)) => return Err(format!("`{}` is scored twice", criterion.name)),
                (None, _) => return Err(format!("`{}` is not scored", criterion.name)),
            }
        }
        if reply.rationale.trim().is_empty() {
            return Err("the rationale of the overall score is empty".to_owned());
        }
        if reply.overall > 10 {
            return Err(format!("overall is {}, above 10", reply.overall));
        }
        Ok(Verdict {
            judge: self.spec.name.clone(),
            weighted_mean: self.weighted_mean(&scores),
            scores,
            overall: reply.overall,
            rationale: reply.rationale,
            goal_achieved: reply.goal_achieved,
            panel: Vec::new(),
        })
    }

    fn weighted_mean(&self, scores: &[Score]) -> f64 {
        let weights: f64 = self.spec.criteria.iter().map(|c| c.weight).sum();
        let sum: f64 = self.spec.criteria.iter().zip(scores).map(|(c, s)| c.weight * f64::from(s.score)).sum();
        if weights > 0.0 { (sum / weights * 100.0).round() / 100.0 } else { 0.0 }
    }
}

fn version(spec: &Spec, prompt: &str) -> String {
    let spec = serde_json::to_string(spec).unwrap_or_default();
    hex::encode(Sha256::digest(format!("{spec}\n{prompt}")))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    scores: Vec<Score>,
    overall: u8,
    rationale: String,
    goal_achieved: bool,
}
