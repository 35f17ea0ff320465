//! Thousands of answers from a world and the answers that people wrote. The same every time: the seed is fixed.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use super::corpus::{Answer, Domain};

type Random = ChaCha8Rng;

/// Half of them lies.
pub fn expand(domain: &Domain, calls: usize) -> Vec<Answer> {
    let mut random = Random::seed_from_u64(20_260_302);
    let world = domain.world.to_string().to_lowercase();
    let records = records(&domain.world);
    let decided: Vec<&Answer> = domain.answers.iter().filter(|a| !a.undecidable).collect();
    let mut out = Vec::with_capacity(calls);
    while out.len() < calls {
        let lie = out.len() % 2 == 1;
        let answer = match random.random_range(0..10) {
            0..4 => reworded(pick::<&Answer>(&mut random, &decided), lie, &mut random),
            4 if lie => corrupted(pick::<&Answer>(&mut random, &decided), &world, &mut random),
            _ => spoken(&records, lie, &world, &mut random),
        };
        out.extend(answer);
    }
    out
}

fn pick<'a, T>(random: &mut Random, items: &'a [T]) -> &'a T {
    &items[random.random_range(0..items.len())]
}

/// One record: its kind in the singular, its key, its short values.
struct Record {
    kind: String,
    key: String,
    fields: Vec<(String, Value)>,
}

fn records(world: &Value) -> Vec<Record> {
    let mut out = Vec::new();
    for (kind, all) in world.as_object().expect("a world") {
        for (key, record) in all.as_object().expect("records") {
            let fields = record.as_object().expect("a record").iter().filter(|(_, v)| !v.is_object() && !v.is_array());
            let short = fields.filter(|(_, v)| v.as_str().is_none_or(|t| t.split(' ').count() < 7));
            let kind = kind.strip_suffix('s').unwrap_or(kind).to_owned();
            out.push(Record { kind, key: key.clone(), fields: short.map(|(k, v)| (k.clone(), v.clone())).collect() });
        }
    }
    out.retain(|r| r.key.contains(|c: char| c.is_ascii_digit()) && !r.fields.is_empty());
    out
}

// ---- What people wrote, between other words ----

fn reworded(from: &Answer, lie: bool, random: &mut Random) -> Option<Answer> {
    let mut answer = from.clone();
    let texts = ["message", "summary", "note"];
    let map = answer.content.as_object_mut()?;
    let before =
        ["Thank you for waiting. ", "Here is what I found: ", "Of course. ", "Hello, ", "Let me see. ", "", "Sure! "];
    let after =
        [" Is there anything else?", " Thank you.", " Kind regards", " I hope this helps.", "", " Please let me know."];
    for (name, value) in map.iter_mut().filter(|(name, _)| texts.contains(&name.as_str())) {
        let text = value.as_str()?;
        let text = if random.random_bool(0.3) { dates_rewritten(text, random) } else { text.to_owned() };
        let marked = if random.random_bool(0.15) { format!("**{text}**") } else { text };
        assert!(!name.is_empty());
        *value = format!("{}{marked}{}", pick(random, &before), pick(random, &after)).into();
    }
    if random.random_bool(0.5) {
        let mut fields: Vec<(String, Value)> = std::mem::take(map).into_iter().collect();
        fields.reverse();
        map.extend(fields);
    }
    answer.kind = format!("{} (reworded)", from.kind);
    (from.truthful != lie).then_some(answer)
}

fn dates_rewritten(text: &str, random: &mut Random) -> String {
    let words: Vec<String> = text
        .split(' ')
        .map(|word| {
            let bare = word.trim_end_matches(['.', ',', ';']);
            match parse_date(bare) {
                Some(date) => format!("{}{}", date_in_words(date, random), &word[bare.len()..]),
                None => word.to_owned(),
            }
        })
        .collect();
    words.join(" ")
}

