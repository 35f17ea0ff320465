//! A text as a row of facts and words.

mod lexicon;

use std::borrow::Cow;

use super::dates::{self, Date};
use super::numbers::{self, Number, Unit};
use super::unicode::fold;
use lexicon::{CALENDAR, NOON, NUMBER, Roles, UNIT};

#[derive(Debug, Clone, PartialEq)]
pub enum Fact<'a> {
    Word(Cow<'a, str>),
    Number(Number),
    /// All readings of it.
    Date(Vec<Date>),
    /// Minutes of the day.
    Time(u32),
    /// What carries a digit, an underscore or an at sign and is none of the above: ids, numbers of phones, addresses.
    Code(Cow<'a, str>),
}

/// A part of a text. It lives as long as the text, for most words stand there as they are compared.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each says another thing about how the word stands in its text")]
pub struct Token<'a> {
    pub fact: Fact<'a>,
    /// As it was written, in lower case, without punctuation around it.
    pub raw: Cow<'a, str>,
    pub capital: bool,
    /// It opens a sentence, where a capital says nothing.
    pub opens: bool,
    pub sentence: usize,
    /// A number in words.
    pub spelled: bool,
    /// A colon stands before it.
    pub colon: bool,
    /// Nothing but blanks stands between it and the token before.
    pub joined: bool,
    /// What it may do to its neighbours; nothing unless it is a word.
    roles: Roles,
}

impl Fact<'_> {
    /// Whether both are words, or numbers, or dates.
    pub const fn is_like(&self, other: &Fact<'_>) -> bool {
        matches!(
            (self, other),
            (Self::Word(_), Fact::Word(_))
                | (Self::Number(_), Fact::Number(_))
                | (Self::Date(_), Fact::Date(_))
                | (Self::Time(_), Fact::Time(_))
                | (Self::Code(_), Fact::Code(_))
        )
    }

    pub fn into_owned(self) -> Fact<'static> {
        match self {
            Self::Word(word) => Fact::Word(Cow::Owned(word.into_owned())),
            Self::Number(number) => Fact::Number(number),
            Self::Date(days) => Fact::Date(days),
            Self::Time(minutes) => Fact::Time(minutes),
            Self::Code(code) => Fact::Code(Cow::Owned(code.into_owned())),
        }
    }
}

impl Token<'_> {
    /// A value that is a number, without a text around it.
    pub fn of_number(number: Number, raw: String) -> Token<'static> {
        Token {
            fact: Fact::Number(number),
            raw: Cow::Owned(raw),
            capital: false,
            opens: true,
            sentence: 0,
            spelled: false,
            colon: false,
            joined: false,
            roles: 0,
        }
    }

    pub fn into_owned(self) -> Token<'static> {
        Token { fact: self.fact.into_owned(), raw: Cow::Owned(self.raw.into_owned()), ..self }
    }

    pub fn word(&self) -> Option<&str> {
        match &self.fact {
            Fact::Word(word) => Some(word),
            _ => None,
        }
    }

    /// A form in which rows of tokens are compared.
    pub fn key(&self) -> String {
        match &self.fact {
            Fact::Word(word) | Fact::Code(word) => word.to_string(),
            Fact::Number(number) => number.value().to_owned(),
            Fact::Date(_) | Fact::Time(_) => self.raw.to_string(),
        }
    }

    fn integer(&self) -> bool {
        let digits = self.raw.strip_prefix('+').unwrap_or(&self.raw);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    }

    const fn may(&self, role: Roles) -> bool {
        self.roles & role != 0
    }
}

/// A step of reading, and the tokens that need it.
type Step = (for<'t, 'a> fn(&'t Token<'a>) -> bool, for<'a> fn(Vec<Token<'a>>) -> Vec<Token<'a>>);

/// Most texts need few of the steps.
const STEPS: [Step; 5] = [
    (|t| t.may(NUMBER), spelled),
    (|t| t.may(NOON), afternoons),
    (|t| t.may(CALENDAR), textual_dates),
    (|t| t.joined && t.raw.starts_with(|c: char| c.is_ascii_digit()), runs),
    (|t| t.may(UNIT), units),
];

/// Reads a text.
pub fn read(text: &str) -> Vec<Token<'static>> {
    tokens(&fold(text)).into_iter().map(Token::into_owned).collect()
}

