//! A text as a row of facts and words.

use super::dates::{self, Date};
use super::numbers::{self, Number, Unit};
use super::unicode::fold;

#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    Word(String),
    Number(Number),
    /// All readings of it.
    Date(Vec<Date>),
    /// Minutes of the day.
    Time(u32),
    /// What carries a digit, an underscore or an at sign and is none of the above: ids, numbers of phones, addresses.
    Code(String),
}

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each says another thing about how the word stands in its text")]
pub struct Token {
    pub fact: Fact,
    /// As it was written, in lower case, without punctuation around it.
    pub raw: String,
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
}

impl Token {
    pub fn word(&self) -> Option<&str> {
        match &self.fact {
            Fact::Word(word) => Some(word),
            _ => None,
        }
    }

    /// A form in which rows of tokens are compared.
    pub fn key(&self) -> String {
        match &self.fact {
            Fact::Word(word) | Fact::Code(word) => word.clone(),
            Fact::Number(number) => number.value().to_owned(),
            Fact::Date(_) | Fact::Time(_) => self.raw.clone(),
        }
    }

    fn integer(&self) -> bool {
        let digits = self.raw.strip_prefix('+').unwrap_or(&self.raw);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    }
}

/// A step of reading, and the tokens that need it.
type Step = (fn(&Token) -> bool, fn(Vec<Token>) -> Vec<Token>);

/// Reads a text.
pub fn read(text: &str) -> Vec<Token> {
    let folded = fold(text);
    let mut reader = Reader::default();
    for line in folded.lines() {
        for chunk in line.split(|c: char| c.is_whitespace()) {
            for piece in chunk.split_inclusive(|c: char| "()[]{}|*;<>=#\"\u{2026}\u{2022}".contains(c)) {
                reader.piece(piece);
            }
        }
        reader.end_sentence();
    }
    // Most texts need few of the steps.
    let mut tokens = reader.tokens;
    let steps: [Step; 5] = [
        (|t| t.word().is_some_and(|w| numbers::spelled(&[w]).is_some()), spelled),
        (|t| matches!(t.word(), Some("am" | "pm" | "o'clock")), afternoons),
        (|t| t.word().is_some_and(|w| dates::month(w).or(dates::weekday(w)).is_some()), textual_dates),
        (|t| t.joined && t.raw.starts_with(|c: char| c.is_ascii_digit()), runs),
        (|t| t.word().is_some_and(|w| w == "cents" || numbers::unit(w).is_some()), units),
    ];
    for (needed, step) in steps {
        if tokens.iter().any(needed) {
            tokens = step(tokens);
        }
    }
    tokens
}

#[derive(Default)]
struct Reader {
    tokens: Vec<Token>,
    sentence: usize,
    opened: bool,
    broken: bool,
    colon: bool,
}

impl Reader {
    fn end_sentence(&mut self) {
        self.sentence += 1;
        self.opened = false;
        self.broken = true;
    }

    fn piece(&mut self, piece: &str) {
        let signed =
            piece.len() > 1 && piece.starts_with(['-', '+']) && piece[1..].starts_with(|c: char| c.is_ascii_digit());
        let keep = |c: char| c.is_alphanumeric() || "€$£¥%".contains(c);
        let front = if signed { piece } else { piece.trim_start_matches(|c: char| !keep(c)) };
        let bare = front.trim_end_matches(|c: char| !keep(c));
        let (before, after) = (&piece[..piece.len() - front.len()], &front[bare.len()..]);
        if !before.is_empty() {
            self.broken = true;
        }
        if !bare.is_empty() {
            self.bare(bare);
        }
        if after.is_empty() {
            return;
        }
        self.broken = true;
        let lower = bare.to_lowercase();
        let abbreviated = ["a.m", "p.m", "e.g", "i.e", "no", "mr", "ms", "mrs", "dr", "st"].contains(&lower.as_str());
        self.colon = after.contains(':');
        if after.contains(['!', '?', ':', ';']) || (after.contains('.') && !abbreviated) {
            self.end_sentence();
        }
    }

    fn bare(&mut self, bare: &str) {
        for symbol in ['€', '$', '£', '¥'] {
            if let Some(rest) = bare.strip_prefix(symbol) {
                self.push(symbol.to_string().as_str());
                if !rest.is_empty() {
                    self.bare(rest);
                }
                return;
            }
            if let Some(rest) = bare.strip_suffix(symbol) {
                self.bare(rest);
                return self.push(symbol.to_string().as_str());
            }
        }
        if let Some(rest) = bare.strip_suffix('%').filter(|rest| !rest.is_empty()) {
            self.bare(rest);
            return self.push("%");
        }
        self.push(bare);
    }

