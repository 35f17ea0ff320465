//! The filter of a selection, taken to pieces: the conditions that its funnel counts by.

use super::Spec;
use crate::filter::Filter;

/// What is asked for, in the order in which it is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions {
    /// What is known of a conversation before its events are read.
    pub known: Vec<Condition>,
    /// What only its events tell.
    pub told: Vec<Condition>,
    /// The best of what passes all of those.
    pub best: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// As the filter names it.
    pub name: String,
    /// Asks for this, and for nothing else.
    pub filter: Filter,
}

impl Spec {
    /// Conditions that are not asked for are not there. Together they let pass what the filter does.
    pub fn conditions(&self) -> Conditions {
        // All fields by name, so that no condition is forgotten here. Whose verdicts count is none.
        let Filter {
            runs,
            scenarios,
            families,
            tags,
            playbooks,
            personas,
            models,
            complexities,
            outcomes,
            blames,
            reason,
            endings,
            min_scores,
            max_scores,
            min_overall,
            max_overall,
            top,
            goal_achieved,
            verified,
            rated,
            annotated,
            corrected,
            finished_from,
            finished_before,
            turns,
            tool_calls,
            tools_any,
            tools_all,
            min_agreement,
            judging: _,
        } = self.filter();
        let mut known = asked([
            ("runs", Filter { runs, ..all() }),
            ("scenarios", Filter { scenarios, ..all() }),
            ("families", Filter { families, ..all() }),
            ("tags", Filter { tags, ..all() }),
            ("playbooks", Filter { playbooks, ..all() }),
            ("models", Filter { models, ..all() }),
            ("personas", Filter { personas, ..all() }),
            ("complexities", Filter { complexities, ..all() }),
            ("outcomes", Filter { outcomes, ..all() }),
            ("blames", Filter { blames, ..all() }),
            ("reason", Filter { reason, ..all() }),
            ("endings", Filter { endings, ..all() }),
            ("finished_from", Filter { finished_from, ..all() }),
            ("finished_before", Filter { finished_before, ..all() }),
            ("turns", Filter { turns, ..all() }),
            ("goal_achieved", Filter { goal_achieved, ..all() }),
            ("min_agreement", Filter { min_agreement, ..all() }),
            ("rated", Filter { rated, ..all() }),
            ("annotated", Filter { annotated, ..all() }),
            ("corrected", Filter { corrected, ..all() }),
            ("min_overall", Filter { min_overall, ..all() }),
            ("max_overall", Filter { max_overall, ..all() }),
        ]);
        known.extend(min_scores.into_iter().map(|(criterion, score)| Condition {
            name: format!("min_scores.{criterion}"),
            filter: Filter { min_scores: [(criterion, score)].into(), ..all() },
        }));
        known.extend(max_scores.into_iter().map(|(criterion, score)| Condition {
            name: format!("max_scores.{criterion}"),
            filter: Filter { max_scores: [(criterion, score)].into(), ..all() },
        }));
        let told = asked([
            ("verified", Filter { verified, ..all() }),
            ("tool_calls", Filter { tool_calls, ..all() }),
            ("tools_any", Filter { tools_any, ..all() }),
            ("tools_all", Filter { tools_all, ..all() }),
        ]);
        let best = top.into_iter().map(|one| Condition {
            name: format!("top.{}", one.criterion.as_deref().unwrap_or("overall")),
            filter: Filter { top: vec![one], ..all() },
        });
        Conditions { known, told, best: best.collect() }
    }
}

fn asked<const N: usize>(pieces: [(&str, Filter); N]) -> Vec<Condition> {
    let asked = pieces.into_iter().filter(|(_, filter)| *filter != all());
    asked.map(|(name, filter)| Condition { name: name.to_owned(), filter }).collect()
}

/// A filter that asks for nothing.
fn all() -> Filter {
    Filter::default()
}
