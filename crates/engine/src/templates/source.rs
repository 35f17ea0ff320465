//! What an author's template is parsed as. How deep it nests is told before anything that calls itself reads it, and the
//! values of operators that multiply are put through a [filter](super::filters) that keeps them within bounds.
//!
//! The source is changed within its tags, and no line moves: what is said about a line is right.

mod callees;

use std::ops::Range;

pub use callees::{Callee, CalleeKind, callees};

use super::filters::{WITHIN_ANOTHER, WITHIN_BOUNDS};
use crate::limits::{MOST_REPEATED_TEXT, MOST_TAG_TOKENS, MOST_TEMPLATE_BYTES, MOST_TEMPLATE_LEVELS};

/// What is too much, and in which line, counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub struct TooMuch {
    pub line: usize,
    pub message: String,
}

/// The source with what keeps it within bounds.
///
/// # Errors
/// It is too long or nests too deep.
pub fn prepared(source: &str) -> Result<String, TooMuch> {
    scanned(source).map(Scan::edited)
}

fn scanned(source: &str) -> Result<Scan<'_>, TooMuch> {
    if source.len() > MOST_TEMPLATE_BYTES {
        let message = format!("is {} bytes long; at most {MOST_TEMPLATE_BYTES} are read", source.len());
        return Err(TooMuch { line: 1, message });
    }
    let mut scan = Scan { source, at: 0, blocks: Vec::new(), edits: Vec::new(), callees: Vec::new() };
    let read = scan.all();
    read.map_err(|message| TooMuch { line: source[..scan.at.min(source.len())].matches('\n').count() + 1, message })?;
    Ok(scan)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Name,
    Number,
    Text,
    Sign,
}

#[derive(Debug, Clone)]
struct Token {
    kind: Kind,
    range: Range<usize>,
}

/// A block that is open, and how many `elif`s it has so far: each is within the one before.
struct Block {
    is_loop: bool,
    /// What it writes is kept as a value.
    is_captured: bool,
    branches: usize,
}

struct Scan<'a> {
    source: &'a str,
    at: usize,
    blocks: Vec<Block>,
    /// What is put in, by its place; of several at one place in the order of the numbers.
    edits: Vec<(usize, u8, String)>,
    /// Filters and tests: where their names stand, and the names.
    callees: Vec<(CalleeKind, usize, String)>,
}

/// Words that are no values.
const KEYWORDS: [&str; 11] = ["and", "or", "not", "in", "is", "if", "else", "elif", "for", "recursive", "set"];

impl<'a> Scan<'a> {
    fn all(&mut self) -> Result<(), String> {
        while let Some((start, marker)) = self.next_tag() {
            self.text(start)?;
            self.at = start + 2;
            match marker {
                b'#' => self.skip_past("#}"),
                _ if marker == b'%' && self.is_tag(self.at, "raw") => self.raw(),
                marker => {
                    // It says what becomes of blanks.
                    self.at += usize::from(self.source[self.at..].starts_with(['-', '+']));
                    let end = if marker == b'%' { "%}" } else { "}}" };
                    let (tokens, is_whole) = self.tokens(end)?;
                    if !is_whole {
                        // The parser reads it as far as it goes, and says what is wrong.
                        self.levels(&tokens)?;
                        self.at = self.source.len();
                        return Ok(());
                    }
                    self.filters_and_tests(&tokens, marker == b'%');
                    if marker == b'%' {
                        self.statement(&tokens)?;
                    } else {
                        self.levels(&tokens)?;
                        self.expression(&tokens, 0);
                    }
                }
            }
        }
        self.text(self.source.len())
    }

    fn next_tag(&self) -> Option<(usize, u8)> {
        let bytes = self.source.as_bytes();
        let is_start = |i: &usize| bytes[*i] == b'{' && matches!(bytes[*i + 1], b'{' | b'%' | b'#');
        let start = (self.at..bytes.len().saturating_sub(1)).find(is_start)?;
        Some((start, bytes[start + 1]))
    }

