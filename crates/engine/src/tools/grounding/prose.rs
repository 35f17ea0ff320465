//! Free text: every fact in it is known, of the record that the sentence speaks of, and so is every word that is not
//! ordinary.

mod figures;

use super::fields;
use super::numbers::{self, Number};
use super::reading::{Fact, Token};
use super::scope::Scope;
use super::words;
use figures::{labelled, number_known};

/// The first thing in a text that comes from nowhere.
pub fn unknown(tokens: &[Token], scope: &Scope<'_>) -> Option<String> {
    let mut focus = scope.focus.clone();
    let mut from = 0;
    let sentences = tokens.chunk_by(|a, b| a.sentence == b.sentence);
    for sentence in sentences {
        let mentions = mentions(sentence, scope);
        if let Some((_, record)) = mentions.iter().find(|(_, r)| scope.index.is_foreign(*r, &scope.focus)) {
            let key = scope.index.records[*record].key.clone();
            return Some(key.unwrap_or_default());
        }
        if let Some((at, _)) = mentions.iter().find(|(at, record)| claimed(sentence, *at, *record, scope)) {
            return Some(sentence[*at].raw.to_string());
        }
        let named: Vec<usize> = mentions.iter().map(|(_, record)| *record).collect();
        if let Some(wrong) = misstated(tokens, from..from + sentence.len(), &mentions, &focus, scope) {
            return Some(wrong);
        }
        from += sentence.len();
        focus = scope.index.refocus(&focus, &named);
        let rivals = named
            .iter()
            .any(|a| named.iter().any(|b| a != b && scope.index.records[*a].kind == scope.index.records[*b].kind));
        let fault = if rivals {
            let readings: [Reading; 3] = [nearest_before, nearest_after, in_clause];
            let mut faults = readings.into_iter().map(|near| assigned(sentence, &mentions, scope, near));
            let first = faults.next().flatten();
            if first.is_some() && faults.any(|fault| fault.is_none()) { None } else { first }
        } else {
            let here = Scope::new(scope.index, focus.clone(), scope.always);
            checked(sentence, 0..sentence.len(), &here)
        };
        if fault.is_some() {
            return fault;
        }
    }
    None
}

/// Records that a sentence names, with the places of their names.
fn mentions(sentence: &[Token], scope: &Scope<'_>) -> Vec<Mention> {
    let keys: Vec<String> = sentence.iter().map(Token::key).collect();
    let mut found = Vec::new();
    for (i, record) in scope.index.records.iter().enumerate() {
        let at = record
            .handles
            .iter()
            .find_map(|handle| keys.windows(handle.len()).position(|part| part == handle.as_slice()));
        found.extend(at.map(|at| (at, i)));
    }
    found.sort_unstable();
    found
}

/// `the status of card 17 is open`, `status: open`: what is said by the name of a field is what the field holds.
fn misstated(
    tokens: &[Token],
    range: std::ops::Range<usize>,
    mentions: &[Mention],
    focus: &[usize],
    scope: &Scope<'_>,
) -> Option<String> {
    let start = range.start;
    range.into_iter().find_map(|at| {
        let value = value_after(tokens, at)?;
        let before = |from: usize| mentions.iter().filter(move |(place, _)| (from..value).contains(&(start + place)));
        let mut about: Vec<usize> = before(at).map(|(_, record)| *record).collect();
        if about.is_empty() {
            about = before(start).map(|(_, record)| *record).collect();
            about.reverse();
            about = scope.index.refocus(focus, &about);
            // What a record refers to is named in passing.
            let all = about.clone();
            let passing =
                |r: &usize| all.iter().any(|other| other != r && scope.index.records[*other].above.contains(r));
            about.sort_by_key(passing);
        }
        let field = about.iter().find_map(|record| labelled_by(tokens, at, &scope.index.records[*record].fields))?;
        let said = tokens[value..].iter().enumerate().take_while(|(i, t)| *i == 0 || t.joined).take(4);
        let (place, wrong) = said.into_iter().find(|(_, t)| {
            !t.word().is_some_and(|w| {
                words::is_particle(w) || words::is_ordinary(&words::stem(w)) || !w.chars().all(char::is_alphanumeric)
            })
        })?;
        let plain = wrong.word().is_some_and(|w| words::denies(w) || numbers::unit(w).is_some());
        let states = wrong.word().is_some_and(|w| states(field, w));
        let stated = field.tokens.iter().any(|known| fields::same(&wrong.fact, known))
            || fields::part_of_code(wrong, &field.tokens);
        let in_text = matches!(&wrong.fact, Fact::Number(n) if scope.has_number_in_text(n));
        let grouped = spaced_code(tokens, value + place, scope);
        (!plain && !states && !stated && !in_text && !grouped).then(|| wrong.raw.to_string())
    })
}

