//! Digits in groups.

use super::{Fact, Token, joined};
use crate::tools::grounding::numbers::{self, Number};

/// Digits in groups are one number or one code: `1 234,50`, `+999 555 0190`, `four one one six`.
pub fn runs(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut left = tokens.into_iter();
    loop {
        let run = run_at(left.as_slice());
        let Some(token) = left.next() else { break };
        if let Some((fact, raw, taken)) = run {
            out.push(Token { fact, raw: raw.into(), ..token });
            left.by_ref().take(taken - 1).for_each(drop);
        } else {
            out.push(token);
        }
    }
    out
}

/// What several tokens are together, how it was written, and how many they are.
fn run_at(tokens: &[Token<'_>]) -> Option<(Fact<'static>, String, usize)> {
    let first = tokens.first().filter(|token| token.integer() && !matches!(token.fact, Fact::Time(_)))?;
    let more = tokens[1..].iter().take_while(|t| t.integer() && t.joined && t.sentence == first.sentence).count();
    let last = tokens.get(1 + more).filter(|t| t.joined && matches!(t.fact, Fact::Number(_)));
    let amount = |upto: usize| numbers::amount(&joined(&tokens[..=upto], " ")).filter(|_| upto > 0);
    let code = |upto: usize| joined(&tokens[..=upto], " ").replace([' ', '+'], "");
    let number = |readings, upto| (Fact::Number(Number { readings, unit: None }), code(upto), upto + 1);
    match (last.and_then(|_| amount(1 + more)), (more > 0).then(|| amount(more)).flatten()) {
        (Some(readings), _) => Some(number(readings, 1 + more)),
        (None, Some(readings)) => Some(number(readings, more)),
        (None, None) if more > 0 => Some((Fact::Code(code(more).into()), code(more), more + 1)),
        (None, None) => None,
    }
}
