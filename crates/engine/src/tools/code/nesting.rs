//! How deep code nests and how long its functions are, told from its tokens. The parser, the compiler and what frees their
//! trees call themselves for each level, so this is known before they begin.

use std::ops::Range;

use starlark_syntax::lexer::Token;

use super::errors::Fault;
use crate::limits::{MOST_CODE_LEVELS, MOST_DIGITS, MOST_FUNCTION_TOKENS};

/// What is too much, if anything is. The tokens may be the beginning of a text that is no Starlark.
pub fn fault(text: &str, tokens: &[(Token, Range<usize>)]) -> Option<Fault> {
    let mut scan = Scan::default();
    tokens.iter().find_map(|(token, range)| {
        let message = scan.add(token, range)?;
        let line = text.get(..range.start).map(|before| before.matches('\n').count() + 1);
        Some(Fault { line, message })
    })
}

/// Something that is open.
#[derive(Default)]
struct Level {
    /// Operators, calls and the like of the item that is read: each may hold those before it.
    operators: usize,
    lambda: Lambda,
}

/// A lambda ends where what is around it goes on; its parameters have commas of their own.
#[derive(Default, PartialEq)]
enum Lambda {
    #[default]
    None,
    Parameters,
    Body,
}

#[derive(Default)]
struct Scan {
    /// For each block its `elif`s so far: each is within the one before.
    blocks: Vec<usize>,
    chain: usize,
    within: usize,
    levels: Vec<Level>,
    operators: usize,
    is_statement_open: bool,
    /// Of what stands at the margin, with all that belongs to it.
    tokens: usize,
    is_repeated: bool,
}

impl Scan {
    fn add(&mut self, token: &Token, range: &Range<usize>) -> Option<String> {
        match token {
            Token::Newline => {
                self.is_statement_open = false;
                self.end_expression();
                return None;
            }
            // What stands on one line belongs together.
            Token::Semicolon => {
                self.end_expression();
                return None;
            }
            Token::Indent => {
                self.within += 1 + self.chain;
                self.blocks.push(self.chain);
                self.chain = 0;
                return None;
            }
            Token::Dedent => {
                self.chain = self.blocks.pop().unwrap_or(0);
                self.within = self.within.saturating_sub(1 + self.chain);
                return None;
            }
            _ => {}
        }
        if !self.is_statement_open {
            self.begin_statement(token);
        }
        self.tokens += 1;
        // What stands at the margin is done once, unless it is called or looped over.
        self.is_repeated |= matches!(token, Token::Def | Token::Lambda | Token::For);
        if self.is_repeated && self.tokens > MOST_FUNCTION_TOKENS {
            return Some(format!(
                "the function is longer than {MOST_FUNCTION_TOKENS} words and signs; divide it into several"
            ));
        }
        if matches!(token, Token::Int(_)) && range.len() > MOST_DIGITS {
            return Some(format!("the number has more than {MOST_DIGITS} digits"));
        }
        self.count(token);
        let deep = self.within + self.chain + self.operators + self.levels.len() > MOST_CODE_LEVELS;
        deep.then(|| {
            format!(
                "nests deeper than {MOST_CODE_LEVELS} levels; blocks, branches of an `elif` chain, brackets, operators and \
                 calls of one expression are levels: give parts of it names, or make functions of them"
            )
        })
    }

    fn begin_statement(&mut self, token: &Token) {
        self.is_statement_open = true;
        match token {
            Token::Elif => self.chain += 1,
            Token::Else => {}
            _ => self.chain = 0,
        }
        if self.blocks.is_empty() && !matches!(token, Token::Elif | Token::Else) {
            (self.tokens, self.is_repeated) = (0, false);
        }
    }

    fn end_expression(&mut self) {
        self.levels.clear();
        self.operators = 0;
    }

    fn count(&mut self, token: &Token) {
        match token {
            Token::Comma => self.end_item(),
            Token::Colon => {
                if let Some(level) = self.levels.last_mut().filter(|level| level.lambda == Lambda::Parameters) {
                    level.lambda = Lambda::Body;
                }
            }
            Token::Lambda => self.levels.push(Level { operators: 0, lambda: Lambda::Parameters }),
            Token::Identifier(_) | Token::Int(_) | Token::Float(_) | Token::String(_) | Token::FStringText(_) => {}
            closing if super::tokens::is_closing(closing) => {
                self.end_lambdas();
                self.pop();
            }
            other => {
                // Before the first bracket there is a level of the statement itself.
                if self.levels.is_empty() {
                    self.levels.push(Level::default());
                }
                self.operators += 1;
                if let Some(level) = self.levels.last_mut() {
                    level.operators += 1;
                }
                if super::tokens::is_opening(other) {
                    self.levels.push(Level::default());
                }
            }
        }
    }

    fn end_item(&mut self) {
        if self.levels.last().is_some_and(|level| level.lambda != Lambda::Parameters) {
            self.end_lambdas();
        }
        if let Some(level) = self.levels.last_mut() {
            self.operators -= level.operators;
            level.operators = 0;
        }
    }

    fn end_lambdas(&mut self) {
        while self.levels.last().is_some_and(|level| level.lambda == Lambda::Body) {
            self.pop();
        }
    }

