//! What an author's source is compiled as. A few calls and operators become [functions](super::operators) that keep texts
//! and lists within bounds, write numbers as they are, and know the world's dicts.
//!
//! The source is changed token by token, and no line moves: what is said about a line is right.

use std::ops::Range;

use starlark::syntax::{AstModule, Dialect};
use starlark_syntax::codemap::CodeMap;
use starlark_syntax::lexer::{Lexer, Token};
use starlark_syntax::syntax::ast::{AstStmt, StmtP};

use super::broken;
use super::operators::{FORMAT, MULTIPLY, OPERATORS, PERCENT, PLAIN, UNITE_INTO};

/// # Errors
/// Syntax errors.
pub fn parse(file: &str, text: String) -> starlark::Result<AstModule> {
    let rewritten = match Rewriting::of(file, &text) {
        Ok(rewriting) => rewriting.done(),
        // The parser says why.
        Err(Unread::NoStarlark) => text,
        // The parser would take as many frames of the stack.
        Err(Unread::TooDeep) => return Err(broken(format!("brackets nest deeper than {MAX_DEPTH} levels"))),
    };
    let mut ast = AstModule::parse(file, rewritten, &dialect())?;
    let operators = OPERATORS.map(|(operator, function)| (operator.to_owned(), function.to_owned()));
    ast.replace_binary_operators(&operators.into());
    Ok(ast)
}

/// Standard Starlark with f-strings, and with nothing from files: `load` is off.
fn dialect() -> Dialect {
    Dialect { enable_load: false, enable_f_strings: true, ..Dialect::Standard }
}

/// A function of a file.
#[derive(Debug)]
pub struct Definition {
    pub name: String,
    /// Counted from 1.
    pub line: usize,
    /// Whether it returns a value somewhere.
    pub answers: bool,
}

pub fn definitions(ast: &AstModule) -> Vec<Definition> {
    let definition = |statement: &AstStmt| match &statement.node {
        StmtP::Def(def) => Some(Definition {
            name: def.name.node.ident.clone(),
            line: ast.file_span(def.name.span).resolve_span().begin.line + 1,
            answers: returns(&def.body),
        }),
        _ => None,
    };
    let mut found: Vec<Definition> = definition(ast.statement()).into_iter().collect();
    ast.statement().visit_stmt(|statement| found.extend(definition(statement)));
    found
}

fn returns(statement: &AstStmt) -> bool {
    let mut found = matches!(statement.node, StmtP::Return(Some(_)));
    if !matches!(statement.node, StmtP::Def(_)) {
        statement.visit_stmt(|inner| found |= returns(inner));
    }
    found
}

/// Brackets within each other.
const MAX_DEPTH: usize = 100;

/// Why a text is not changed.
enum Unread {
    NoStarlark,
    TooDeep,
}

