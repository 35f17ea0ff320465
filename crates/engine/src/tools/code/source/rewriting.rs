//! Calls and operators of an author's source become [functions](super::super::operators) that keep texts and lists within
//! bounds, write numbers as they are, and know the world's dicts.
//!
//! The source is changed token by token, and no line moves, so that messages name the author's lines.

use std::ops::Range;

use starlark_syntax::codemap::CodeMap;
use starlark_syntax::lexer::{Lexer, Token};

use super::super::errors::Fault;
use super::super::nesting;
use super::super::operators::{
    ADDED, ATTRIBUTE, COUNTED, FORMAT, KEY, METHODS, MULTIPLY, PERCENT, PLAIN, SHIFT, UNITE_INTO, WEIGHED,
};
use super::super::tokens::{Brackets, ends_value, is_assignment, is_closing, is_opening, starts};
use super::dialect;

/// Methods of texts, lists, dicts and sets that go through all of them, or copy them.
const WALKING: [&str; 31] = [
    "capitalize",
    "clear",
    "codepoints",
    "count",
    "difference",
    "elems",
    "endswith",
    "find",
    "insert",
    "intersection",
    "issubset",
    "issuperset",
    "items",
    "keys",
    "lower",
    "lstrip",
    "partition",
    "pop",
    "popitem",
    "removeprefix",
    "removesuffix",
    "rfind",
    "rindex",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "strip",
    "title",
    "values",
];
/// Further ones, of sets and texts.
const WALKING_TOO: [&str; 4] = ["symmetric_difference", "union", "update", "upper"];

/// Methods whose first argument is hashed, or compared with what is there.
const KEYED: [&str; 6] = ["add", "count", "discard", "get", "pop", "setdefault"];
/// Methods that take in all of their first argument.
const UNITING: [&str; 7] =
    ["difference", "intersection", "issubset", "issuperset", "symmetric_difference", "union", "update"];

/// Why a text is not changed.
pub enum RewriteRefusal {
    NoStarlark,
    TooMuch(Fault),
}

/// A change of the text.
struct Edit {
    range: Range<usize>,
    new: String,
    /// Where what begins here ends; nothing for what is no beginning.
    until: usize,
}

pub struct Rewriting<'a> {
    text: &'a str,
    tokens: Vec<(Token, Range<usize>)>,
    brackets: Brackets,
    /// For each token that ends a value the one with which the value begins.
    starts: Vec<usize>,
    edits: Vec<Edit>,
    /// Tokens that are no code: the layout of a value in an f-string.
    is_layout: Vec<bool>,
}

impl<'a> Rewriting<'a> {
    pub fn of(file: &str, text: &'a str) -> Result<Self, RewriteRefusal> {
        let codemap = CodeMap::new(file.to_owned(), text.to_owned());
        let (mut tokens, mut is_starlark) = (Vec::new(), true);
        for token in Lexer::new(text, &dialect(), codemap) {
            match token {
                Ok((_, Token::Comment(_), _)) => {}
                Ok((start, token, end)) => tokens.push((token, start..end)),
                Err(_) => {
                    is_starlark = false;
                    break;
                }
            }
        }
        // The parser reads what comes before a mistake, too.
        if let Some(fault) = nesting::fault(text, &tokens) {
            return Err(RewriteRefusal::TooMuch(fault));
        }
        if !is_starlark {
            return Err(RewriteRefusal::NoStarlark);
        }
        let brackets = Brackets::of(&tokens).ok_or(RewriteRefusal::NoStarlark)?;
        let starts = starts(&tokens, &brackets.partner);
        let is_layout = vec![false; tokens.len()];
        Ok(Self { text, tokens, brackets, starts, edits: Vec::new(), is_layout })
    }

