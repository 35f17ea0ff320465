//! A text that fits a regular expression, for those that ids, dates and the like are described with: groups,
//! alternatives, classes and repetitions. It is short, and always the same.

use std::iter::Peekable;
use std::str::Chars;

/// Signs that are tried first, in this order: `[0-9]{4}-[0-9]{2}-[0-9]{2}` becomes a date.
const FAVOURED: [char; 8] = ['1', 'a', 'A', '0', ' ', '-', '_', '.'];

/// Longest text that is made, in bytes.
const LONGEST: usize = 1_000;

/// Groups within each other.
const MAX_DEPTH: usize = 16;

/// `None` for what is not understood: look-around, references, properties of Unicode.
pub fn sample(pattern: &str) -> Option<String> {
    let mut rest = pattern.chars().peekable();
    let text = alternatives(&mut rest, 0)?;
    (rest.next().is_none() && text.len() <= LONGEST).then_some(text)
}

/// The first of what `|` separates, up to the end of the group.
fn alternatives(rest: &mut Peekable<Chars<'_>>, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let first = sequence(rest, depth)?;
    while rest.next_if_eq(&'|').is_some() {
        sequence(rest, depth)?;
    }
    Some(first)
}

fn sequence(rest: &mut Peekable<Chars<'_>>, depth: usize) -> Option<String> {
    let mut text = String::new();
    while let Some(sign) = rest.next_if(|sign| !matches!(sign, '|' | ')')) {
        let piece = match sign {
            '^' | '$' => continue,
            '(' => {
                if rest.next_if_eq(&'?').is_some() {
                    rest.next_if_eq(&':')?;
                }
                let inner = alternatives(rest, depth + 1)?;
                rest.next_if_eq(&')')?;
                inner
            }
            '[' => class(rest)?.to_string(),
            '.' => "a".to_owned(),
            '\\' => escaped(rest.next()?)?.first_sign()?.to_string(),
            '*' | '+' | '?' => return None,
            sign => sign.to_string(),
        };
        let times = repetitions(rest)?;
        if text.len() + piece.len().checked_mul(times)? > LONGEST {
            return None;
        }
        text.push_str(&piece.repeat(times));
    }
    Some(text)
}

/// How often the piece before must stand at least.
fn repetitions(rest: &mut Peekable<Chars<'_>>) -> Option<usize> {
    let times = match rest.peek() {
        Some('*' | '?') => 0,
        Some('+') => 1,
        Some('{') => {
            rest.next();
            let mut least = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                least.push(digit);
            }
            while rest.next_if(|sign| matches!(sign, ',' | '0'..='9')).is_some() {}
            if rest.peek() != Some(&'}') {
                return None;
            }
            least.parse().ok()?
        }
        _ => return Some(1),
    };
    rest.next();
    // As few as possible, which this is anyway.
    rest.next_if_eq(&'?');
    Some(times)
}

/// What a class or an escaped sign stands for.
enum Signs {
    Ranges(&'static [(char, char)]),
    One(char),
}

impl Signs {
    fn first_sign(&self) -> Option<char> {
        match self {
            Self::Ranges(ranges) => {
                FAVOURED.into_iter().find(|sign| ranges.iter().any(|(from, to)| (from..=to).contains(&sign)))
            }
            Self::One(sign) => Some(*sign),
        }
    }
}

fn escaped(sign: char) -> Option<Signs> {
    Some(match sign {
        'd' => Signs::Ranges(&[('0', '9')]),
        'w' => Signs::Ranges(&[('0', '9'), ('a', 'z'), ('A', 'Z'), ('_', '_')]),
        's' => Signs::Ranges(&[(' ', ' ')]),
        'D' | 'W' => Signs::One('-'),
        'S' => Signs::One('1'),
        'n' => Signs::One('\n'),
        't' => Signs::One('\t'),
        sign if !sign.is_ascii_alphanumeric() => Signs::One(sign),
        _ => return None,
    })
}

/// A sign of a class whose `[` is read.
fn class(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let negated = rest.next_if_eq(&'^').is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        let sign = match rest.next()? {
            ']' if !ranges.is_empty() => break,
            '[' => return None,
            '\\' => match escaped(rest.next()?)? {
                Signs::Ranges(own) => {
                    ranges.extend(own);
                    continue;
                }
                Signs::One(sign) => sign,
            },
            sign => sign,
        };
        // A `-` at the end stands for itself.
        let mut ahead = rest.clone();
        let to = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(to)) if to != ']' => {
                rest.next();
                rest.next();
                if to == '\\' { rest.next()? } else { to }
            }
            _ => sign,
        };
        ranges.push((sign, to));
    }
    let within = |sign: &char| ranges.iter().any(|(from, to)| (from..=to).contains(&sign));
    if negated {
        return FAVOURED.into_iter().find(|sign| !within(sign));
    }
    FAVOURED.into_iter().find(within).or_else(|| ranges.first().map(|(from, _)| *from))
}

#[cfg(test)]
mod tests {
    use super::sample;

    #[test]
    fn what_fits() {
        let fitting = [
            ("^cus_[0-9a-z]{4,16}$", "cus_1111"),
            ("^(acc|pay)_[0-9a-z]{4,16}$", "acc_1111"),
            ("^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]$", "1111-11-11T11:11"),
            ("^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$", "AA111111111111"),
            (r"^[^@ ]+@[^@ ]+\.[a-z]{2,}$", "1@1.aa"),
            (r"^\+[0-9 ]{7,20}$", "+1111111"),
            (r"^\d{2}[\w-]x?(?:b|c)*?$", "111"),
            ("[x-z]", "x"),
            ("[-x]", "-"),
            ("", ""),
        ];
        for (pattern, text) in fitting {
            assert_eq!(sample(pattern).as_deref(), Some(text), "{pattern}");
        }
    }

    #[test]
    fn what_is_not_understood() {
        for pattern in
            ["^(?!x)a$", r"^(a)\1$", r"\p{L}", "(a", "a)", "[a", "a{9999}", "((((((((((((((((((a))))))))))))))))))"]
        {
            assert_eq!(sample(pattern), None, "{pattern}");
        }
    }
}
