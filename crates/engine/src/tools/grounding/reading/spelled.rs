//! Numbers in words.

use super::lexicon::NUMBER;
use super::{Fact, Token};
use crate::tools::grounding::numbers::{self, Number};

/// Number words become numbers: `forty one euros and sixteen cents`, `one point five`.
pub fn spelled(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut left = tokens.into_iter();
    loop {
        let number = number_at(left.as_slice());
        let Some(token) = left.next() else { break };
        if let Some((value, taken)) = number {
            let fact = Fact::Number(Number::plain(value.clone()));
            out.push(Token { fact, raw: value.into(), spelled: true, roles: 0, ..token });
            left.by_ref().take(taken - 1).for_each(drop);
        } else {
            out.push(token);
        }
    }
    if out.iter().any(|token| token.word() == Some("point")) { pointed(out) } else { out }
}

fn number_at(tokens: &[Token<'_>]) -> Option<(String, usize)> {
    let first = tokens.first().filter(|token| token.may(NUMBER))?;
    let row: Vec<&str> = tokens
        .iter()
        .enumerate()
        .map_while(|(n, t)| t.word().filter(|_| n == 0 || (t.joined && t.sentence == first.sentence)))
        .take(10)
        .collect();
    numbers::spelled(&row)
}

/// `41 point one five` becomes `41.15`.
fn pointed(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut left = tokens.into_iter();
    while let Some(token) = left.next() {
        let point = token.integer() && left.as_slice().first().is_some_and(|t| t.word() == Some("point"));
        let digits: String = match left.as_slice() {
            [_, digits @ ..] if point => digits.iter().map_while(|t| t.integer().then_some(&*t.raw)).collect(),
            _ => String::new(),
        };
        if digits.is_empty() {
            out.push(token);
            continue;
        }
        let raw = format!("{}.{digits}", token.raw);
        let taken = left.as_slice()[1..].iter().take_while(|t| t.integer()).count();
        let readings = numbers::amount(&raw).unwrap_or_else(|| vec![raw.clone()]);
        out.push(Token { fact: Fact::Number(Number { readings, unit: None }), raw: raw.into(), ..token });
        left.by_ref().take(1 + taken).for_each(drop);
    }
    out
}