    pub fn done(mut self) -> String {
        for i in 0..self.tokens.len() {
            match &self.tokens[i].0 {
                _ if self.is_layout[i] => {}
                Token::Dot => self.method(i),
                Token::OpeningSquare => self.slice(i),
                Token::OpeningCurly => self.dict(i),
                Token::StarStar => self.named_arguments(i),
                Token::FStringStart(_) => self.f_string(i),
                Token::StarEqual => self.assignment(i, MULTIPLY),
                Token::PercentEqual => self.assignment(i, PERCENT),
                Token::PipeEqual => self.assignment(i, UNITE_INTO),
                Token::PlusEqual | Token::MinusEqual | Token::AmpersandEqual | Token::CaretEqual => {
                    self.assigned(i, ADDED);
                }
                Token::LessLessEqual => self.assignment(i, SHIFT),
                _ => {}
            }
        }
        // What ends at a place stands before what begins there, and what is around others before them; what is put in
        // stands before what is replaced there.
        self.edits.sort_by_key(|edit| {
            let begins = edit.until > 0;
            (edit.range.start, !edit.range.is_empty(), begins, std::cmp::Reverse(edit.until))
        });
        let (mut out, mut at) = (String::with_capacity(self.text.len()), 0);
        for Edit { range, new, .. } in self.edits {
            out.push_str(self.text.get(at..range.start).unwrap_or_default());
            out.push_str(&new);
            at = range.end;
        }
        out + &self.text[at..]
    }

    fn token(&self, i: usize) -> Option<&Token> {
        self.tokens.get(i).map(|(token, _)| token)
    }

    /// What ends here.
    fn insert(&mut self, at: usize, new: impl Into<String>) {
        self.edits.push(Edit { range: at..at, new: new.into(), until: 0 });
    }

    /// What begins before a token, and ends before or after another one.
    fn begin(&mut self, token: usize, new: impl Into<String>, until: usize) {
        let at = self.tokens[token].1.start;
        self.edits.push(Edit { range: at..at, new: new.into(), until });
    }

    /// Replaces a part of the text and keeps its lines.
    fn replace(&mut self, range: Range<usize>, new: &str) {
        let lines = "\n".repeat(self.text[range.clone()].matches('\n').count());
        self.edits.push(Edit { range, new: format!("{new}{lines}"), until: 0 });
    }

    /// `text.format(...)` and other methods, from the point on.
    fn method(&mut self, dot: usize) {
        let Some(Token::Identifier(name)) = self.token(dot + 1) else { return };
        let Some(first) = dot.checked_sub(1).map(|before| self.starts[before]) else { return };
        let (name, at, open) = (name.clone(), self.tokens[dot].1.start, dot + 2);
        let function = METHODS.iter().find(|(method, _)| *method == name).map(|(_, function)| *function);
        let walks = WALKING.contains(&&*name) || WALKING_TOO.contains(&&*name);
        if self.token(open) != Some(&Token::OpeningRound) {
            // The method itself, which might be called anywhere.
            if function.is_some() || walks || KEYED.contains(&&*name) {
                let after = self.tokens[dot + 1].1.end;
                // It ends with its own bracket, before all that is put around it.
                self.begin(first, format!("{ATTRIBUTE}("), at + 1);
                self.replace(at..after, &format!(", \"{name}\")"));
            }
        } else if let Some(function) = function {
            // It ends with its own bracket: what is put around the call stands before it, and after that bracket.
            let until = self.tokens[self.brackets.partner[open]].1.start;
            self.begin(first, format!("{function}("), until);
            self.replace(at..self.tokens[open].1.end, ", ");
        } else {
            if walks {
                self.begin(first, format!("{WEIGHED}("), at);
                self.insert(at, ")");
            }
            let placed =
                !matches!(self.token(open + 1), Some(Token::ClosingRound | Token::Star | Token::StarStar) | None);
            if placed && self.token(open + 2) != Some(&Token::Equal) {
                if UNITING.contains(&&*name) {
                    self.around(open + 1, PLAIN);
                } else if KEYED.contains(&&*name) && !self.is_literal(open + 1, self.end_of_item(open + 1)) {
                    self.around(open + 1, KEY);
                }
            }
        }
    }

    /// Whether there is nothing but a text or an integer.
    fn is_literal(&self, from: usize, to: usize) -> bool {
        to == from + 1 && matches!(self.token(from), Some(Token::String(_) | Token::Int(_)))
    }

    /// `x[1:2]` copies what it takes, and `x[1]` looks for a key.
    fn slice(&mut self, open: usize) {
        let Some(before) = open.checked_sub(1).filter(|before| ends_value(&self.tokens[*before].0)) else { return };
        let close = self.brackets.partner[open];
        let (mut i, mut is_slice, mut is_list) = (open + 1, false, false);
        while i < close {
            is_slice |= self.tokens[i].0 == Token::Colon;
            is_list |= self.tokens[i].0 == Token::Comma;
            i = if is_opening(&self.tokens[i].0) { self.brackets.partner[i] + 1 } else { i + 1 };
        }
        if is_slice {
            let at = self.tokens[before].1.end;
            self.begin(self.starts[before], format!("{WEIGHED}("), at);
            self.insert(at, ")");
        } else if close > open + 1 && !is_list && !self.is_literal(open + 1, close) {
            let end = self.tokens[close].1.start;
            self.begin(open + 1, format!("{KEY}("), end);
            self.insert(end, ")");
        }
    }