    fn push(&mut self, text: &str) {
        let lower = text.to_lowercase();
        let capital = text.chars().next().is_some_and(char::is_uppercase);
        for (i, (fact, raw)) in classify(&lower).into_iter().enumerate() {
            // The ends of a range are two numbers.
            let joined = !self.broken && (i == 0 || !matches!(fact, Fact::Number(_)));
            let token = Token {
                fact,
                raw,
                capital,
                opens: !self.opened,
                sentence: self.sentence,
                spelled: false,
                colon: self.colon,
                joined,
            };
            self.colon = false;
            self.opened = true;
            self.broken = false;
            self.tokens.push(token);
        }
    }
}

fn classify(text: &str) -> Vec<(Fact, String)> {
    let one = |fact| vec![(fact, text.to_owned())];
    if text.contains('@') {
        return one(Fact::Code(text.to_owned()));
    }
    let days = dates::written(text);
    if !days.is_empty() {
        return one(Fact::Date(days));
    }
    if let Some((day, time)) = text.split_once('t')
        && let (days, Some(minutes)) = (dates::written(day), dates::clock(time))
        && !days.is_empty()
    {
        return vec![(Fact::Date(days), day.to_owned()), (Fact::Time(minutes), time.to_owned())];
    }
    if let Some(minutes) = dates::clock(text) {
        return one(Fact::Time(minutes));
    }
    if let Some(digits) = text.strip_prefix('+').filter(|d| d.len() > 6 && d.bytes().all(|b| b.is_ascii_digit())) {
        return one(Fact::Code(digits.to_owned()));
    }
    if let Some(readings) = numbers::amount(text) {
        return one(Fact::Number(Number { readings, unit: None }));
    }
    if !text.chars().any(char::is_numeric) {
        return words(text);
    }
    if text.contains('/') {
        return text.split('/').filter(|part| !part.is_empty()).flat_map(classify).collect();
    }
    let split = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (head, tail) = text.split_at(split);
    let amount = numbers::amount(head.trim_end_matches('-'));
    if let Some(readings) = amount.filter(|_| tail.chars().all(|c| c.is_alphabetic() || c == '-' || c == '.')) {
        let number = (Fact::Number(Number { readings, unit: None }), head.trim_end_matches('-').to_owned());
        match tail {
            "st" | "nd" | "rd" | "th" | "x" => return vec![number],
            "am" | "pm" | "a.m" | "p.m" => return vec![number, (Fact::Word(tail.replace('.', "")), tail.to_owned())],
            _ if numbers::unit(tail).is_some() || head.ends_with('-') => {
                return [number].into_iter().chain(words(tail)).collect();
            }
            _ => {}
        }
    }
    if let Some((time, half)) = text.split_at_checked(text.len().saturating_sub(2))
        && let (Some(minutes), "am" | "pm") = (dates::clock(time), half)
    {
        return vec![(Fact::Time(minutes), time.to_owned()), (Fact::Word(half.to_owned()), half.to_owned())];
    }
    // A range.
    let parts: Vec<&str> = text.split('-').filter(|part| !part.is_empty()).collect();
    if parts.len() == 2
        && parts[0] != parts[1]
        && parts.iter().all(|part| numbers::amount(part).is_some() || dates::clock(part).is_some())
    {
        return parts.into_iter().flat_map(classify).collect();
    }
    one(Fact::Code(text.to_owned()))
}

fn words(text: &str) -> Vec<(Fact, String)> {
    if text.contains('_') {
        return vec![(Fact::Code(text.to_owned()), text.to_owned())];
    }
    let text = text.replace("'s", "").replace("e-mail", "email");
    let plain = text.replace('.', "");
    if ["am", "pm", "eg", "ie"].contains(&plain.as_str()) {
        return vec![(Fact::Word(plain.clone()), plain)];
    }
    if text.contains('.') {
        return vec![(Fact::Code(text.clone()), text)];
    }
    // "€" and "%" are words of their own here.
    let parts = text.split(['-', '/', '&', '+', ',']);
    parts.filter(|part| !part.is_empty()).map(|part| (Fact::Word(part.to_owned()), part.to_owned())).collect()
}