    /// What stands between tags.
    fn text(&self, end: usize) -> Result<(), String> {
        let captured = self.blocks.iter().position(|block| block.is_captured);
        let is_repeated = captured.is_some_and(|first| self.blocks[first..].iter().any(|block| block.is_loop));
        if is_repeated && end.saturating_sub(self.at) > MOST_REPEATED_TEXT {
            return Err(format!(
                "a text of more than {MOST_REPEATED_TEXT} bytes is written by a loop whose text is kept as a value; write \
                 it outside of the loop"
            ));
        }
        Ok(())
    }

    fn skip_past(&mut self, end: &str) {
        self.at = self.source[self.at..].find(end).map_or(self.source.len(), |found| self.at + found + end.len());
    }

    /// Whether a tag that consists of this word begins here.
    fn is_tag(&self, at: usize, word: &str) -> bool {
        let rest = self.source[at..].trim_start_matches(['-', '+']).trim_start();
        let rest = rest.strip_prefix(word).map(|rest| rest.trim_start().trim_start_matches(['-', '+']));
        rest.is_some_and(|rest| rest.starts_with("%}"))
    }

    fn raw(&mut self) {
        self.skip_past("%}");
        while self.at < self.source.len() {
            self.skip_past("{%");
            if self.is_tag(self.at, "endraw") {
                return self.skip_past("%}");
            }
        }
    }

    /// The words and signs of a tag, and whether it ends.
    fn tokens(&mut self, end: &str) -> Result<(Vec<Token>, bool), String> {
        let (bytes, mut tokens, mut open) = (self.source.as_bytes(), Vec::new(), 0_usize);
        loop {
            let rest = &self.source[self.at..];
            let ends = rest.strip_prefix(['-', '+']).unwrap_or(rest).starts_with(end) || rest.starts_with(end);
            if open == 0 && ends {
                self.skip_past(end);
                return Ok((tokens, true));
            }
            let start = self.at;
            let Some(first) = rest.chars().next() else { return Ok((tokens, false)) };
            let count = |matches: fn(char) -> bool| rest.find(|c: char| !matches(c)).unwrap_or(rest.len());
            let kind = match first {
                c if c.is_whitespace() => {
                    self.at += c.len_utf8();
                    continue;
                }
                '"' | '\'' => {
                    let mut i = start + 1;
                    while i < bytes.len() && bytes[i] != bytes[start] {
                        i += if bytes[i] == b'\\' { 2 } else { 1 };
                    }
                    if i >= bytes.len() {
                        return Ok((tokens, false));
                    }
                    self.at = i + 1;
                    Kind::Text
                }
                c if c.is_ascii_digit() => {
                    self.at += count(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
                    Kind::Number
                }
                c if c.is_alphanumeric() || c == '_' => {
                    self.at += count(|c| c.is_alphanumeric() || c == '_');
                    Kind::Name
                }
                c => {
                    match c {
                        '(' | '[' | '{' => open += 1,
                        ')' | ']' | '}' => open = open.saturating_sub(1),
                        _ => {}
                    }
                    let double = ["==", "!=", "<=", ">=", "//", "**"].iter().any(|sign| rest.starts_with(sign));
                    self.at += if double { 2 } else { c.len_utf8() };
                    Kind::Sign
                }
            };
            tokens.push(Token { kind, range: start..self.at });
            if tokens.len() > MOST_TAG_TOKENS {
                return Err(format!("a tag has more than {MOST_TAG_TOKENS} words and signs; divide it with `set`"));
            }
        }
    }

    fn is(&self, token: Option<&Token>, word: &str) -> bool {
        token.is_some_and(|token| token.kind != Kind::Text && &self.source[token.range.clone()] == word)
    }

    fn word(&self, token: &Token) -> &'a str {
        &self.source[token.range.clone()]
    }

