//! Arithmetic as people write it: `(12.50 + 3) * 2`. For tools that calculate what an agent asks for, so what is wrong
//! with an expression is said in words for the agent.

use std::iter::Peekable;
use std::str::CharIndices;

/// Parentheses, signs and powers within each other.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArithmeticError {
    #[error("`{0}` cannot stand in a calculation; numbers, + - * / // ** ( ) and spaces can")]
    Character(char),
    #[error("`{0}` is not a number")]
    Number(String),
    #[error("a number is missing {0}")]
    Missing(String),
    #[error("a parenthesis is not closed")]
    Unclosed,
    #[error("`{0}` is one too many, or an operator before it is missing")]
    Surplus(String),
    #[error("the calculation is nested deeper than {MAX_DEPTH} levels")]
    Depth,
    #[error("division by zero")]
    DivisionByZero,
    #[error("the result is no number or too large")]
    OutOfRange,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    Number(f64),
    Plus,
    Minus,
    Times,
    Divide,
    /// `//`: the quotient rounded down.
    DivideDown,
    /// `**`
    Power,
    Open,
    Close,
}

/// The value of an expression. Precedence is that of Python: `-2 ** 2` is -4 and `2 ** 3 ** 2` is 512.
///
/// # Errors
/// See [`ArithmeticError`].
pub fn arithmetic(expression: &str) -> Result<f64, ArithmeticError> {
    let tokens = tokens(expression)?;
    let mut parser = Parser { tokens: &tokens, depth: 0 };
    let value = parser.sum()?;
    match parser.tokens.first() {
        Some(token) => Err(ArithmeticError::Surplus(token.to_string())),
        // Zero has no sign for whoever reads the result.
        None if value.is_finite() => Ok(value + 0.0),
        None => Err(ArithmeticError::OutOfRange),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, ArithmeticError> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        tokens.push(match c {
            ' ' => continue,
            '+' => Token::Plus,
            '-' => Token::Minus,
            '*' => doubled(&mut chars, '*', Token::Power, Token::Times),
            '/' => doubled(&mut chars, '/', Token::DivideDown, Token::Divide),
            '(' => Token::Open,
            ')' => Token::Close,
            '0'..='9' | '.' => {
                while chars.next_if(|(_, c)| c.is_ascii_digit() || *c == '.').is_some() {}
                let end = chars.peek().map_or(text.len(), |(at, _)| *at);
                let number = text.get(start..end).unwrap_or_default();
                Token::Number(number.parse().map_err(|_| ArithmeticError::Number(number.to_owned()))?)
            }
            other => return Err(ArithmeticError::Character(other)),
        });
    }
    Ok(tokens)
}

fn doubled(chars: &mut Peekable<CharIndices<'_>>, second: char, double: Token, single: Token) -> Token {
    if chars.next_if(|(_, c)| *c == second).is_some() { double } else { single }
}