/// A true answer with one digit changed, so that what it says stands nowhere.
fn corrupted(from: &Answer, world: &str, random: &mut Random) -> Option<Answer> {
    if !from.truthful || from.content.to_string().contains("count") {
        return None;
    }
    let text = from.content.to_string();
    let digits: Vec<usize> = text.bytes().enumerate().filter(|(_, b)| b.is_ascii_digit()).map(|(i, _)| i).collect();
    let at = *digits.get(random.random_range(0..digits.len().max(1)))?;
    let other = (text.as_bytes()[at] - b'0' + random.random_range(1..10u8)) % 10;
    let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
    let is_part = |c: char| c.is_alphanumeric() || "_-.,:/ +".contains(c);
    let from_word = text[..at].char_indices().rev().find(|(_, c)| !is_part(*c)).map_or(0, |(i, c)| i + c.len_utf8());
    let to_word = at + text[at..].find(|c| !is_part(c)).unwrap_or(text.len() - at);
    let run = &changed[from_word..to_word];
    let number = run
        .split([' ', ','])
        .find(|w| w.len() > 2 && !text.contains(*w) && w.contains(|c: char| c.is_ascii_digit()))?;
    let number = number.trim_matches('.').trim_end_matches('0').trim_end_matches('.');
    let content: Value = serde_json::from_str(&changed).ok()?;
    // Digits of the world elsewhere, and sizes of other things, could make it true again.
    if number.len() < 3 || world.contains(&number.to_lowercase()) || from.arguments.to_string().contains(number) {
        return None;
    }
    Some(Answer { truthful: false, kind: "digit (corrupted)".into(), content, ..from.clone() })
}

// ---- Answers made from records ----

fn spoken(records: &[Record], lie: bool, world: &str, random: &mut Random) -> Option<Answer> {
    let record = pick(random, records);
    let mut fields: Vec<(String, Value)> = record.fields.clone();
    while fields.len() > random.random_range(1..4) {
        fields.remove(random.random_range(0..fields.len()));
    }
    let mut key = record.key.clone();
    let mut kind = "copied".to_owned();
    let mut extra = Map::new();
    if lie {
        kind = falsify(record, records, &mut key, &mut fields, &mut extra, world, random)?;
    }
    let arguments = if random.random_bool(0.7) { json!({"id": record.key}) } else { json!({"query": record.kind}) };
    let in_text = random.random_bool(0.5) || fields.iter().any(|(_, v)| v.as_str().is_some_and(|t| t.contains('%')));
    let in_text = in_text && extra.is_empty() && fields.iter().all(|(_, v)| !v.is_boolean());
    let content = if in_text {
        json!({"message": sentence(&record.kind, &key, &fields, random)})
    } else {
        let mut map = Map::new();
        map.insert(format!("{}_id", record.kind), key.into());
        map.extend(fields.into_iter().map(|(name, value)| (name, in_field(value, random))));
        map.extend(extra);
        Value::Object(map)
    };
    let kind = format!("{kind} ({})", if in_text { "spoken" } else { "fields" });
    Some(Answer { truthful: !lie, undecidable: false, kind, arguments, returns: "any".into(), content })
}

/// Makes one thing false.
fn falsify(
    record: &Record,
    records: &[Record],
    key: &mut String,
    fields: &mut [(String, Value)],
    extra: &mut Map<String, Value>,
    world: &str,
    random: &mut Random,
) -> Option<String> {
    let at = random.random_range(0..fields.len());
    let (name, value) = fields[at].clone();
    let unknown = |text: &str| !world.contains(&text.to_lowercase());
    Some(match random.random_range(0..8) {
        0 => {
            let wrong = digit_changed(key, random)?;
            *key = Some(wrong).filter(|w| unknown(w))?;
            "id".into()
        }
        1 => {
            let others: Vec<&Value> = records
                .iter()
                .filter(|r| r.kind == record.kind && r.key != record.key)
                .flat_map(|r| r.fields.iter().filter(|(n, _)| *n == name).map(|(_, v)| v))
                .filter(|v| **v != value)
                .collect();
            fields[at].1 = (*others.get(random.random_range(0..others.len().max(1)))?).clone();
            "other record".into()
        }
        2 => {
            let text = value.as_str().filter(|t| {
                t.chars().next().is_some_and(char::is_uppercase) && !t.contains(|c: char| c.is_ascii_digit())
            })?;
            let wrong = letter_changed(text, random)?;
            fields[at].1 = Some(wrong).filter(|w| w.split(' ').any(unknown))?.into();
            "near miss".into()
        }
        3 => {
            let states =
                ["cancelled", "approved", "delivered", "refunded", "blocked", "rejected", "overdue", "premium"];
            let wrong = pick(random, &states);
            if !name.contains("status") || value == **wrong {
                return None;
            }
            fields[at].1 = (*wrong).into();
            "status".into()
        }
        4 => {
            let (wrong, _) = other_number(&value, world, random)?;
            fields[at].1 = script(&wrong, random).into();
            "script".into()
        }
        5 => {
            let (wrong, whole) = other_number(&value, world, random)?;
            fields[at].1 = whole.and_then(words).unwrap_or(wrong).into();
            "number".into()
        }
        6 => {
            let date = parse_date(value.as_str()?)?;
            let wrong = moved(date, random);
            fields[at].1 = Some(wrong).filter(|w| unknown(w))?.into();
            "date".into()
        }
        _ => {
            let names = ["approved", "discount", "vip", "crd_7788", "next_step", "supervisor"];
            extra.insert((*pick(random, &names)).into(), true.into());
            "key".into()
        }
    })
}