/// Number words become numbers: `forty one euros and sixteen cents`, `one point five`.
fn spelled(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        let row: Vec<&str> = tokens[i..]
            .iter()
            .enumerate()
            .map_while(|(n, t)| t.word().filter(|_| n == 0 || (t.joined && t.sentence == token.sentence)))
            .take(10)
            .collect();
        if let Some((value, taken)) = numbers::spelled(&row) {
            let fact = Fact::Number(Number::plain(value.clone()));
            out.push(Token { fact, raw: value, spelled: true, ..token.clone() });
            i += taken;
        } else {
            out.push(token.clone());
            i += 1;
        }
    }
    pointed(out)
}

/// `41 point one five` becomes `41.15`.
fn pointed(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        let digits: String = tokens
            .get(i + 2..)
            .unwrap_or_default()
            .iter()
            .map_while(|t| t.integer().then_some(t.raw.as_str()))
            .collect();
        if token.integer() && !digits.is_empty() && tokens.get(i + 1).is_some_and(|t| t.word() == Some("point")) {
            let raw = format!("{}.{digits}", token.raw);
            let taken = tokens[i + 2..].iter().take_while(|t| t.integer()).count();
            let readings = numbers::amount(&raw).unwrap_or_else(|| vec![raw.clone()]);
            out.push(Token { fact: Fact::Number(Number { readings, unit: None }), raw, ..token.clone() });
            i += 2 + taken;
        } else {
            out.push(token.clone());
            i += 1;
        }
    }
    out
}

/// `8 pm`, `8:30 pm`, `9 o'clock`.
fn afternoons(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let shift = match token.word() {
            Some("am" | "o'clock") => Some(0),
            Some("pm") => Some(720),
            _ => None,
        };
        let minutes = out.last().and_then(|before| match &before.fact {
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
fn textual_dates(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        if let Some((date, taken)) = date_at(&tokens[i..]) {
            let raw: Vec<&str> = tokens[i..i + taken].iter().map(|t| t.raw.as_str()).collect();
            out.push(Token { fact: Fact::Date(date), raw: raw.join(" "), ..token.clone() });
            i += taken;
        } else {
            out.push(token.clone());
            i += 1;
        }
    }
    out
}

fn date_at(tokens: &[Token]) -> Option<(Vec<Date>, usize)> {
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
fn runs(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        let more =
            tokens[i + 1..].iter().take_while(|t| t.integer() && t.joined && t.sentence == token.sentence).count();
        if !token.integer() || matches!(token.fact, Fact::Time(_)) {
            out.push(token.clone());
            i += 1;
            continue;
        }
        let last = tokens.get(i + 1 + more).filter(|t| t.joined && matches!(t.fact, Fact::Number(_)));
        let spaced = |upto: usize| tokens[i..=upto].iter().map(|t| t.raw.as_str()).collect::<Vec<_>>().join(" ");
        let amount = |upto: usize| numbers::amount(&spaced(upto)).filter(|_| upto > i);
        let (fact, upto) = match (last.and_then(|_| amount(i + 1 + more)), amount(i + more)) {
            (Some(readings), _) => (Fact::Number(Number { readings, unit: None }), i + 1 + more),
            (None, Some(readings)) => (Fact::Number(Number { readings, unit: None }), i + more),
            (None, None) if more > 0 => (Fact::Code(spaced(i + more).replace([' ', '+'], "")), i + more),
            (None, None) => (token.fact.clone(), i),
        };
        let raw = if upto == i { token.raw.clone() } else { spaced(upto).replace([' ', '+'], "") };
        out.push(Token { fact, raw, ..token.clone() });
        i = upto + 1;
    }
    out
}

/// Units go to their numbers: `EUR 41.15`, `41.15 euros`, `5 working days`, `forty one euros and sixteen cents`.
fn units(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut money: Option<Unit> = None;
    for token in tokens {
        let unit = token.word().and_then(numbers::unit);
        let near = out.len().checked_sub(1).map(|i| match out[i].word() {
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
fn range(out: &mut [Token], last: usize, unit: &Unit) {
    let tied = matches!(last.checked_sub(1).and_then(|i| out[i].word()), Some("to" | "or"));
    let first = last.checked_sub(if tied { 2 } else { 1 });
    if let Some(Fact::Number(number)) = first.map(|i| &mut out[i].fact)
        && number.unit.is_none()
    {
        number.unit = Some(unit.clone());
    }
}

fn cents(out: &mut Vec<Token>, token: Token) {
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
        _ => out.push(Token { fact, ..token }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown: Vec<String> = read(text)
            .iter()
            .map(|t| match &t.fact {
                Fact::Word(word) => word.clone(),
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