struct Parser<'a> {
    /// What is still to be read.
    tokens: &'a [Token],
    depth: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn next_of(&mut self, wanted: &[Token]) -> Option<Token> {
        self.tokens.first().filter(|token| wanted.contains(token))?;
        self.next()
    }

    fn sum(&mut self) -> Result<f64, ArithmeticError> {
        let mut value = self.product()?;
        while let Some(operator) = self.next_of(&[Token::Plus, Token::Minus]) {
            let right = self.product()?;
            value = if operator == Token::Plus { value + right } else { value - right };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, ArithmeticError> {
        let mut value = self.signed()?;
        while let Some(operator) = self.next_of(&[Token::Times, Token::Divide, Token::DivideDown]) {
            let right = self.signed()?;
            value = match operator {
                Token::Times => value * right,
                _ if right == 0.0 => return Err(ArithmeticError::DivisionByZero),
                Token::Divide => value / right,
                _ => divide_down(value, right),
            };
        }
        Ok(value)
    }

    /// Everything that nests passes here.
    fn signed(&mut self) -> Result<f64, ArithmeticError> {
        if self.depth == MAX_DEPTH {
            return Err(ArithmeticError::Depth);
        }
        self.depth += 1;
        let value = match self.next_of(&[Token::Plus, Token::Minus]) {
            Some(Token::Minus) => -self.signed()?,
            Some(_) => self.signed()?,
            None => self.power()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<f64, ArithmeticError> {
        let base = self.atom()?;
        if self.next_of(&[Token::Power]).is_none() {
            return Ok(base);
        }
        let exponent = self.signed()?;
        if base == 0.0 && exponent < 0.0 {
            return Err(ArithmeticError::DivisionByZero);
        }
        Ok(base.powf(exponent))
    }

    fn atom(&mut self) -> Result<f64, ArithmeticError> {
        match self.next() {
            Some(Token::Number(number)) => Ok(number),
            Some(Token::Open) => {
                let value = self.sum()?;
                match self.next() {
                    Some(Token::Close) => Ok(value),
                    Some(token) => Err(ArithmeticError::Surplus(token.to_string())),
                    None => Err(ArithmeticError::Unclosed),
                }
            }
            Some(token) => Err(ArithmeticError::Missing(format!("before `{token}`"))),
            None => Err(ArithmeticError::Missing("at the end".to_owned())),
        }
    }
}

/// Rounding the plain quotient would be wrong by one where it is itself rounded up: 1 // 0.1 is 9.
fn divide_down(dividend: f64, divisor: f64) -> f64 {
    let remainder = dividend % divisor;
    let quotient = ((dividend - remainder) / divisor).round();
    if remainder != 0.0 && (remainder < 0.0) != (divisor < 0.0) { quotient - 1.0 } else { quotient }
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Plus => f.write_str("+"),
            Self::Minus => f.write_str("-"),
            Self::Times => f.write_str("*"),
            Self::Divide => f.write_str("/"),
            Self::DivideDown => f.write_str("//"),
            Self::Power => f.write_str("**"),
            Self::Open => f.write_str("("),
            Self::Close => f.write_str(")"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: Result<f64, &str>) {
        let found = arithmetic(expression).map_err(|e| e.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{expression}");
    }

    #[test]
    fn expressions_have_the_values_that_people_expect() {
        check("155.33 - 147.05 + 268.77 - 235.13", Ok(155.33 - 147.05 + 268.77 - 235.13));
        check("2 + 3 * 4", Ok(14.0));
        check("(2 + 3) * 4", Ok(20.0));
        check("2 * -3", Ok(-6.0));
        check("--2", Ok(2.0));
        check("-(257 - 29)", Ok(-228.0));
        check("8 / 4 / 2", Ok(1.0));
        check("-2 ** 2", Ok(-4.0));
        check("2 ** 3 ** 2", Ok(512.0));
        check("2 ** -1", Ok(0.5));
        check("322.33 // 7", Ok(46.0));
        check("-7 // 2", Ok(-4.0));
        check("1 // 0.1", Ok(9.0));
        check(" .5+1. ", Ok(1.5));
        assert!(arithmetic("-(1 - 1)").is_ok_and(f64::is_sign_positive));
    }

    #[test]
    fn what_is_wrong_is_said() {
        check("", Err("a number is missing at the end"));
        check("20 +", Err("a number is missing at the end"));
        check("* 2", Err("a number is missing before `*`"));
        check("2 3", Err("`3` is one too many, or an operator before it is missing"));
        check("(2", Err("a parenthesis is not closed"));
        check("(2 3)", Err("`3` is one too many, or an operator before it is missing"));
        check("2)", Err("`)` is one too many, or an operator before it is missing"));
        check("1.2.3", Err("`1.2.3` is not a number"));
        check("sqrt(4)", Err("`s` cannot stand in a calculation; numbers, + - * / // ** ( ) and spaces can"));
        check("1e5", Err("`e` cannot stand in a calculation; numbers, + - * / // ** ( ) and spaces can"));
        check("91 / 0", Err("division by zero"));
        check("91 // (1 - 1)", Err("division by zero"));
        check("0 ** -1", Err("division by zero"));
        check("(-8) ** 0.5", Err("the result is no number or too large"));
        check("9 ** 9 ** 9", Err("the result is no number or too large"));
    }

    #[test]
    fn nesting_has_an_end_and_length_has_none() {
        let nested = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
        check(&nested(MAX_DEPTH - 1), Ok(1.0));
        for deep in [nested(100_000), "-".repeat(100_000), "1**".repeat(100_000)] {
            assert_eq!(arithmetic(&deep), Err(ArithmeticError::Depth));
        }
        check(&format!("{}1", "1+".repeat(99_999)), Ok(100_000.0));
    }
}