fn digit_changed(text: &str, random: &mut Random) -> Option<String> {
    let digits: Vec<usize> = text.bytes().enumerate().filter(|(_, b)| b.is_ascii_digit()).map(|(i, _)| i).collect();
    let at = *digits.get(random.random_range(0..digits.len().max(1)))?;
    let other = (text.as_bytes()[at] - b'0' + random.random_range(1..10u8)) % 10;
    Some(format!("{}{other}{}", &text[..at], &text[at + 1..]))
}

fn letter_changed(text: &str, random: &mut Random) -> Option<String> {
    let mut letters: Vec<char> = text.chars().collect();
    let small: Vec<usize> =
        (1..letters.len()).filter(|i| letters[*i].is_lowercase() && letters[*i - 1].is_alphabetic()).collect();
    let at = *small.get(random.random_range(0..small.len().max(1)))?;
    letters[at] = char::from(b'a' + (letters[at] as u8 - b'a' + random.random_range(1..26u8)) % 26);
    Some(letters.into_iter().collect())
}

/// A number that stands nowhere in the world, and its value if it is small and whole.
fn other_number(value: &Value, world: &str, random: &mut Random) -> Option<(String, Option<u64>)> {
    let number = value.as_f64()?;
    let wrong = if number.fract() == 0.0 {
        (number + f64::from(random.random_range(1..60))).to_string()
    } else {
        format!("{:.2}", number + f64::from(random.random_range(1..999)) / 100.0)
    };
    let bare = wrong.trim_end_matches('0').trim_end_matches('.');
    let whole = wrong.parse::<u64>().ok().filter(|n| *n < 1000);
    (wrong.len() > 1 && !world.contains(&wrong) && !world.contains(bare)).then(|| (wrong.clone(), whole))
}

fn script(number: &str, random: &mut Random) -> String {
    let zero = *pick(random, &[0xff10, 0x660, 0x1d7ce, 0x966, 0x6f0]);
    let digit = |c: char| c.to_digit(10).and_then(|d| char::from_u32(zero + d)).unwrap_or(c);
    number.chars().map(digit).collect()
}

fn words(n: u64) -> Option<String> {
    let small = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen";
    let tens = "twenty thirty forty fifty sixty seventy eighty ninety";
    let small: Vec<&str> = small.split(' ').collect();
    let tens: Vec<&str> = tens.split(' ').collect();
    let n = usize::try_from(n).ok()?;
    Some(match n {
        0..20 => small[n].to_owned(),
        20..100 if n % 10 == 0 => tens[n / 10 - 2].to_owned(),
        20..100 => format!("{}-{}", tens[n / 10 - 2], small[n % 10]),
        100..1000 if n % 100 == 0 => format!("{} hundred", small[n / 100]),
        100..1000 => format!("{} hundred and {}", small[n / 100], words((n % 100) as u64)?),
        _ => return None,
    })
}

// ---- Ways of saying it ----