    fn pop(&mut self) {
        self.operators -= self.levels.pop().map_or(0, |level| level.operators);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Code;
    use super::super::CompileError;

    fn check(text: &str) -> Result<(), String> {
        match Code::compile("tools.star", text.to_owned(), &[]) {
            Ok(_) => Ok(()),
            Err(CompileError::File(fault)) => Err(format!("{}: {}", fault.line.unwrap_or(0), fault.message)),
            Err(CompileError::Expressions(_)) => Err("expressions".to_owned()),
        }
    }

    fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    }

    /// Sources that nest in every way the grammar has.
    fn sources(levels: usize) -> Vec<String> {
        let value = [
            nested("(", "1", ")", levels),
            nested("[", "1", "]", levels),
            nested("{1: ", "1", "}", levels),
            nested("[1, ", "1", "]", levels),
            nested("f(", "1", ")", levels),
            nested("a[", "1", "]", levels),
            nested("f(x = ", "1", ")", levels),
            nested("f(*", "a", ")", levels),
            nested("[x for x in ", "a", "]", levels),
            nested("[", "x", " for x in a]", levels),
            format!("[1{}]", " for x in a".repeat(levels)),
            format!("[1 for x in a{}]", " if x".repeat(levels)),
            nested("- ", "1", "", levels),
            nested("+", "1", "", levels),
            nested("~", "1", "", levels),
            nested("not ", "1", "", levels),
            nested("not - ", "1", "", levels),
            nested("1 + ", "1", "", levels),
            nested("1 and ", "1", "", levels),
            nested("1 or 1 and ", "1", "", levels),
            nested("'%s' % ", "1", "", levels),
            nested("a if b else ", "1", "", levels),
            nested("", "1", " if a else b", levels),
            nested("lambda: ", "1", "", levels),
            nested("lambda a, b = 1, *c: ", "1", "", levels),
            nested("lambda a = ", "1", ": 1", levels),
            nested("lambda: (", "1", ")", levels),
            nested("f'{", "a", "}'", levels),
            format!("a{}", ".b".repeat(levels)),
            format!("a{}", ".b()".repeat(levels)),
            format!("a{}", "[0]".repeat(levels)),
            format!("a{}", "()".repeat(levels)),
            format!("a{}", ".format(1)".repeat(levels)),
            format!("a{}", ".keys().join(a)[1:2]".repeat(levels)),
            format!("a{}", "[1:2]".repeat(levels)),
            format!("1{}", " == (1".repeat(levels)),
        ];
        let blocks = |line: &str| {
            let levels = levels.min(800);
            let lines: String = (0..levels).map(|i| format!("{}{line}\n", " ".repeat(i + 1))).collect();
            format!("def f(a):\n{lines}{}pass\n", " ".repeat(levels + 1))
        };
        let chain = |margin: &str| format!("{margin}if a: pass\n{}", format!("{margin}elif a: pass\n").repeat(levels));
        let mut all: Vec<String> = value.iter().map(|value| format!("def f(a, b):\n  x = {value}\n")).collect();
        all.extend(value.iter().map(|value| format!("x = lambda a, b: {value}")));
        // What follows is no Starlark, which the parser would find too late.
        all.extend(value.iter().map(|value| format!("x = {value}\n$")));
        all.extend(["if a:", "for x in a:", "def g(a):", "if a: pass\n", "while"].map(blocks));
        all.push(format!("def f(a):\n{}", chain("  ")));
        all.push(format!("def f(a):\n  if a:\n{}", chain("   ")));
        all.push(format!("def f(a):\n  if a:\n    pass\n{}", "  elif a:\n    pass\n".repeat(levels)));
        all.push(format!("def f(a):\n  {} = a", nested("(", "x", ",)", levels)));
        all.push(format!("def f(a):\n  for {} in a: pass", nested("(", "x", ",)", levels)));
        all
    }

    #[test]
    fn what_nests_too_deep_is_refused_before_it_is_parsed() {
        for source in sources(400).iter().chain(&sources(12_000)) {
            let said = check(source).expect_err(&format!("{source:.60}"));
            let known =
                ["nests deeper than 200 levels", "longer than 5000 words", "bytes long; at most 400000 are read"];
            assert!(
                known.iter().any(|known| said.contains(known)) || source.contains("while"),
                "{source:.60}: {said:.300}"
            );
        }
    }

    /// Whatever it is, it fits on the smallest stack that it is read on.
    #[test]
    fn what_nests_no_deeper_fits_on_the_stack() {
        for levels in [20, 45, 60, 95, 140, 190] {
            for source in sources(levels) {
                drop(check(&source));
            }
        }
        let ordinary = sources(20).into_iter().filter(|source| !source.contains('$') && !source.contains("while"));
        for source in ordinary {
            let said = check(&source).err().unwrap_or_default();
            assert!(!said.contains("levels") && !said.contains("longer"), "{source}: {said}");
        }
    }

    #[test]
    fn the_line_is_named() {
        let source = format!("x = 1\n\ndef f(a):\n  return {}\n", nested("(", "1", ")", 300));
        let said = check(&source).expect_err("it nests");
        assert!(said.starts_with("4: nests deeper than 200 levels; "), "{said}");
        let long = format!("def f(a):\n{}", "  a = 1\n".repeat(2_000));
        assert_eq!(
            check(&long),
            Err("1666: the function is longer than 5000 words and signs; divide it into several".into())
        );
        let table = format!("T = [{}]\n", "(1, 'a'), ".repeat(10_000));
        assert_eq!(check(&table), Ok(()), "a table is no function");
    }
}