/// The field whose whole name ends at a token.
fn labelled_by<'a>(
    tokens: &[Token],
    at: usize,
    fields: &'a [super::records::Field],
) -> Option<&'a super::records::Field> {
    let ends = |field: &&super::records::Field| {
        let long = field.label.len();
        long > 0 && long <= at + 1 && tokens[at + 1 - long..=at].iter().map(Token::key).eq(field.label.iter().cloned())
    };
    fields.iter().filter(|f| !f.is_text()).filter(ends).max_by_key(|f| f.label.len())
}

/// Where the value begins that is said after a name: after `is`, with little between, or after a colon.
fn value_after(tokens: &[Token], at: usize) -> Option<usize> {
    let label = &tokens[at];
    if tokens.get(at + 1).is_some_and(|t| t.colon) {
        return Some(at + 1);
    }
    // "Four nights": the word belongs to its number.
    if at.checked_sub(1).is_some_and(|i| matches!(tokens[i].fact, Fact::Number(_)) && label.joined) {
        return None;
    }
    let rest = tokens[at + 1..]
        .iter()
        .take(5)
        .take_while(|t| t.sentence == label.sentence && t.joined && !matches!(t.fact, Fact::Date(_)));
    let verb = rest.enumerate().find(|(_, t)| matches!(t.word(), Some("is" | "was" | "are")))?.0;
    Some(at + verb + 2).filter(|value| *value < tokens.len())
}

/// `your plan is Boulder`, of a record whose plan is another one.
fn claimed(sentence: &[Token], at: usize, record: usize, scope: &Scope<'_>) -> bool {
    let kind = &scope.index.records[record].kind;
    let [.., label, verb] = &sentence[..at] else { return false };
    let label = label.word().map(words::stem);
    matches!(verb.word(), Some("is" | "was"))
        && scope.index.kinds.iter().any(|(name, of)| Some(name) == label.as_ref() && of == kind)
        && !scope.within.contains(&record)
}

type Mention = (usize, usize);
type Reading = fn(&[Token], &[Mention], usize) -> Option<Mention>;

/// Three ways to say which record a fact belongs to: the one named before it, the one named after it, or the one named
/// between the same commas. A sentence is true if one of them makes all of it true.
fn nearest_before(_: &[Token], mentions: &[Mention], at: usize) -> Option<Mention> {
    mentions.iter().rev().find(|(place, _)| *place <= at).or(mentions.first()).copied()
}

fn nearest_after(_: &[Token], mentions: &[Mention], at: usize) -> Option<Mention> {
    mentions.iter().find(|(place, _)| *place >= at).or(mentions.last()).copied()
}

fn in_clause(sentence: &[Token], mentions: &[Mention], at: usize) -> Option<Mention> {
    let parts = |t: &Token| !t.joined || t.word() == Some("and");
    let from = (0..=at).rev().find(|i| parts(&sentence[*i])).unwrap_or(0);
    let to = (at + 1..sentence.len()).find(|i| parts(&sentence[*i])).unwrap_or(sentence.len());
    mentions.iter().find(|(place, _)| (from..to).contains(place)).copied()
}

fn assigned(sentence: &[Token], mentions: &[Mention], scope: &Scope<'_>, near: Reading) -> Option<String> {
    (0..sentence.len()).find_map(|at| {
        let Some((place, record)) = near(sentence, mentions, at) else { return checked(sentence, at..at + 1, scope) };
        let mut named = vec![record];
        // Records that are named in one breath are spoken of together.
        for (other, record) in mentions {
            let (low, high) = (place.min(*other), place.max(*other));
            let between = &sentence[low..=high];
            let listed = between.len() <= 8
                && between.iter().skip(1).all(|t| {
                    matches!(t.word(), Some("and" | "or"))
                        || !matches!(t.fact, Fact::Number(_) | Fact::Date(_) | Fact::Word(_))
                });
            if listed && !named.contains(record) {
                named.push(*record);
            }
        }
        let focus = scope.index.refocus(&scope.focus, &named);
        checked(sentence, at..at + 1, &Scope::new(scope.index, focus, scope.always))
    })
}