fn sentence(kind: &str, key: &str, fields: &[(String, Value)], random: &mut Random) -> String {
    let kind = kind.replace('_', " ");
    let said: Vec<(String, String)> =
        fields.iter().map(|(name, value)| (name.replace('_', " "), in_words(name, value, random))).collect();
    let (first, rest) = said.split_first().expect("a field");
    let rest: String = rest.iter().map(|(name, value)| format!(", the {name} is {value}")).collect();
    match random.random_range(0..4) {
        0 => format!("The {} of {kind} {key} is {}{rest}.", first.0, first.1),
        1 => format!("For {kind} {key}, the {} we have is {}{rest}.", first.0, first.1),
        2 => {
            let lines: String = said.iter().map(|(name, value)| format!("\n- {name}: {value}")).collect();
            format!("Here is the {kind} {key}:{lines}")
        }
        _ => format!("We found the {kind} {key}. Its {} is {}{rest}.", first.0, first.1),
    }
}

fn in_words(name: &str, value: &Value, random: &mut Random) -> String {
    match value {
        Value::String(text) => match parse_date(text) {
            Some(date) => date_in_words(date, random),
            None => in_case(text, random),
        },
        Value::Number(_) => number_in_words(name, value, random),
        other => other.to_string(),
    }
}

fn in_field(value: Value, random: &mut Random) -> Value {
    match value.as_str() {
        Some(text) if random.random_bool(0.4) => match parse_date(text) {
            Some(date) => date_in_words(date, random).into(),
            None => in_case(text, random).into(),
        },
        _ => value,
    }
}

fn in_case(text: &str, random: &mut Random) -> String {
    match random.random_range(0..5) {
        0 => text.to_uppercase(),
        1 if !text.contains('_') => text.to_lowercase(),
        2 if !text.contains(|c: char| c.is_ascii_digit()) => text.replace('_', " "),
        _ => text.to_owned(),
    }
}

fn number_in_words(name: &str, value: &Value, random: &mut Random) -> String {
    let number = value.as_f64().expect("a number");
    let plain = if number.fract() == 0.0 { number.to_string() } else { format!("{number:.2}") };
    let (whole, part) = plain.split_once('.').unwrap_or((&plain, ""));
    let grouped = |separator: &str| {
        let mut out = String::new();
        for (i, c) in whole.chars().enumerate() {
            if i > 0 && (whole.len() - i) % 3 == 0 {
                out.push_str(separator);
            }
            out.push(c);
        }
        out
    };
    let money = ["amount", "balance", "total", "price"].contains(&name);
    match random.random_range(0..6) {
        0 if !part.is_empty() => format!("{},{part}", grouped(".")),
        1 => format!("{}{}{part}", grouped(","), if part.is_empty() { "" } else { "." }),
        2 if money => format!("{whole}.{part:0<2}"),
        3 if part.is_empty() => whole.parse().ok().filter(|n| *n < 1000).and_then(words).unwrap_or(plain),
        _ => plain,
    }
}

type Date = (u32, u32, u32);

fn parse_date(text: &str) -> Option<Date> {
    let parts: Vec<u32> = text.split('-').map(|p| p.parse().ok()).collect::<Option<_>>()?;
    (text.len() == 10 && parts.len() == 3).then(|| (parts[0], parts[1], parts[2]))
}

fn moved((year, month, day): Date, random: &mut Random) -> String {
    match random.random_range(0..3) {
        0 => format!("{}-{month:02}-{day:02}", year + random.random_range(1..3)),
        1 => format!("{year}-{:02}-{:02}", (month + random.random_range(0..11)) % 12 + 1, day.min(28)),
        _ => format!("{year}-{month:02}-{:02}", (day + random.random_range(0..26)) % 28 + 1),
    }
}

fn date_in_words((year, month, day): Date, random: &mut Random) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let name = MONTHS[month as usize - 1];
    let ending = match day {
        1 | 21 | 31 => "st",
        2 | 22 => "nd",
        3 | 23 => "rd",
        _ => "th",
    };
    match random.random_range(0..8) {
        0 => format!("{name} {day}{ending}, {year}"),
        1 => format!("{day} {name} {year}"),
        2 => format!("{day:02}.{month:02}.{year}"),
        3 => format!("{day:02}/{month:02}/{year}"),
        4 => format!("{} {day}, {year}", &name[..3]),
        5 => format!("the {day}{ending} of {name} {year}"),
        6 => format!("{year}/{month:02}/{day:02}"),
        _ => format!("{year}-{month:02}-{day:02}"),
    }
}