    /// `{...}` with something in it.
    fn dict(&mut self, open: usize) {
        let close = self.brackets.partner[open];
        if close > open + 1 {
            let after = self.tokens[close].1.end;
            self.begin(open, format!("{COUNTED}("), after);
            self.insert(after, ")");
            self.keys(open, close);
        }
    }

    /// The keys of a dict that is written out.
    fn keys(&mut self, open: usize, close: usize) {
        let mut from = open + 1;
        while from < close {
            let (mut i, mut colon) = (from, None);
            while i < close && self.tokens[i].0 != Token::Comma {
                match &self.tokens[i].0 {
                    Token::Colon if colon.is_none() => colon = Some(i),
                    // Its parameters have commas of their own.
                    Token::Lambda => {
                        while i < close && self.tokens[i].0 != Token::Colon {
                            let is_open = is_opening(&self.tokens[i].0);
                            i = if is_open { self.brackets.partner[i] + 1 } else { i + 1 };
                        }
                    }
                    // What follows are no further entries.
                    Token::For => return self.key(from, colon),
                    token if is_opening(token) => i = self.brackets.partner[i],
                    _ => {}
                }
                i += 1;
            }
            self.key(from, colon);
            from = i + 1;
        }
    }

    fn key(&mut self, from: usize, colon: Option<usize>) {
        if let Some(colon) = colon.filter(|colon| *colon > from && !self.is_literal(from, *colon)) {
            let end = self.tokens[colon].1.start;
            self.begin(from, format!("{KEY}("), end);
            self.insert(end, ")");
        }
    }

    /// `**other`, where a function is called.
    fn named_arguments(&mut self, stars: usize) {
        let Some(open) = self.brackets.enclosing[stars] else { return };
        // The last parameter of a lambda stands before its colon.
        let of_lambda = self.token(stars + 2) == Some(&Token::Colon);
        if open > 0 && ends_value(&self.tokens[open - 1].0) && !self.is_definition(open) && !of_lambda {
            self.around(stars + 1, PLAIN);
        }
    }

    /// Puts an argument, from a token on, into a function.
    fn around(&mut self, from: usize, function: &str) {
        let end = self.end_of_item(from);
        if let (true, Some((_, after))) = (from < self.tokens.len(), self.tokens.get(end)) {
            let end = after.start;
            self.begin(from, format!("{function}("), end);
            self.insert(end, ")");
        }
    }

    /// `target op= value`: the value is put into a function.
    fn assigned(&mut self, operator: usize, function: &str) {
        let end = self.end_of_value(operator + 1);
        let is_small = matches!(self.token(operator + 1), Some(Token::Int(_) | Token::Float(_))) && end == operator + 2;
        if !is_small && end > operator + 1 {
            let until = self.tokens[end - 1].1.end;
            // Several values with commas are one.
            self.begin(operator + 1, format!("{function}(("), until);
            self.insert(until, "))");
        }
    }

    /// The token after the value of an assignment.
    fn end_of_value(&self, from: usize) -> usize {
        let mut end = from;
        let goes_on = |token: &Token| !matches!(token, Token::Newline | Token::Semicolon) && !is_assignment(token);
        while self.token(end).is_some_and(goes_on) {
            end = if is_opening(&self.tokens[end].0) { self.brackets.partner[end] + 1 } else { end + 1 };
        }
        end
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
        // What is read of it is looked up as anywhere else. It holds no assignment itself.
        let target = Rewriting::of("", &target).map_or_else(|_| target.clone(), Rewriting::done);
        let end = self.end_of_value(operator + 1);
        let end = self.tokens.get(end - 1).map_or(self.text.len(), |(_, range)| range.end);
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
                    let after = self.tokens.partition_point(|(_, range)| range.start < value_end);
                    self.is_layout[after.max(i)..close].fill(true);
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

/// A text as Starlark reads it.
fn quoted(text: &str) -> String {
    starlark::values::string::StarlarkStr::repr(text)
}

#[cfg(test)]
mod tests;
