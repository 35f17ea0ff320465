//! What numbers count.

use super::lexicon::UNIT;
use super::{Fact, Token};
use crate::tools::grounding::numbers::{self, Number, Unit};

/// Units go to their numbers: `EUR 41.15`, `41.15 euros`, `5 working days`, `forty one euros and sixteen cents`.
pub fn units(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut money: Option<Unit> = None;
    for token in tokens {
        let unit = token.word().filter(|_| token.may(UNIT)).and_then(numbers::unit);
        let near = out.len().checked_sub(1).filter(|_| unit.is_some()).map(|i| match out[i].word() {
            Some("working" | "business" | "calendar" | "per") => i.saturating_sub(1),
            _ => i,
        });
        let number = near.and_then(|i| match &mut out[i].fact {
            Fact::Number(number) if number.unit.is_none() && token.joined => Some(number),
            _ => None,
        });
        match (unit, number) {
            (Some(unit), Some(number)) => {
                number.unit = Some(unit.clone());
                range(&mut out, near.unwrap_or_default(), &unit);
                // Words that say what is counted are kept: a source may call a field so.
                if matches!(unit, Unit::Measure(..)) {
                    out.push(token);
                }
            }
            (Some(unit @ Unit::Money(_)), None) => {
                money = Some(unit);
                out.push(token);
                continue;
            }
            _ if token.word() == Some("cents") => cents(&mut out, token),
            _ => {
                let mut token = token;
                if let (Fact::Number(number), Some(unit)) = (&mut token.fact, money.take()) {
                    number.unit = Some(unit);
                    out.pop();
                }
                out.push(token);
            }
        }
        money = None;
    }
    out
}

/// `2-4 days`, `2 to 4 days`: the first number has the unit of the last.
fn range(out: &mut [Token<'_>], last: usize, unit: &Unit) {
    let tied = matches!(last.checked_sub(1).and_then(|i| out[i].word()), Some("to" | "or"));
    let first = last.checked_sub(if tied { 2 } else { 1 });
    if let Some(Fact::Number(number)) = first.map(|i| &mut out[i].fact)
        && number.unit.is_none()
    {
        number.unit = Some(unit.clone());
    }
}

fn cents<'a>(out: &mut Vec<Token<'a>>, token: Token<'a>) {
    let Some(Fact::Number(part)) = out.last().map(|t| t.fact.clone()) else { return out.push(token) };
    let Ok(part) = part.value().parse::<u64>() else { return out.push(token) };
    out.pop();
    if out.last().is_some_and(|t| t.word() == Some("and")) {
        out.pop();
    }
    let whole = out.last().and_then(|t| match &t.fact {
        Fact::Number(n) if matches!(n.unit, Some(Unit::Money(_))) => {
            n.value().parse::<u64>().ok().map(|v| (v, n.unit.clone()))
        }
        _ => None,
    });
    let (value, unit) = whole.clone().unwrap_or((0, None));
    let readings = numbers::amount(&format!("{}.{:02}", value + part / 100, part % 100)).unwrap_or_default();
    let fact = Fact::Number(Number { readings, unit });
    match (whole, out.last_mut()) {
        (Some(_), Some(before)) => before.fact = fact,
        _ => out.push(Token { fact, roles: 0, ..token }),
    }
}