/// Reads a text that was folded.
pub fn tokens(folded: &str) -> Vec<Token<'_>> {
    let mut reader = Reader { tokens: Vec::with_capacity(folded.len() / 5 + 1), ..Reader::default() };
    for line in folded.lines() {
        for chunk in line.split(|c: char| c.is_whitespace()) {
            for piece in chunk.split_inclusive(ends_piece) {
                reader.piece(piece);
            }
        }
        reader.end_sentence();
    }
    let mut tokens = reader.tokens;
    for (needed, step) in STEPS {
        if tokens.iter().any(needed) {
            tokens = step(tokens);
        }
    }
    tokens
}

const fn ends_piece(c: char) -> bool {
    matches!(
        c,
        '(' | ')' | '[' | ']' | '{' | '}' | '|' | '*' | ';' | '<' | '>' | '=' | '#' | '"' | '\u{2026}' | '\u{2022}'
    )
}

/// Signs of money stand at the end of an amount, or before it.
const SYMBOLS: [char; 4] = ['€', '$', '£', '¥'];

#[derive(Default)]
struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    sentence: usize,
    opened: bool,
    broken: bool,
    colon: bool,
}

impl<'a> Reader<'a> {
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
        let after = &front[bare.len()..];
        if piece.len() > front.len() {
            self.broken = true;
        }
        if !bare.is_empty() {
            self.bare(bare);
        }
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

    fn add(&mut self, fact: Fact<'a>, raw: Cow<'a, str>, capital: bool, first: bool) {
        // The ends of a range are two numbers.
        let joined = !self.broken && (first || !matches!(fact, Fact::Number(_)));
        let roles = if let Fact::Word(word) = &fact { lexicon::roles(word) } else { 0 };
        let (opens, sentence, colon) = (!self.opened, self.sentence, self.colon);
        self.tokens.push(Token { fact, raw, capital, opens, sentence, spelled: false, colon, joined, roles });
        self.colon = false;
        self.opened = true;
        self.broken = false;
    }
}

/// Whether the point after a word is its own.
fn is_abbreviated(word: &str) -> bool {
    ["a.m", "p.m", "e.g", "i.e", "no", "mr", "ms", "mrs", "dr", "st"].contains(&word.to_lowercase().as_str())
}

/// Takes what a piece of a text states, one after the other: the fact, and how it was written.
type Out<'o, 'a> = &'o mut dyn FnMut(Fact<'a>, Cow<'a, str>);

fn classify<'a>(text: &'a str, out: Out<'_, 'a>) {
    // Most of a text.
    if text.bytes().all(|b| b.is_ascii_lowercase()) {
        return out(Fact::Word(text.into()), text.into());
    }
    if text.contains('@') {
        return out(Fact::Code(text.into()), text.into());
    }
    let days = dates::written(text);
    if !days.is_empty() {
        return out(Fact::Date(days), text.into());
    }
    if let Some((day, time)) = text.split_once('t')
        && let (days, Some(minutes)) = (dates::written(day), dates::clock(time))
        && !days.is_empty()
    {
        out(Fact::Date(days), day.into());
        return out(Fact::Time(minutes), time.into());
    }
    if let Some(minutes) = dates::clock(text) {
        return out(Fact::Time(minutes), text.into());
    }
    if let Some(digits) = text.strip_prefix('+').filter(|d| d.len() > 6 && d.bytes().all(|b| b.is_ascii_digit())) {
        return out(Fact::Code(digits.into()), text.into());
    }
    if let Some(readings) = numbers::amount(text) {
        return out(Fact::Number(Number { readings, unit: None }), text.into());
    }
    if !text.chars().any(char::is_numeric) {
        return words(text, out);
    }
    if text.contains('/') {
        return text.split('/').filter(|part| !part.is_empty()).for_each(|part| classify(part, out));
    }
    with_letters(text, out);
}