struct Rewriting<'a> {
    text: &'a str,
    tokens: Vec<(Token, Range<usize>)>,
    brackets: Brackets,
    /// For each token that ends a value the one with which the value begins.
    starts: Vec<usize>,
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Rewriting<'a> {
    fn of(file: &str, text: &'a str) -> Result<Self, Unread> {
        let codemap = CodeMap::new(file.to_owned(), text.to_owned());
        let mut tokens = Vec::new();
        for token in Lexer::new(text, &dialect(), codemap) {
            let (start, token, end) = token.map_err(|_| Unread::NoStarlark)?;
            if !matches!(token, Token::Comment(_)) {
                tokens.push((token, start..end));
            }
        }
        let brackets = Brackets::of(&tokens)?;
        let starts = starts(&tokens, &brackets.partner);
        Ok(Self { text, tokens, brackets, starts, edits: Vec::new() })
    }

    fn done(mut self) -> String {
        for i in 0..self.tokens.len() {
            match &self.tokens[i].0 {
                Token::Dot => self.method(i),
                Token::StarStar => self.named_arguments(i),
                Token::FStringStart(_) => self.f_string(i),
                Token::StarEqual => self.assignment(i, MULTIPLY),
                Token::PercentEqual => self.assignment(i, PERCENT),
                Token::PipeEqual => self.assignment(i, UNITE_INTO),
                _ => {}
            }
        }
        // What is put in at a place stands before what is replaced there.
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let (mut out, mut at) = (String::with_capacity(self.text.len()), 0);
        for (range, new) in self.edits {
            out.push_str(&self.text[at..range.start]);
            out.push_str(&new);
            at = range.end;
        }
        out + &self.text[at..]
    }

    fn token(&self, i: usize) -> Option<&Token> {
        self.tokens.get(i).map(|(token, _)| token)
    }

    fn insert(&mut self, at: usize, new: impl Into<String>) {
        self.edits.push((at..at, new.into()));
    }

    /// Replaces a part of the text and keeps its lines.
    fn replace(&mut self, range: Range<usize>, new: &str) {
        let lines = "\n".repeat(self.text[range.clone()].matches('\n').count());
        self.edits.push((range, format!("{new}{lines}")));
    }

    /// `text.format(...)` and `dict.update(other)`, from the point on.
    fn method(&mut self, dot: usize) {
        let (Some(Token::Identifier(name)), Some(Token::OpeningRound)) = (self.token(dot + 1), self.token(dot + 2))
        else {
            return;
        };
        let (name, open) = (name.clone(), dot + 2);
        if name == "format" && dot > 0 {
            let start = self.tokens[self.starts[dot - 1]].1.start;
            self.insert(start, format!("{FORMAT}("));
            self.replace(self.tokens[dot].1.start..self.tokens[open].1.end, ", ");
        } else if name == "update" {
            let placed =
                !matches!(self.token(open + 1), Some(Token::ClosingRound | Token::Star | Token::StarStar) | None);
            if placed && self.token(open + 2) != Some(&Token::Equal) {
                self.around(open + 1);
            }
        }
    }

    /// `**other`, where a function is called.
    fn named_arguments(&mut self, stars: usize) {
        let Some(open) = self.brackets.enclosing[stars] else { return };
        // The last parameter of a lambda stands before its colon.
        let of_lambda = self.token(stars + 2) == Some(&Token::Colon);
        if open > 0 && ends_value(&self.tokens[open - 1].0) && !self.is_definition(open) && !of_lambda {
            self.around(stars + 1);
        }
    }

    /// Puts an argument, from a token on, into the function that makes a plain dict of it.
    fn around(&mut self, from: usize) {
        let end = self.end_of_item(from);
        if let (Some((_, first)), Some((_, after))) = (self.tokens.get(from), self.tokens.get(end)) {
            let (start, end) = (first.start, after.start);
            self.insert(start, format!("{PLAIN}("));
            self.insert(end, ")");
        }
    }

    /// `target op= value`
    fn assignment(&mut self, operator: usize, function: &str) {
        let mut first = operator;
        while first > 0 && !self.ends_statement(first - 1) {
            first -= 1;
            first = if is_closing(&self.tokens[first].0) { self.brackets.partner[first] } else { first };
        }
        let (target, range) = (self.tokens[first].1.start, self.tokens[operator].1.clone());
        let target = self.text[target..range.start].trim().replace('\n', " ");
        let mut last = operator + 1;
        let goes_on = |token: &Token| !matches!(token, Token::Newline | Token::Semicolon) && !is_assignment(token);
        while self.token(last).is_some_and(goes_on) {
            last = if is_opening(&self.tokens[last].0) { self.brackets.partner[last] + 1 } else { last + 1 };
        }
        let end = self.tokens.get(last - 1).map_or(self.text.len(), |(_, range)| range.end);
        self.replace(range, &format!("= {function}({target}, "));
        self.insert(end, ")");
    }

    fn ends_statement(&self, i: usize) -> bool {
        let token = &self.tokens[i].0;
        matches!(token, Token::Newline | Token::Indent | Token::Dedent | Token::Semicolon | Token::Colon)
            || is_assignment(token)
    }

    /// An f-string as the function that `format` is, too.
    fn f_string(&mut self, start: usize) {
        let end = self.brackets.partner[start];
        let (mut format, mut values) = (String::new(), Vec::new());
        let mut i = start + 1;
        while i < end {
            match &self.tokens[i].0 {
                Token::FStringText(text) => format.push_str(&text.replace('{', "{{").replace('}', "}}")),
                Token::FStringExprStart => {
                    let close = self.brackets.partner[i];
                    let (value_end, layout) = self.value_in_f_string(i, close);
                    format.push_str(&format!("{{{layout}}}"));
                    values.push(self.tokens[i].1.end..value_end);
                    i = close;
                }
                _ => {}
            }
            i += 1;
        }
        let opening = format!("{FORMAT}({}", quoted(&format));
        let closing = if values.is_empty() { format!("{opening})") } else { "))".to_owned() };
        let mut from = self.tokens[start].1.start;
        for (n, value) in values.into_iter().enumerate() {
            let before = if n == 0 { format!("{opening}, (") } else { "), (".to_owned() };
            self.replace(from..value.start, &before);
            from = value.end;
        }
        self.replace(from..self.tokens[end].1.end, &closing);
    }

    /// Where the value of a place ends, and how it is to be written: `!r`, `:.2f`.
    fn value_in_f_string(&self, open: usize, close: usize) -> (usize, &'a str) {
        let mut i = open + 1;
        while i < close {
            match &self.tokens[i].0 {
                Token::Colon | Token::FStringBang => break,
                token if is_opening(token) => i = self.brackets.partner[i],
                _ => {}
            }
            i += 1;
        }
        let (from, to) = (self.tokens[i].1.start, self.tokens[close].1.start);
        (from, self.text[from..to].trim_end())
    }

    fn is_definition(&self, open: usize) -> bool {
        open >= 2 && self.tokens[open - 2].0 == Token::Def
    }

    /// The comma or bracket after an item.
    fn end_of_item(&self, from: usize) -> usize {
        let mut i = from;
        while let Some(token) = self.token(i) {
            if *token == Token::Comma || is_closing(token) {
                return i;
            }
            i = if is_opening(token) { self.brackets.partner[i] + 1 } else { i + 1 };
        }
        i
    }
}

