//! Tokens of an author's source, and which of them belong together.

use std::ops::Range;

use starlark_syntax::lexer::Token;

pub struct Brackets {
    /// For each bracket, and for each start and end of an f-string, the token that belongs to it.
    pub partner: Vec<usize>,
    /// For each token the innermost bracket that it is within.
    pub enclosing: Vec<Option<usize>>,
}

impl Brackets {
    /// `None` if brackets are missing.
    pub fn of(tokens: &[(Token, Range<usize>)]) -> Option<Self> {
        let (mut partner, mut enclosing, mut open) = (vec![0; tokens.len()], Vec::new(), Vec::new());
        for (i, (token, _)) in tokens.iter().enumerate() {
            enclosing.push(open.last().copied());
            if is_opening(token) {
                open.push(i);
            } else if is_closing(token) {
                let start = open.pop()?;
                (partner[start], partner[i]) = (i, start);
            }
        }
        open.is_empty().then_some(Self { partner, enclosing })
    }
}

/// For each token that ends a value, the one with which the value begins.
pub fn starts(tokens: &[(Token, Range<usize>)], partner: &[usize]) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::with_capacity(tokens.len());
    for (i, (token, _)) in tokens.iter().enumerate() {
        let first = if is_closing(token) { partner[i] } else { i };
        let suffix = matches!(tokens[first].0, Token::OpeningRound | Token::OpeningSquare);
        starts.push(match first.checked_sub(1).map(|before| (before, &tokens[before].0)) {
            Some((before, Token::Dot)) if before > 0 => starts[before - 1],
            Some((before, called)) if suffix && ends_value(called) => starts[before],
            _ => first,
        });
    }
    starts
}

/// Whether a bracket after this token calls or indexes it.
pub fn ends_value(token: &Token) -> bool {
    is_closing(token) || matches!(token, Token::Identifier(_) | Token::String(_))
}

pub const fn is_assignment(token: &Token) -> bool {
    matches!(
        token,
        Token::StarEqual
            | Token::PercentEqual
            | Token::PipeEqual
            | Token::PlusEqual
            | Token::MinusEqual
            | Token::AmpersandEqual
            | Token::CaretEqual
            | Token::LessLessEqual
    )
}

pub const fn is_opening(token: &Token) -> bool {
    matches!(
        token,
        Token::OpeningRound
            | Token::OpeningSquare
            | Token::OpeningCurly
            | Token::FStringStart(_)
            | Token::FStringExprStart
    )
}

pub const fn is_closing(token: &Token) -> bool {
    matches!(
        token,
        Token::ClosingRound | Token::ClosingSquare | Token::ClosingCurly | Token::FStringEnd | Token::FStringExprEnd
    )
}