/// Digits and letters in one: `5th`, `10am`, `20gb`, a range, or else an id.
fn with_letters<'a>(text: &'a str, out: Out<'_, 'a>) {
    let split = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (head, tail) = text.split_at(split);
    let amount = numbers::amount(head.trim_end_matches('-'));
    if let Some(readings) = amount.filter(|_| tail.chars().all(|c| c.is_alphabetic() || c == '-' || c == '.')) {
        let number = Fact::Number(Number { readings, unit: None });
        let raw = head.trim_end_matches('-').into();
        match tail {
            "st" | "nd" | "rd" | "th" | "x" => return out(number, raw),
            "am" | "pm" | "a.m" | "p.m" => {
                out(number, raw);
                return out(Fact::Word(tail.replace('.', "").into()), tail.into());
            }
            _ if numbers::unit(tail).is_some() || head.ends_with('-') => {
                out(number, raw);
                return words(tail, out);
            }
            _ => {}
        }
    }
    if let Some((time, half)) = text.split_at_checked(text.len().saturating_sub(2))
        && let (Some(minutes), "am" | "pm") = (dates::clock(time), half)
    {
        out(Fact::Time(minutes), time.into());
        return out(Fact::Word(half.into()), half.into());
    }
    // A range.
    let parts: Vec<&str> = text.split('-').filter(|part| !part.is_empty()).collect();
    if parts.len() == 2
        && parts[0] != parts[1]
        && parts.iter().all(|part| numbers::amount(part).is_some() || dates::clock(part).is_some())
    {
        return parts.into_iter().for_each(|part| classify(part, out));
    }
    out(Fact::Code(text.into()), text.into());
}

fn words<'a>(text: &'a str, out: Out<'_, 'a>) {
    if text.contains('_') {
        return out(Fact::Code(text.into()), text.into());
    }
    match plain_words(text) {
        Cow::Borrowed(text) => parts(text, out),
        Cow::Owned(text) => parts(&text, &mut |fact, raw| out(fact.into_owned(), Cow::Owned(raw.into_owned()))),
    }
}

/// Without the ending of a possessor, and with one way of writing e-mail.
fn plain_words(text: &str) -> Cow<'_, str> {
    match text.strip_suffix("'s").unwrap_or(text) {
        simple if !simple.contains("'s") && !simple.contains("e-mail") => Cow::Borrowed(simple),
        _ => Cow::Owned(text.replace("'s", "").replace("e-mail", "email")),
    }
}

fn parts<'a>(text: &'a str, out: Out<'_, 'a>) {
    if text.contains('.') {
        let plain = text.replace('.', "");
        return if ["am", "pm", "eg", "ie"].contains(&plain.as_str()) {
            out(Fact::Word(plain.clone().into()), plain.into());
        } else {
            out(Fact::Code(text.into()), text.into());
        };
    }
    // "€" and "%" are words of their own here.
    let parts = text.split(['-', '/', '&', '+', ',']).filter(|part| !part.is_empty());
    parts.for_each(|part| out(Fact::Word(part.into()), part.into()));
}

/// Number words become numbers: `forty one euros and sixteen cents`, `one point five`.
fn spelled(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
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

/// `8 pm`, `8:30 pm`, `9 o'clock`.
fn afternoons(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let shift = match token.word() {
            Some("am" | "o'clock") => Some(0),
            Some("pm") => Some(720),
            _ => None,
        };
        let minutes = out.last().filter(|_| shift.is_some()).and_then(|before| match &before.fact {
            Fact::Time(minutes) => Some(*minutes),
            Fact::Number(n) => n.value().parse::<u32>().ok().filter(|hour| *hour <= 24).map(|hour| hour * 60),
            _ => None,
        });
        match (shift, minutes, out.last_mut()) {
            (Some(shift), Some(minutes), Some(before)) => {
                let noon = minutes / 60 == 12;
                before.fact = Fact::Time(match (shift, noon) {
                    (720, false) => minutes + 720,
                    (0, true) if token.word() == Some("am") => minutes - 720,
                    _ => minutes,
                });
            }
            _ => out.push(token),
        }
    }
    out
}

/// `March 2nd, 2026`, `the 2nd of March`, `Mon 2 Mar 2026`, `March 2026`, `Monday`.
fn textual_dates(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut left = tokens.into_iter();
    loop {
        let ahead = left.as_slice();
        let begins = ahead.first().is_some_and(|token| token.may(CALENDAR) || matches!(token.fact, Fact::Number(_)));
        let date = if begins { date_at(ahead) } else { None };
        let raw = date.as_ref().map(|(_, taken)| joined(&ahead[..*taken], " "));
        let Some(token) = left.next() else { break };
        if let (Some((date, taken)), Some(raw)) = (date, raw) {
            out.push(Token { fact: Fact::Date(date), raw: raw.into(), roles: 0, ..token });
            left.by_ref().take(taken - 1).for_each(drop);
        } else {
            out.push(token);
        }
    }
    out
}

