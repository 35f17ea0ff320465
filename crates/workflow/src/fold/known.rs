//! What is known of a row's output before the row has ended.

use serde_json::Value;

use super::{Fold, Slot, StepId};
use crate::datum::Datum;
use crate::plan::{Action, Expr};

/// What is known of a field of the output.
pub enum KnownField {
    /// More items of the list that a map makes.
    Items(Vec<Value>),
    Whole(Datum),
}

impl Fold {
    /// The fields of the output, if it is written as a record and the row has not ended.
    fn output_fields(&self) -> &[(String, Expr)] {
        match self.scopes.first() {
            Some(root) if !root.is_over => match &root.workflow.output {
                Expr::Record(fields) => fields,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// What is known of each field of the output. `told`: how many of its items are not asked for.
    pub fn known_output(&self, told: impl Fn(&str) -> usize) -> Vec<(String, KnownField)> {
        let fields = self.output_fields().iter();
        fields.filter_map(|(name, of)| Some((name.clone(), self.known_field(of, told(name))?))).collect()
    }

    fn known_field(&self, of: &Expr, told: usize) -> Option<KnownField> {
        if let Expr::Path(to, keys) = of
            && keys.is_empty()
            && let Some(step) = self.step_of(0, *to)
            && let Some(items) = self.items_of_map(step, told)
        {
            return Some(KnownField::Items(items));
        }
        let mut reads = Vec::new();
        of.reads(&mut reads);
        let mut steps = reads.iter().filter_map(|to| self.step_of(0, *to));
        let is_known = steps.all(|step| matches!(self.slot(step), Slot::Done(_)));
        // What cannot be computed ends the row when its turn comes.
        is_known.then(|| self.evaluate(0, of).ok()).flatten().map(KnownField::Whole)
    }

    /// The items of a map from there on that are known; `None` of other steps, and of a map that was left out.
    fn items_of_map(&self, step: StepId, told: usize) -> Option<Vec<Value>> {
        let Action::Map(_) = self.block(step.scope).steps[step.step].action else { return None };
        match self.slot(step) {
            Slot::Mapping(mapping) => Some(mapping.prefix().skip(told).map(|item| item.json().clone()).collect()),
            Slot::Done(list) => Some(list.json().as_array()?.iter().skip(told).cloned().collect()),
            _ => None,
        }
    }
}
