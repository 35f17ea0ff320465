//! Numbers and dates in free text: counts of records, and values of the field that is named before them.

use super::super::numbers::{Number, Unit};
use super::super::reading::{Fact, Token};
use super::super::records::Field;
use super::super::scope::Scope;
use super::super::words;
use super::{partial, states};

pub fn number_known(sentence: &[Token], at: usize, number: &Number, scope: &Scope<'_>) -> bool {
    if let Some(counted) = counted(sentence, at, number, scope) {
        return counted;
    }
    // "One of your cards".
    if number.value() == "1" && number.unit.is_none() && sentence[at].spelled && !followed_by_noun(sentence, at) {
        return true;
    }
    let raw = &sentence[at].raw;
    let code = number.unit.is_none()
        && raw.len() > 2
        && (scope.has_code(raw) || (partial(sentence, at) && scope.has_ending(raw)));
    code || (scope.has_number(number) && labelled(sentence, at, scope))
}

fn followed_by_noun(sentence: &[Token], at: usize) -> bool {
    sentence
        .get(at + 1)
        .and_then(Token::word)
        .is_some_and(|w| !words::is_particle(w) && !words::is_ordinary(&words::stem(w)))
}

/// `two cards`, `3 guests`: as many as there are, or as a field of that name says. `None`: nothing known is counted.
fn counted(sentence: &[Token], at: usize, number: &Number, scope: &Scope<'_>) -> Option<bool> {
    if !number.value().bytes().all(|b| b.is_ascii_digit())
        || matches!(number.unit, Some(Unit::Money(_) | Unit::Percent))
    {
        return None;
    }
    let after = sentence.get(at + 1..sentence.len().min(at + 3))?;
    for (i, noun) in after.iter().enumerate() {
        if !noun.joined {
            break;
        }
        let Some(word) = noun.word() else { break };
        let stem = words::stem(word);
        let plural = word.ends_with('s') || number.value() == "1";
        let kind = scope.index.kinds.iter().find(|(name, _)| *name == stem).filter(|_| plural);
        let fields: Vec<_> = scope
            .fields()
            .filter(|f| {
                f.name.contains(&stem) && matches!(f.value, serde_json::Value::Number(_)) && number.unit.is_none()
            })
            .collect();
        if kind.is_none() && fields.is_empty() {
            continue;
        }
        let as_field =
            fields.iter().any(|f| f.tokens.iter().any(|t| matches!(&t.fact, Fact::Number(n) if n.equals(number))));
        let how = after.first().filter(|_| i > 0).and_then(Token::word);
        let as_count = kind.is_some_and(|(_, kind)| count(kind, how, scope).to_string() == number.value());
        let written = scope.has_pair(number.value(), word) || (kind.is_none() && scope.has_number_in_text(number));
        return Some(as_field || as_count || written);
    }
    None
}

/// The records of a kind that may be spoken of, those in a state only if one is named.
fn count(kind: &str, how: Option<&str>, scope: &Scope<'_>) -> usize {
    let all: Vec<_> = scope.within.iter().map(|r| &scope.index.records[*r]).filter(|r| r.kind == kind).collect();
    let narrowed = all.iter().filter(|r| how.is_some_and(|how| r.fields.iter().any(|f| states(f, how)))).count();
    if narrowed > 0 { narrowed } else { all.len() }
}

/// What stands right after the name of a field is that field's value, unless a text says it, too.
pub fn labelled(sentence: &[Token], at: usize, scope: &Scope<'_>) -> bool {
    const GLUE: [&str; 21] = [
        "is",
        "was",
        "are",
        "of",
        "on",
        "at",
        "in",
        "the",
        "a",
        "your",
        "stands",
        "amounts",
        "to",
        "now",
        "currently",
        "comes",
        "will",
        "be",
        "until",
        "currency",
        "still",
    ];
    let mut before = sentence[..at].iter().rev().skip_while(|t| t.word().is_some_and(|w| GLUE.contains(&w)));
    let Some(label) = before.next().and_then(Token::word).map(words::stem) else { return true };
    // "For four nights": the word belongs to the number before it.
    if before.next().is_some_and(|t| matches!(t.fact, Fact::Number(_))) {
        return true;
    }
    let fact = &sentence[at].fact;
    let same = |f: &&Field| f.name.contains(&label) && !f.is_text() && f.tokens.iter().any(|t| t.fact.is_like(fact));
    let value = |f: &Field| {
        f.tokens.iter().any(|t| match (&t.fact, fact) {
            (Fact::Number(a), Fact::Number(b)) => a.equals(b),
            (Fact::Date(a), Fact::Date(b)) => b.iter().any(|b| a.iter().any(|a| b.fits(*a))),
            _ => false,
        })
    };
    let own: Vec<_> = scope.focus.iter().flat_map(|r| &scope.index.records[*r].fields).filter(same).collect();
    let pool = if own.is_empty() { scope.fields().filter(same).collect() } else { own };
    if pool.is_empty() || pool.into_iter().any(value) {
        return true;
    }
    match fact {
        Fact::Number(number) => scope.has_number_in_text(number),
        Fact::Date(days) => scope.fields().filter(|f| f.is_text()).any(|f| {
            f.tokens
                .iter()
                .any(|t| matches!(&t.fact, Fact::Date(known) if days.iter().any(|d| known.iter().any(|k| d.fits(*k)))))
        }),
        _ => true,
    }
}