fn checked(sentence: &[Token], range: std::ops::Range<usize>, scope: &Scope<'_>) -> Option<String> {
    range.into_iter().find_map(|at| {
        let token = &sentence[at];
        let known = match &token.fact {
            Fact::Word(word) => word_known(sentence, at, word, scope),
            Fact::Number(number) => number_known(sentence, at, number, scope),
            Fact::Date(days) => scope.has_date(days) && labelled(sentence, at, scope),
            Fact::Time(minutes) => scope.has_time(*minutes),
            Fact::Code(code) => code_known(sentence, at, code, scope),
        };
        (!known && !spaced_code(sentence, at, scope)).then(|| token.raw.to_string())
    })
}

fn code_known(sentence: &[Token], at: usize, code: &str, scope: &Scope<'_>) -> bool {
    let masked = code.trim_start_matches(['x', '*', '.', '-']);
    scope.has_code(code)
        || (masked != code && scope.has_ending(masked))
        || (partial(sentence, at) && scope.has_ending(code))
}

/// `ending in 4417`, `last four digits 4417`.
fn partial(sentence: &[Token], at: usize) -> bool {
    let near = &sentence[at.saturating_sub(5)..at];
    near.iter().any(|t| matches!(t.word(), Some("ending" | "ends" | "end" | "last" | "digits" | "final")))
}

/// An id that is written in groups: `ZZ10 HBLB 0000`.
fn spaced_code(sentence: &[Token], at: usize, scope: &Scope<'_>) -> bool {
    (at.saturating_sub(8)..=at).any(|from| {
        (at + 1..=sentence.len().min(from + 9)).any(|to| {
            let row = &sentence[from..to];
            row.len() > 1
                && row.iter().skip(1).all(|t| t.joined)
                && scope.has_code(&row.iter().map(|t| t.raw.replace(' ', "")).collect::<String>())
        })
    })
}

fn denied(sentence: &[Token], at: usize) -> bool {
    sentence[at.saturating_sub(4)..at].iter().any(|t| t.word().is_some_and(words::denies))
}

fn word_known(sentence: &[Token], at: usize, word: &str, scope: &Scope<'_>) -> bool {
    let stem = words::stem(word);
    let token = &sentence[at];
    let label = |f: &super::records::Field| {
        f.label.len() > 1 && sentence[at..].iter().take(f.label.len()).map(Token::key).eq(f.label.iter().cloned())
    };
    if scope.fields().any(label) {
        return true;
    }
    if let Some(truth) = listed(word, &stem, scope) {
        let truth = truth || said_of_others(sentence, word, scope);
        return truth != denied(sentence, at);
    }
    if words::denies(word) {
        return !denies_records(sentence, at, scope);
    }
    let name = token.capital && !token.opens;
    if matches!(stem.as_str(), "free" | "grati" | "complimentar") && !denied(sentence, at) {
        return scope.has_number(&Number::plain("0")) || scope.has_word(word);
    }
    if words::is_ordinary(&stem) && !(name && words::may_be_name(word)) {
        return true;
    }
    if matches!(word, "tomorrow" | "yesterday") {
        let shift = if word == "tomorrow" { 1 } else { -1 };
        return scope.always.dates.iter().any(|now| now.shifted(shift).is_some_and(|day| scope.has_date(&[day])));
    }
    if name {
        return (scope.has_word(word) || scope.has_stem(&stem)) && paired(sentence, at, scope);
    }
    scope.has_word(word) || scope.has_stem(&stem) || (word.len() == 1 && token.capital && initial(word, scope))
}

fn initial(letter: &str, scope: &Scope<'_>) -> bool {
    scope.fields().any(|f| f.tokens.iter().any(|t| t.capital && t.word().is_some_and(|w| w.starts_with(letter))))
}

