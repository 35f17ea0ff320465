//! What is wrong with a filter, though it reads well.

use super::{Bounds, Filter, Whose};

/// The pointer of a field (RFC 6901), and what is wrong with it.
pub type Finding = (String, String);

/// Longer lists are a mistake, and cost everybody who looks at them.
const MOST_NAMES: usize = 1000;
const MOST_SCORES: usize = 100;
const LONGEST_NAME: usize = 200;

impl Filter {
    /// Everything that is out of range. Whether the names exist is not asked.
    pub fn problems(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for (field, names) in self.lists() {
            check_names(field, names, &mut found);
        }
        for (field, n) in
            [("/min_scores", self.min_scores.len()), ("/max_scores", self.max_scores.len()), ("/top", self.top.len())]
        {
            if n > MOST_SCORES {
                found.push((field.to_owned(), format!("asks for {n} scores, at most {MOST_SCORES} can be asked for")));
            }
        }
        for (i, run) in self.runs.iter().enumerate().filter(|(_, run)| !is_id(run)) {
            found.push((format!("/runs/{i}"), format!("`{run}` is no run's id")));
        }
        if let Whose::Judging(id) = &self.judging
            && !is_id(id)
        {
            found.push(("/judging".into(), format!("expected `own`, `latest` or a judging's id, found `{id}`")));
        }
        self.check_scores(&mut found);
        for (i, top) in self.top.iter().enumerate().filter(|(_, top)| !(top.share > 0.0 && top.share <= 1.0)) {
            found.push((format!("/top/{i}/share"), format!("expected a share above 0, up to 1; found {}", top.share)));
        }
        if let Some(min) = self.min_agreement.filter(|min| !(0.0..=1.0).contains(min)) {
            found.push(("/min_agreement".into(), format!("expected 0 to 1, found {min}")));
        }
        if self.reason.as_deref().is_some_and(|part| !is_fine(part)) {
            found.push(("/reason".into(), format!("expected 1 to {LONGEST_NAME} bytes without control characters")));
        }
        if let (Some(from), Some(before)) = (self.finished_from, self.finished_before)
            && from >= before
        {
            found.push(("/finished_before".into(), format!("nothing is finished from {from} on and before {before}")));
        }
        for (field, bounds) in [("/turns", self.turns), ("/tool_calls", self.tool_calls)] {
            found.extend(empty(bounds).map(|why| (field.to_owned(), why)));
        }
        found
    }

    fn check_scores(&self, found: &mut Vec<Finding>) {
        for (field, scores) in [("/min_scores", &self.min_scores), ("/max_scores", &self.max_scores)] {
            for (criterion, score) in scores.iter().filter(|(_, score)| **score > 10) {
                found.push((crate::patch::join(field, criterion), format!("expected 0 to 10, found {score}")));
            }
        }
        for (field, score) in [("/min_overall", self.min_overall), ("/max_overall", self.max_overall)] {
            if let Some(score) = score.filter(|score| *score > 10) {
                found.push((field.to_owned(), format!("expected 0 to 10, found {score}")));
            }
        }
        let bounds = |min: Option<u8>, max: Option<u8>| Bounds { min: min.map(u32::from), max: max.map(u32::from) };
        for (criterion, max) in &self.max_scores {
            let why = empty(bounds(self.min_scores.get(criterion).copied(), Some(*max)));
            found.extend(why.map(|why| (crate::patch::join("/max_scores", criterion), why)));
        }
        let why = empty(bounds(self.min_overall, self.max_overall));
        found.extend(why.map(|why| ("/max_overall".to_owned(), why)));
    }

    fn lists(&self) -> [(&'static str, &[String]); 10] {
        [
            ("/runs", &self.runs),
            ("/scenarios", &self.scenarios),
            ("/families", &self.families),
            ("/tags", &self.tags),
            ("/playbooks", &self.playbooks),
            ("/models", &self.models),
            ("/personas", &self.personas),
            ("/endings", &self.endings),
            ("/tools_any", &self.tools_any),
            ("/tools_all", &self.tools_all),
        ]
    }
}

fn check_names(field: &str, names: &[String], found: &mut Vec<Finding>) {
    if names.len() > MOST_NAMES {
        found.push((field.to_owned(), format!("names {} things, at most {MOST_NAMES} can be named", names.len())));
    }
    for (i, name) in names.iter().enumerate().take(MOST_NAMES) {
        if !is_fine(name) {
            let message = format!("expected a name of 1 to {LONGEST_NAME} bytes without control characters");
            found.push((format!("{field}/{i}"), message));
        }
    }
}

fn is_fine(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.len()) && !text.chars().any(char::is_control)
}

fn empty(bounds: Bounds) -> Option<String> {
    let (min, max) = (bounds.min?, bounds.max?);
    (min > max).then(|| format!("nothing is at least {min} and at most {max}"))
}

/// Whether a text is a UUID as it is printed: 8-4-4-4-12 lower-case hexadecimal digits.
fn is_id(text: &str) -> bool {
    let hexadecimal = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    text.len() == 36
        && text.bytes().enumerate().all(|(i, c)| if matches!(i, 8 | 13 | 18 | 23) { c == b'-' } else { hexadecimal(c) })
}