fn joined(tokens: &[Token<'_>], between: &str) -> String {
    tokens.iter().map(|token| &*token.raw).collect::<Vec<_>>().join(between)
}

fn date_at(tokens: &[Token<'_>]) -> Option<(Vec<Date>, usize)> {
    let word = |i: usize| tokens.get(i).and_then(Token::word);
    let mut date = Date {
        weekday: word(0).filter(|w| w.len() > 3 || tokens[0].capital).and_then(dates::weekday),
        ..Date::default()
    };
    let mut at = usize::from(date.weekday.is_some());
    if let Some(Fact::Date(days)) = tokens.get(at).map(|t| &t.fact).filter(|_| at > 0) {
        return Some((days.iter().map(|day| Date { weekday: date.weekday, ..*day }).collect(), at + 1));
    }
    if at > 0 && word(at) == Some("the") {
        at += 1;
    }
    let number = |i: usize, most: u32| {
        let token = tokens.get(i)?;
        let Fact::Number(number) = &token.fact else { return None };
        number.value().parse::<u32>().ok().filter(|n| (1..=most).contains(n))
    };
    let month = |i: usize| word(i).and_then(dates::month).map(|m| (m, tokens[i].capital));
    let start = at;
    if let (Some(day), of) = (number(at, 31), usize::from(word(at + 1) == Some("of")))
        && let Some((month, capital)) = month(at + 1 + of)
        // "Only 1 may come."
        && (capital || of > 0 || word(at + 1) != Some("may"))
    {
        (date.day, date.month) = (Some(day), Some(month));
        at += 2 + of;
    } else if let Some((month, capital)) = month(at) {
        let the = usize::from(word(at + 1) == Some("the"));
        let day = number(at + 1 + the, 31);
        let year = number(at + 1, 2999).filter(|y| *y >= 1900);
        // "March" may begin a sentence as a verb, "may" is mostly none: alone they need their capital within it.
        if day.is_none() && year.is_none() && (!capital || tokens[at].opens) {
            return None;
        }
        (date.day, date.month) = (day, Some(month));
        at += 1 + if day.is_some() { 1 + the } else { 0 };
    }
    if at > start
        && let Some(year) = number(at, 2999).filter(|year| *year >= 1900)
    {
        date.year = i32::try_from(year).ok();
        at += 1;
    }
    (date != Date::default()).then_some((vec![date], if at > start { at } else { 1 }))
}

/// Digits in groups are one number or one code: `1 234,50`, `+999 555 0190`, `four one one six`.
fn runs(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
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

/// Units go to their numbers: `EUR 41.15`, `41.15 euros`, `5 working days`, `forty one euros and sixteen cents`.
fn units(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown: Vec<String> = read(text)
            .iter()
            .map(|t| match &t.fact {
                Fact::Word(word) => word.to_string(),
                Fact::Number(n) => format!("<{}{}>", n.value(), if n.unit.is_some() { "u" } else { "" }),
                Fact::Date(days) => {
                    let d = days[0];
                    let part = |n: Option<u32>| n.map_or("?".into(), |n| n.to_string());
                    format!("[{}-{}-{}]", d.year.map_or("?".into(), |y| y.to_string()), part(d.month), part(d.day))
                }
                Fact::Time(minutes) => format!("@{minutes}"),
                Fact::Code(code) => format!("#{code}"),
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn texts_are_read_as_values() {
        check("You paid €1,234.50 on March 2nd, 2026.", "you paid <1234.5u> on [2026-3-2]");
        check("It is 1.234,50 EUR, or EUR 7.", "it is <1234.5u> or <7u>");
        check("Monday, 2 March at 8 pm", "[?-3-2] at @1200");
        check("forty-one euros and sixteen cents", "<41.16u>");
        check("Call +999 555 0190 or four one one six", "call #9995550190 or #4116");
        check("Only 1 may come on 1 May", "only <1> may come on [?-5-1]");
        check("within 60 days, 1.75 %", "within <60u> days <1.75u>");
        check("crd_3001 was in_review at 2026-03-02T09:00:00Z", "#crd_3001 was #in_review at [2026-3-2] @540");
        check(
            "You may ask on Friday: the 1 234,50 € are non-refundable",
            "you may ask on [?-?-?] the <1234.5u> are non refundable",
        );
    }
}