/// Two names side by side stand side by side in a record.
fn paired(sentence: &[Token], at: usize, scope: &Scope<'_>) -> bool {
    let Some(before) = at.checked_sub(1).map(|i| &sentence[i]) else { return true };
    let Some(first) = before.word() else { return true };
    let stem = words::stem(first);
    let plain = !before.capital || !sentence[at].joined || words::is_ordinary(&stem) || scope.has_stem(&stem);
    plain || scope.has_pair(first, &sentence[at].key()) || scope.has_stem(&words::stem(&sentence[at].key()))
}

/// Whether a word that some record of a kind in focus holds as one of few possible values is true of those in focus.
/// `None`: it is no such word.
fn listed(word: &str, stem: &str, scope: &Scope<'_>) -> Option<bool> {
    let mut truth = None;
    for record in &scope.focus {
        let record = &scope.index.records[*record];
        for field in record.fields.iter().filter(|f| is_state(f)) {
            if states(field, word) {
                return Some(true);
            }
            let others =
                || scope.index.records.iter().filter(|other| other.kind == record.kind).flat_map(|r| &r.fields);
            let in_state = field.name.iter().any(|n| n.starts_with("stat"))
                || field.tokens.iter().any(|t| t.word().is_some_and(words::is_state));
            if (words::is_state(word) && in_state) || others().any(|f| f.path == field.path && states(f, word)) {
                truth = Some(false);
            }
        }
    }
    // What stands in another value of the record, or in its texts, may be said for that reason.
    let said = |f: &super::records::Field| {
        !is_state(f) && f.tokens.iter().any(|t| t.word().is_some_and(|w| words::stem(w) == stem))
    };
    truth.filter(|_| !scope.focus.iter().any(|r| scope.index.records[*r].fields.iter().any(said)))
}

/// Whether the sentence names a kind of records of which one in reach is in that state: `one of the invoices is overdue`.
fn said_of_others(sentence: &[Token], word: &str, scope: &Scope<'_>) -> bool {
    let index = scope.index;
    let kinds = sentence
        .iter()
        .filter_map(Token::word)
        .map(words::stem)
        .flat_map(|stem| index.kinds.iter().filter(move |(name, _)| *name == stem).map(|(_, kind)| kind));
    kinds.into_iter().any(|kind| {
        let others = !scope.focus.iter().any(|f| index.records[*f].kind == *kind);
        let mut all = scope.within.iter().map(|r| &index.records[*r]).filter(|r| r.kind == *kind);
        others && all.any(|r| r.fields.iter().any(|f| is_state(f) && states(f, word)))
    })
}

/// A value that is one of a list: one lower-case word, or several tied together.
fn is_state(field: &super::records::Field) -> bool {
    let [token] = field.tokens.as_slice() else { return false };
    match &token.fact {
        Fact::Word(_) => !token.capital,
        Fact::Code(code) => code.contains('_') && !code.contains(|c: char| c.is_ascii_digit()),
        _ => false,
    }
}

fn states(field: &super::records::Field, word: &str) -> bool {
    match field.tokens.first().map(|t| &t.fact) {
        Some(Fact::Word(own)) => words::same_state(own, word),
        Some(Fact::Code(code)) => {
            code.split('_').any(|part| !words::is_particle(part) && words::same_state(part, word))
        }
        _ => false,
    }
}

/// `there is no such order`, `was not found` of a record that is there.
fn denies_records(sentence: &[Token], at: usize, scope: &Scope<'_>) -> bool {
    let rest = &sentence[at..sentence.len().min(at + 5)];
    let existence = rest
        .iter()
        .filter_map(Token::word)
        .any(|w| matches!(w, "found" | "find" | "exist" | "exists" | "such" | "match" | "matches" | "matching"));
    let kinds = rest.iter().skip(1).take(2).filter_map(Token::word).map(words::stem);
    let there = |stem: String| {
        scope.index.kinds.iter().filter(|(name, _)| *name == stem).any(|(_, kind)| {
            scope.within.iter().any(|r| {
                let record = &scope.index.records[*r];
                record.kind == *kind && scope.focus.iter().any(|f| record.above.contains(f))
            })
        })
    };
    let none = sentence[at].word() == Some("no") && kinds.into_iter().any(there);
    !scope.focus.is_empty() && (existence || none)
}