    fn statement(&mut self, tokens: &[Token]) -> Result<(), String> {
        let Some(first) = tokens.first() else { return Ok(()) };
        let assigned = self.outside_of_brackets(tokens, "=");
        let word = self.word(first);
        match word {
            "elif" => {
                if let Some(block) = self.blocks.last_mut() {
                    block.branches += 1;
                }
            }
            "include" | "import" | "from" if self.blocks.iter().any(|block| block.is_loop || block.is_captured) => {
                return Err(format!("`{word}` cannot stand in a loop, nor in what is kept as a value"));
            }
            "set" if assigned.is_some() => {}
            "if" | "for" | "with" | "autoescape" | "macro" | "call" | "filter" | "set" | "block" => {
                let is_captured = matches!(word, "macro" | "call" | "filter" | "set" | "block");
                self.blocks.push(Block { is_loop: word == "for", is_captured, branches: 0 });
            }
            _ if word.starts_with("end") => drop(self.blocks.pop()),
            _ => {}
        }
        self.levels(tokens)?;
        match (word, assigned) {
            ("set", Some(equals)) => {
                self.expression(tokens, equals + 1);
                let is_inner = self.outside_of_brackets(&tokens[..equals], ".").is_some();
                self.kept(&tokens[equals + 1..], if is_inner { WITHIN_ANOTHER } else { WITHIN_BOUNDS });
            }
            ("for", _) => {
                let from = self.outside_of_brackets(tokens, "in").map_or(tokens.len(), |at| at + 1);
                self.expression(tokens, from);
            }
            _ => self.expression(tokens, 1),
        }
        Ok(())
    }

    /// Where a word or sign stands first that no bracket is around.
    fn outside_of_brackets(&self, tokens: &[Token], word: &str) -> Option<usize> {
        let mut open = 0_usize;
        tokens.iter().position(|token| {
            match self.word(token) {
                _ if token.kind == Kind::Text => {}
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" => open = open.saturating_sub(1),
                found => return open == 0 && found == word,
            }
            false
        })
    }

    /// Blocks, branches, brackets, and operators of an item: the parser calls itself for each.
    fn levels(&self, tokens: &[Token]) -> Result<(), String> {
        let around: usize = self.blocks.iter().map(|block| 1 + block.branches).sum();
        let (mut open, mut operators) = (vec![0_usize], 0);
        for token in tokens {
            match self.word(token) {
                _ if matches!(token.kind, Kind::Text | Kind::Number) => {}
                "," => {
                    if let Some(item) = open.last_mut() {
                        operators -= std::mem::take(item);
                    }
                }
                ")" | "]" | "}" => operators -= open.pop().unwrap_or(0),
                word if token.kind == Kind::Name && !KEYWORDS.contains(&word) => {}
                word => {
                    operators += 1;
                    match open.last_mut() {
                        Some(item) => *item += 1,
                        None => open.push(1),
                    }
                    if matches!(word, "(" | "[" | "{") {
                        open.push(0);
                    }
                }
            }
            if around + operators + open.len() > MOST_TEMPLATE_LEVELS {
                return Err(format!(
                    "nests deeper than {MOST_TEMPLATE_LEVELS} levels; blocks, branches of an `elif` chain, brackets, \
                     operators and filters of one tag are levels: give parts of it names with `set`"
                ));
            }
        }
        Ok(())
    }

    /// Puts lists that are written out, and what `~`, `+` and `*` join, through the filter.
    fn expression(&mut self, tokens: &[Token], from: usize) {
        let partner = self.partners(tokens);
        let mut joined = Vec::new();
        for i in from..tokens.len() {
            if tokens[i].kind != Kind::Sign {
                continue;
            }
            match self.word(&tokens[i]) {
                "[" | "{" | "(" if self.is_list(tokens, &partner, i) => {
                    self.edits.push((tokens[i].range.start, 0, "(".to_owned()));
                    self.edits.push((tokens[partner[i]].range.end, 2, format!("|{WITHIN_BOUNDS})")));
                }
                "~" | "+" | "*" | "**" if i > from && self.ends_value(&tokens[i - 1]) => {
                    joined.push(i - 1);
                    joined.extend(self.end_of_operand(tokens, &partner, i + 1));
                }
                _ => {}
            }
        }
        joined.sort_unstable();
        joined.dedup();
        for last in joined.into_iter().filter(|last| tokens[*last].kind != Kind::Number) {
            self.edits.push((tokens[last].range.end, 3, format!("|{WITHIN_BOUNDS}")));
        }
    }

