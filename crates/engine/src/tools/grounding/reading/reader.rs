//! Where words begin and end, and how they stand in their text.

use std::borrow::Cow;

use super::classify::classify;
use super::lexicon::{self, BETWEEN, Roles};
use super::{Fact, Token};

const fn ends_piece(c: char) -> bool {
    matches!(
        c,
        '(' | ')' | '[' | ']' | '{' | '}' | '|' | '*' | ';' | '<' | '>' | '=' | '#' | '"' | '\u{2026}' | '\u{2022}'
    )
}

/// Signs of money stand at the end of an amount, or before it.
const SYMBOLS: [char; 4] = ['€', '$', '£', '¥'];

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each says another thing about where the reader stands")]
pub struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    sentence: usize,
    opened: bool,
    broken: bool,
    colon: bool,
    /// Whether words that mean nothing here are left out after the first.
    few: bool,
    /// Whether the last word was one of those.
    idle: bool,
}

impl<'a> Reader<'a> {
    /// `expected`: about how many tokens there will be.
    pub fn of_all(expected: usize) -> Self {
        Self { tokens: Vec::with_capacity(expected), ..Self::default() }
    }

    /// Without words that mean nothing to a fact, save the first of several.
    pub fn of_few(expected: usize) -> Self {
        Self { few: true, ..Self::of_all(expected) }
    }

    pub fn read(mut self, text: &'a str) -> Vec<Token<'a>> {
        for line in text.lines() {
            self.line(line);
            self.end_sentence();
        }
        self.tokens
    }

    fn line(&mut self, line: &'a str) {
        // Folding leaves no blanks but those of ASCII.
        let blank = |b: &u8| matches!(b, b' ' | b'\t'..=b'\r');
        let mut rest = line;
        while !rest.is_empty() {
            let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
            let more = rest.as_bytes()[letters..].iter().position(blank).unwrap_or(rest.len() - letters);
            let end = letters + more;
            match more {
                // Most of a text.
                0 if letters > 0 => self.word(&rest[..letters]),
                0 => {}
                _ => self.chunk(&rest[..end], letters),
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }

    /// Reads the text between two blanks. `letters`: how many small letters it begins with.
    fn chunk(&mut self, chunk: &'a str, letters: usize) {
        let (word, after) = chunk.split_at(letters);
        match after.as_bytes() {
            [b',' | b'.' | b'!' | b'?' | b':'] if letters > 0 => {
                self.word(word);
                self.after(word, after);
            }
            _ => chunk.split_inclusive(ends_piece).for_each(|piece| self.piece(piece)),
        }
    }

    fn end_sentence(&mut self) {
        self.sentence += 1;
        self.opened = false;
        self.broken = true;
    }

    fn piece(&mut self, piece: &'a str) {
        let signed =
            piece.len() > 1 && piece.starts_with(['-', '+']) && piece[1..].starts_with(|c: char| c.is_ascii_digit());
        let keep = |c: char| c.is_alphanumeric() || c == '%' || SYMBOLS.contains(&c);
        let front = if signed { piece } else { piece.trim_start_matches(|c: char| !keep(c)) };
        let bare = front.trim_end_matches(|c: char| !keep(c));
        if piece.len() > front.len() {
            self.broken = true;
        }
        if !bare.is_empty() {
            self.bare(bare);
        }
        self.after(bare, &front[bare.len()..]);
    }

    /// Punctuation after a word.
    fn after(&mut self, bare: &str, after: &str) {
        if after.is_empty() {
            return;
        }
        self.broken = true;
        self.colon = after.contains(':');
        if after.contains(['!', '?', ':', ';']) || (after.contains('.') && !is_abbreviated(bare)) {
            self.end_sentence();
        }
    }

    fn bare(&mut self, bare: &'a str) {
        if !bare.starts_with(SYMBOLS) && !bare.ends_with(SYMBOLS) && !bare.ends_with('%') {
            return self.push(bare);
        }
        for symbol in SYMBOLS {
            if let Some(rest) = bare.strip_prefix(symbol) {
                self.push(&bare[..symbol.len_utf8()]);
                if !rest.is_empty() {
                    self.bare(rest);
                }
                return;
            }
            if let Some(rest) = bare.strip_suffix(symbol) {
                self.bare(rest);
                return self.push(&bare[rest.len()..]);
            }
        }
        if let Some(rest) = bare.strip_suffix('%').filter(|rest| !rest.is_empty()) {
            self.bare(rest);
            return self.push("%");
        }
        self.push(bare);
    }

    fn push(&mut self, text: &'a str) {
        let capital = text.chars().next().is_some_and(char::is_uppercase);
        let mut first = true;
        let mut one = |fact: Fact<'a>, raw: Cow<'a, str>| {
            self.add(fact, raw, capital, first);
            first = false;
        };
        if text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
            classify(text, &mut one);
        } else {
            let lower = text.to_lowercase();
            classify(&lower, &mut |fact, raw| one(fact.into_owned(), Cow::Owned(raw.into_owned())));
        }
    }

    /// A word of small letters alone.
    fn word(&mut self, word: &'a str) {
        let roles = lexicon::roles(word);
        let idle = self.is_idle(roles);
        if !(idle && self.idle) {
            self.token(Fact::Word(word.into()), word.into(), roles, false, !self.broken);
        }
        self.passed(idle);
    }

    /// Whether a word means nothing here. What stands between the parts of something does not if it follows on nothing.
    const fn is_idle(&self, roles: Roles) -> bool {
        self.few && (roles == 0 || (self.idle && roles == BETWEEN))
    }

    fn add(&mut self, fact: Fact<'a>, raw: Cow<'a, str>, capital: bool, first: bool) {
        // The ends of a range are two numbers.
        let joined = !self.broken && (first || !matches!(fact, Fact::Number(_)));
        let roles = if let Fact::Word(word) = &fact { lexicon::roles(word) } else { 0 };
        let idle = matches!(fact, Fact::Word(_)) && self.is_idle(roles);
        if !(idle && self.idle) {
            self.token(fact, raw, roles, capital, joined);
        }
        self.passed(idle);
    }

    fn token(&mut self, fact: Fact<'a>, raw: Cow<'a, str>, roles: Roles, capital: bool, joined: bool) {
        let (opens, sentence, colon) = (!self.opened, self.sentence, self.colon);
        self.tokens.push(Token { fact, raw, capital, opens, sentence, spelled: false, colon, joined, roles });
    }

    /// Goes on behind a word.
    const fn passed(&mut self, idle: bool) {
        self.idle = idle;
        self.colon = false;
        self.opened = true;
        self.broken = false;
    }
}

/// Whether the point after a word is its own.
fn is_abbreviated(word: &str) -> bool {
    ["a.m", "p.m", "e.g", "i.e", "no", "mr", "ms", "mrs", "dr", "st"].contains(&word.to_lowercase().as_str())
}
