//! Traces the facts that one text states.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::lookup::Search;
use super::text::{hundredths, is_fact, readings};
use super::{SourceIndex, StatedFact};
use crate::tools::grounding::dates::Date;
use crate::tools::grounding::reading::{Fact, Token};

/// The source of what was not heard and follows from what was.
pub(super) const COMPUTED: &str = "what was known, by computing";
/// Facts of one text that are computed after; a text with more that come from nowhere is no text.
const MOST_COMPUTED: usize = 50;
/// Amounts that one speaker may compute in a conversation: the rows of a plan of payments. Whoever states more hopes that one of them
/// is right.
pub(super) const MOST_COMPUTED_AMOUNTS: usize = 32;
/// Facts of one text that are traced. What a text states beyond that comes from nowhere: answers of agents state up to 100.
const MOST_FACTS: usize = 1_000;

/// The facts of one text, traced one after another.
pub(super) struct Tracing<'a> {
    heard: &'a SourceIndex,
    all: Vec<StatedFact>,
    /// Of those, how many come from nowhere.
    unknown: usize,
    /// Facts beyond [`MOST_FACTS`].
    untraced: usize,
    amounts: Vec<i64>,
    /// Those that were not heard and follow from what was.
    pub(super) computed: BTreeSet<i64>,
    /// Dates that can be computed from those that were heard. Filled when first needed.
    reached: OnceCell<Vec<Date>>,
    search: Search,
}

impl<'a> Tracing<'a> {
    pub(super) fn of(heard: &'a SourceIndex) -> Self {
        let (reached, search) = (OnceCell::new(), Search::default());
        let computed = BTreeSet::new();
        Self { heard, all: Vec::new(), unknown: 0, untraced: 0, amounts: Vec::new(), computed, reached, search }
    }

    pub(super) fn state(&mut self, tokens: &[Token<'_>]) {
        for (i, token) in tokens.iter().enumerate() {
            let next = tokens.get(i + 1).and_then(Token::word);
            if !is_fact(token, next) {
                continue;
            }
            if self.all.len() == MOST_FACTS {
                self.untraced += 1;
                continue;
            }
            let (heard, search) = (self.heard, &self.search);
            let source = heard.known(token, search).or_else(|| heard.in_parts(token, search));
            let source = source.or_else(|| self.computes(token).then(|| COMPUTED.to_owned()));
            if let Fact::Number(number) = &token.fact {
                let amount = number.readings.first().and_then(|reading| hundredths(reading));
                self.amounts.extend(amount.map(i64::abs));
            }
            self.unknown += usize::from(source.is_none());
            self.all.push(StatedFact { fact: token.raw.to_string(), source, token: token.clone().into_owned() });
        }
    }

    fn computes(&mut self, token: &Token<'_>) -> bool {
        match &token.fact {
            _ if self.unknown >= MOST_COMPUTED => false,
            Fact::Number(number) => {
                let amount = readings(number).next().unwrap_or_default();
                if self.computed.contains(&amount) {
                    return true;
                }
                let is_room = self.heard.computed + self.computed.len() < MOST_COMPUTED_AMOUNTS;
                let computes = is_room && self.heard.computes_number(number, &self.amounts);
                self.computed.extend(computes.then_some(amount));
                computes
            }
            Fact::Date(days) => {
                let reached = self.reached.get_or_init(|| self.heard.reached());
                reached.iter().any(|day| days.iter().any(|said| said.fits(*day)))
            }
            _ => false,
        }
    }

    pub(super) fn found(mut self) -> Vec<StatedFact> {
        if self.untraced > 0 {
            let fact = format!("{} more facts than the {MOST_FACTS} that are traced", self.untraced);
            let token = Token::of_word(&fact);
            self.all.push(StatedFact { fact, source: None, token });
        }
        self.all
    }
}
