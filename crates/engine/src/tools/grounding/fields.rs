//! Values under a name: what a field of an answer says must be what that field of the record says.

use serde_json::Value;

use super::reading::{Fact, Token, read};
use super::records::{Field, Index, canonical, stems};
use super::scope::Scope;
use super::words;

/// Fields of one record that a name of the answer means: of the same name, else of one that is part of the other.
pub fn named<'a>(index: &'a Index, record: usize, name: &[String]) -> Vec<&'a Field> {
    let wanted = own_name(index, record, name);
    // The id of a record is its key.
    if wanted == ["id"] {
        return Vec::new();
    }
    let record = &index.records[record];
    let exact: Vec<&Field> = record.fields.iter().filter(|f| f.name == wanted || f.path == wanted).collect();
    if !exact.is_empty() {
        return exact;
    }
    record.fields.iter().filter(|f| is_part(&f.path, &wanted) || is_part(&wanted, &f.name)).collect()
}

/// A name without the kind of record it speaks of: `transaction_amount` is the amount of a transaction. Empty if it
/// speaks of a record of another kind.
fn own_name(index: &Index, record: usize, name: &[String]) -> Vec<String> {
    let mut name = name.to_vec();
    let kind = &index.records[record].kind;
    if name.len() > 1
        && let Some((_, of)) = index.kinds.iter().find(|(stem, _)| name.first().is_some_and(|first| first == stem))
    {
        let own_field = index.records[record].fields.iter().any(|f| f.name == name);
        if of == kind {
            name.remove(0);
        } else if !own_field {
            return Vec::new();
        }
    }
    name
}

/// Whether all words of a name stand in another, longer one, of which the last says what it is.
fn is_part(long: &[String], short: &[String]) -> bool {
    !short.is_empty()
        && short.len() < long.len()
        && short.iter().all(|word| long.contains(word))
        && long.last() == short.last()
}

/// Whether a value says the same as a field, in whatever form, or less of it.
pub fn agrees(value: &Value, field: &Field) -> bool {
    match (value, &field.value) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Bool(a), Value::String(text)) => affirmed(text) == Some(*a),
        (Value::String(text), Value::Bool(b)) => affirmed(text) == Some(*b),
        (Value::Number(_), Value::Number(_)) => canonical(value) == canonical(&field.value),
        (Value::Number(_), _) => field.tokens.len() == 1 && tokens_agree(&read(&canonical(value)), &field.tokens),
        (Value::String(text), _) => tokens_agree(&read(text), &field.tokens),
        _ => false,
    }
}

fn affirmed(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}

fn tokens_agree(said: &[Token], known: &[Token]) -> bool {
    let telling = said.iter().filter(|t| t.word().is_none_or(|w| !words::is_particle(w)));
    let mut any = false;
    for token in telling {
        any = true;
        if !known.iter().any(|k| same(&token.fact, k)) && !part_of_code(token, known) {
            return false;
        }
    }
    any
}

pub fn part_of_code(token: &Token, known: &[Token]) -> bool {
    let plain = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let ending = token.raw.len() > 3 && token.raw.chars().all(char::is_alphanumeric);
    known.iter().any(|k| match &k.fact {
        Fact::Code(code) => {
            let word = token.word().is_some_and(|w| code.split('_').any(|part| words::stem(part) == words::stem(w)));
            word || (ending && plain(code).ends_with(&plain(&token.raw))) || plain(code) == plain(&token.raw)
        }
        _ => false,
    })
}

/// Whether a fact and a token of a record say the same.
pub fn same(said: &Fact, known: &Token) -> bool {
    match (said, &known.fact) {
        (Fact::Word(a), Fact::Word(b)) => a == b || (!known.capital && words::stem(a) == words::stem(b)),
        (Fact::Number(a), Fact::Number(b)) => a.equals(b),
        (Fact::Date(a), Fact::Date(b)) => a.iter().any(|a| b.iter().any(|b| a.fits(*b))),
        (Fact::Time(a), Fact::Time(b)) => a == b,
        (Fact::Code(a), Fact::Code(b)) => a == b,
        (Fact::Code(a), Fact::Word(_)) => a.split('_').any(|part| same(&Fact::Word(part.into()), known)),
        _ => false,
    }
}

/// Whether a value may stand under a name here; `None` if no record has such a field.
pub fn allowed(scope: &Scope<'_>, name: &str, value: &Value) -> Option<bool> {
    let name = &stems(name);
    for record in &scope.focus {
        let fields = named(scope.index, *record, name);
        if !fields.is_empty() {
            return Some(fields.iter().any(|field| agrees(value, field)));
        }
    }
    let mut found = None;
    for record in &scope.within {
        for field in named(scope.index, *record, name) {
            if agrees(value, field) {
                return Some(true);
            }
            found = Some(false);
        }
    }
    found
}

/// Values that stand side by side without the key of a record must be side by side in one record, too.
pub fn in_one_record(scope: &Scope<'_>, fields: &[(&String, &Value)]) -> bool {
    let fields: Vec<(Vec<String>, &Value)> = fields.iter().map(|(name, value)| (stems(name), *value)).collect();
    if fields.len() < 2 {
        return true;
    }
    let mut best = 0;
    let mut fits = true;
    for record in &scope.within {
        let known: Vec<bool> = fields
            .iter()
            .filter_map(|(name, value)| {
                let found = named(scope.index, *record, name);
                (!found.is_empty()).then(|| found.iter().any(|field| agrees(value, field)))
            })
            .collect();
        let good = known.iter().all(|b| *b);
        if known.len() > best {
            (best, fits) = (known.len(), good);
        } else if known.len() == best {
            fits |= good;
        }
    }
    best < 2 || fits
}
