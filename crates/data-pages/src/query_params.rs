//! Which conversations are asked for, and in which order, as it stands in an address.
//!
//! The parameters are those of `GET /projects/{project}/conversations`, so that an address of the app and one of the API
//! say the same.

mod selection;

use domain::api::ConversationOrderParams;
use domain::corpus::Spec;
use domain::filter::Filter;
use domain::verdict::MAX_SCORE;

use ui::address;

/// Parameters that pages use for something else.
const OTHERS: [&str; 1] = ["tab"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryParams(Vec<(String, String)>);

impl QueryParams {
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        let known = |(name, value): &(String, String)| !OTHERS.contains(&name.as_str()) && !value.is_empty();
        Self(pairs.into_iter().filter(known).collect())
    }

    /// From the part of an address after `?`.
    pub fn parse(query: &str) -> Self {
        Self::new(address::pairs(query))
    }

    /// As it stands in an address, `?` included; empty if nothing is asked.
    pub fn query(&self) -> String {
        address::query(&self.0)
    }

    /// What is asked of the API.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.0.clone()
    }

    /// Which conversations alone: without the order, and without what becomes of them.
    pub fn which(&self) -> Self {
        Self(self.0.iter().filter(|(name, _)| narrows(name)).cloned().collect())
    }

    /// What lists of conversations are asked: without what becomes of them in a corpus.
    pub fn listed(&self) -> Self {
        Self(self.0.iter().filter(|(name, _)| !of_corpora(name)).cloned().collect())
    }

    /// All that a corpus is selected by: which conversations, and what becomes of them.
    pub fn selected(&self) -> Self {
        Self(self.0.iter().filter(|(name, _)| narrows(name) || of_corpora(name)).cloned().collect())
    }

    /// Without all that narrows.
    pub fn everything(&self) -> Self {
        Self(self.0.iter().filter(|(name, _)| !narrows(name)).cloned().collect())
    }

    /// All that a corpus is selected by.
    pub fn of_selection(spec: &Spec) -> Self {
        Self::of(&spec.filter).with_selection(spec)
    }

    /// What becomes of the conversations that are found, in a corpus: a selection but for its filter.
    pub fn selection(&self) -> Spec {
        selection::parse(&self.0)
    }

    pub fn with_selection(&self, spec: &Spec) -> Self {
        let mut pairs = self.0.clone();
        pairs.retain(|(name, _)| !of_corpora(name));
        pairs.extend(selection::encode(spec));
        Self(pairs)
    }

    pub fn one(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.one(name)?.parse().ok()
    }

    pub fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|own| own == value)
    }

    /// With one value more, or less if it was there.
    pub fn toggled(&self, name: &str, value: &str) -> Self {
        let pair = (name.to_owned(), value.to_owned());
        let mut pairs = self.0.clone();
        if self.has(name, value) {
            pairs.retain(|own| *own != pair);
        } else {
            pairs.push(pair);
        }
        Self(pairs)
    }

    /// With this value of a parameter alone, or none.
    pub fn with(&self, name: &str, value: Option<String>) -> Self {
        let mut pairs = self.0.clone();
        pairs.retain(|(own, _)| own != name);
        pairs.extend(value.filter(|value| !value.is_empty()).map(|value| (name.to_owned(), value)));
        Self(pairs)
    }

    /// With these values of a parameter.
    pub fn with_all(&self, name: &str, values: impl IntoIterator<Item = String>) -> Self {
        let mut params = self.with(name, None);
        params.0.extend(values.into_iter().map(|value| (name.to_owned(), value)));
        params
    }

    /// What a parameter of the form `CRITERION:NUMBER` says of a criterion; of `overall` it may be the number alone.
    pub fn of_criterion(&self, name: &str, criterion: &str) -> Option<&str> {
        self.all(name).find_map(|value| match value.rsplit_once(':') {
            Some((own, number)) => (own == criterion).then_some(number),
            None => (criterion == OVERALL).then_some(value),
        })
    }

    /// With this number for a criterion, or none.
    pub fn with_criterion(&self, name: &str, criterion: &str, number: Option<String>) -> Self {
        let mut pairs = self.0.clone();
        pairs.retain(|(own, value)| {
            own != name || value.rsplit_once(':').map_or(OVERALL, |(criterion, _)| criterion) != criterion
        });
        let value = |number| if criterion == OVERALL { number } else { format!("{criterion}:{number}") };
        pairs.extend(number.map(|number| (name.to_owned(), value(number))));
        Self(pairs)
    }

    /// The least score of a criterion, or overall.
    pub fn least(&self, criterion: &str) -> Option<u32> {
        if criterion == OVERALL {
            return self.number("min_overall");
        }
        self.of_criterion("min_score", criterion)?.parse().ok()
    }

    pub fn with_least(&self, criterion: &str, least: Option<u32>) -> Self {
        let least = least.map(|least| least.to_string());
        if criterion == OVERALL {
            return self.with("min_overall", least);
        }
        self.with_criterion("min_score", criterion, least)
    }

    /// The highest score of a criterion, or overall.
    pub fn most(&self, criterion: &str) -> Option<u32> {
        if criterion == OVERALL {
            return self.number("max_overall");
        }
        self.of_criterion("max_score", criterion)?.parse().ok()
    }

    pub fn with_most(&self, criterion: &str, most: Option<u32>) -> Self {
        let most = most.map(|most| most.to_string());
        if criterion == OVERALL {
            return self.with("max_overall", most);
        }
        self.with_criterion("max_score", criterion, most)
    }

    /// The conversations that a filter means.
    pub fn of(filter: &Filter) -> Self {
        Self::new(filter.query().map(|(name, value)| (name.to_owned(), value)))
    }

    /// As corpora are selected by. What is searched for in names has no place there, and what cannot be read is left out.
    pub fn filter(&self) -> Filter {
        Filter::from_query(self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))).0
    }
}

fn narrows(parameter: &str) -> bool {
    !ConversationOrderParams::NAMES.contains(&parameter) && !of_corpora(parameter)
}

fn of_corpora(parameter: &str) -> bool {
    selection::NAMES.contains(&parameter)
}

/// The most that a score can be.
pub const BEST: u32 = MAX_SCORE as u32;
/// The score that is no criterion's.
pub const OVERALL: &str = "overall";

#[cfg(test)]
mod tests;