    /// What `set` keeps.
    fn kept(&mut self, value: &[Token], filter: &str) {
        let is_plain = value.len() < 2 && value.first().is_none_or(|token| token.kind != Kind::Name);
        if let (false, Some(first), Some(last)) = (is_plain, value.first(), value.last()) {
            self.edits.push((first.range.start, 0, "(".to_owned()));
            self.edits.push((last.range.end, 4, format!(")|{filter}")));
        }
    }

    /// For each bracket the one that belongs to it; for others, and where one is missing, itself.
    fn partners(&self, tokens: &[Token]) -> Vec<usize> {
        let mut partner: Vec<usize> = (0..tokens.len()).collect();
        let mut open = Vec::new();
        for (i, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Sign) {
            match self.word(token) {
                "(" | "[" | "{" => open.push(i),
                ")" | "]" | "}" => {
                    if let Some(start) = open.pop() {
                        (partner[start], partner[i]) = (i, start);
                    }
                }
                _ => {}
            }
        }
        partner
    }

    fn ends_value(&self, token: &Token) -> bool {
        match token.kind {
            Kind::Text | Kind::Number => true,
            Kind::Name => !KEYWORDS.contains(&self.word(token)),
            Kind::Sign => matches!(self.word(token), ")" | "]" | "}"),
        }
    }

    /// Whether a list, a dict or a tuple is written out here, and is no target of an assignment.
    fn is_list(&self, tokens: &[Token], partner: &[usize], open: usize) -> bool {
        let close = partner[open];
        let is_suffix = open > 0 && self.ends_value(&tokens[open - 1]);
        if close == open || close == open + 1 || is_suffix || self.is(tokens.get(close + 1), "=") {
            return false;
        }
        let mut i = open + 1;
        let mut has_comma = false;
        while i < close {
            has_comma |= self.is(tokens.get(i), ",");
            i = partner[i].max(i) + 1;
        }
        has_comma || self.word(&tokens[open]) != "("
    }

    /// The last token of the operand that begins here.
    fn end_of_operand(&self, tokens: &[Token], partner: &[usize], from: usize) -> Option<usize> {
        const ENDS: [&str; 21] = [
            ",", ")", "]", "}", ":", "=", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "//", "%", "**", "~",
            "!",
        ];
        let mut i = from;
        while self.is(tokens.get(i), "-") || self.is(tokens.get(i), "not") {
            i += 1;
        }
        let start = i;
        while let Some(token) = tokens.get(i) {
            let word = self.word(token);
            let after_is = i > start && (self.is(tokens.get(i - 1), "is"));
            let ends = match token.kind {
                Kind::Sign => ENDS.contains(&word),
                Kind::Name => matches!(word, "and" | "or" | "if" | "else" | "in" | "recursive") && !after_is,
                Kind::Text | Kind::Number => false,
            } || (word == "not" && token.kind == Kind::Name && !after_is);
            if ends {
                break;
            }
            i = partner[i].max(i) + 1;
        }
        i.checked_sub(1).filter(|last| *last >= start)
    }

    fn edited(mut self) -> String {
        self.edits.sort_by_key(|(at, order, _)| (*at, *order));
        let (mut out, mut at) = (String::with_capacity(self.source.len()), 0);
        for (place, _, new) in &self.edits {
            out.push_str(&self.source[at..*place]);
            out.push_str(new);
            at = *place;
        }
        out + &self.source[at..]
    }
}

#[cfg(test)]
mod tests;
