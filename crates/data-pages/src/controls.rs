//! Which control of the pages sets which parameter of a filter.

use domain::filter::{Comparison, Parameter, ValueKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// A choice among the values that conversations have.
    Facet,
    /// The range of each score.
    ScoreRange,
    /// The range of a length.
    LengthRange,
    /// The best share.
    BestShare,
    Text,
    /// A text that is one of several accepted values.
    Name,
    Share,
    Time,
    /// None: links of other pages set it.
    Link,
}

pub fn control(parameter: &Parameter) -> Control {
    match (&parameter.comparison, parameter.dimension) {
        (Comparison::AnyOf(_), Some(dimension)) if dimension.kind() == ValueKind::Id => Control::Link,
        (Comparison::AnyOf(_), Some(dimension)) if dimension.kind() == ValueKind::Name => Control::Name,
        (Comparison::AnyOf(_) | Comparison::AllOf(_) | Comparison::Words(_) | Comparison::Is(_), _) => Control::Facet,
        (
            Comparison::MinScore(_) | Comparison::MaxScore(_) | Comparison::MinScores(_) | Comparison::MaxScores(_),
            _,
        ) => Control::ScoreRange,
        (Comparison::Min(_) | Comparison::Max(_), _) => Control::LengthRange,
        (Comparison::Best(_), _) => Control::BestShare,
        (Comparison::Contains(_) | Comparison::Judging(_), _) => Control::Text,
        (Comparison::MinShare(_) | Comparison::MaxShare(_), _) => Control::Share,
        (Comparison::From(_) | Comparison::Before(_), _) => Control::Time,
    }
}

#[cfg(test)]
mod tests {
    use domain::filter::{Dimension, PARAMETERS};

    use super::*;

    /// A panel shows a facet for each dimension that has one, and a range for each length.
    #[test]
    fn every_parameter_has_a_control_that_is_shown() {
        for parameter in &PARAMETERS {
            let (name, dimension) = (parameter.name, parameter.dimension);
            match control(parameter) {
                Control::Facet => assert!(dimension.is_some_and(Dimension::has_facet), "{name}"),
                Control::LengthRange => assert_eq!(dimension.map(Dimension::kind), Some(ValueKind::Count), "{name}"),
                Control::ScoreRange => assert_eq!(dimension, Some(Dimension::Score), "{name}"),
                Control::Link => assert_eq!(name, "run"),
                Control::BestShare | Control::Text | Control::Name | Control::Share | Control::Time => {}
            }
        }
    }
}