struct Brackets {
    /// For each bracket, and for each start and end of an f-string, the token that belongs to it.
    partner: Vec<usize>,
    /// For each token the innermost bracket that it is within.
    enclosing: Vec<Option<usize>>,
}

impl Brackets {
    fn of(tokens: &[(Token, Range<usize>)]) -> Result<Self, Unread> {
        let (mut partner, mut enclosing, mut open) = (vec![0; tokens.len()], Vec::new(), Vec::new());
        for (i, (token, _)) in tokens.iter().enumerate() {
            enclosing.push(open.last().copied());
            if is_opening(token) {
                open.push(i);
                if open.len() > MAX_DEPTH {
                    return Err(Unread::TooDeep);
                }
            } else if is_closing(token) {
                let start = open.pop().ok_or(Unread::NoStarlark)?;
                (partner[start], partner[i]) = (i, start);
            }
        }
        if open.is_empty() { Ok(Self { partner, enclosing }) } else { Err(Unread::NoStarlark) }
    }
}

/// See [`Rewriting::starts`].
fn starts(tokens: &[(Token, Range<usize>)], partner: &[usize]) -> Vec<usize> {
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
fn ends_value(token: &Token) -> bool {
    is_closing(token) || matches!(token, Token::Identifier(_) | Token::String(_))
}

const fn is_assignment(token: &Token) -> bool {
    matches!(token, Token::StarEqual | Token::PercentEqual | Token::PipeEqual)
}

const fn is_opening(token: &Token) -> bool {
    matches!(
        token,
        Token::OpeningRound
            | Token::OpeningSquare
            | Token::OpeningCurly
            | Token::FStringStart(_)
            | Token::FStringExprStart
    )
}

const fn is_closing(token: &Token) -> bool {
    matches!(
        token,
        Token::ClosingRound | Token::ClosingSquare | Token::ClosingCurly | Token::FStringEnd | Token::FStringExprEnd
    )
}

/// A text as Starlark reads it.
fn quoted(text: &str) -> String {
    starlark::values::string::StarlarkStr::repr(text)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn rewritten(text: &str) -> String {
        Rewriting::of("tools.star", text).map_or_else(|_| "no Starlark".to_owned(), Rewriting::done)
    }

    #[test]
    fn calls_and_operators_become_functions() {
        assert_snapshot!(rewritten("x = '{} {}'.format(a, b)"), @"x = format_within_bounds('{} {}', a, b)");
        assert_snapshot!(rewritten("x = ('a' + b[1]).strip().format(f(c)(d).format(1), *e, **g)"), @"x = format_within_bounds(('a' + b[1]).strip(), format_within_bounds(f(c)(d), 1), *e, **plain_dict(g))");
        assert_snapshot!(rewritten("y = z.format() if a.b['c'].format else [1].format(\n  x,\n)"), @"
        y = format_within_bounds(z, ) if a.b['c'].format else format_within_bounds([1], 
          x,
        )
        ");
        assert_snapshot!(rewritten("d.update(e[1], f = 2)\nd.update(f = 2)\nd.update()\nd.update({'a': g(1, 2)})"), @"
        d.update(plain_dict(e[1]), f = 2)
        d.update(f = 2)
        d.update()
        d.update(plain_dict({'a': g(1, 2)}))
        ");
        assert_snapshot!(rewritten("def f(a, **k):\n  return g(lambda **l: l, 1, **k)"), @"
        def f(a, **k):
          return g(lambda **l: l, 1, **plain_dict(k))
        ");
        assert_snapshot!(rewritten("def f(a):\n  if a: a[g(\n1)] *= 2 + 3; b |= c\n  x.y %= 3 # no\n  return a"), @"
        def f(a):
          if a: a[g(
        1)] = multiply_within_bounds(a[g( 1)],  2 + 3); b = unite_into(b,  c)
          x.y = percent_within_bounds(x.y,  3) # no
          return a
        ");
    }

    #[test]
    fn f_strings_become_calls() {
        assert_snapshot!(rewritten("x = f'{a} is {b[\"c\"]!r}'"), @r#"x = format_within_bounds("{} is {!r}", (a), (b["c"]))"#);
        assert_snapshot!(rewritten("x = f'{{}} {sum([1, 2]):.2f}{d[1:2]:>10}'"), @r#"x = format_within_bounds("{{}} {:.2f}{:>10}", (sum([1, 2])), (d[1:2]))"#);
        assert_snapshot!(rewritten("x = f'none'\ny = f\"\"\"a\n{b}\nc \\\" d\n\"\"\".format(1)"), @r#"
        x = format_within_bounds("none")
        y = format_within_bounds(format_within_bounds("a\n{}\nc \" d\n", (
        b))

        , 1)
        "#);
        assert_snapshot!(rewritten("x = f'{f\"{a}\".format(b)} {g(**h)}'"), @r#"x = format_within_bounds("{} {}", (format_within_bounds(format_within_bounds("{}", (a)), b)), (g(**plain_dict(h))))"#);
    }

    #[test]
    fn what_is_no_starlark_is_left_to_the_parser() {
        assert_snapshot!(rewritten("x = (1"), @"no Starlark");
        assert_snapshot!(rewritten("x = '"), @"no Starlark");
    }
}
