//! Personal data: what identifies a person or a person's account, by its form and, where there is one, its checksum.

use std::net::Ipv4Addr;
use std::sync::LazyLock;

use regex::{Match, Regex};

use super::{ScannedValue, checksums};

#[expect(clippy::unwrap_used, reason = "written here, and compiled by every test")]
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}

pub fn find(text: &str) -> Vec<ScannedValue<'_>> {
    let mut found = Vec::new();
    if text.contains('@') {
        found.extend(emails(text));
    }
    // Everything else has digits, and most of what is said has none.
    if text.bytes().any(|b| b.is_ascii_digit()) {
        found.extend(ibans(text));
        found.extend(lettered_ids(text));
        found.extend(numbers(text));
        found.extend(addresses(text));
    }
    found
}

/// Domains that belong to nobody (RFC 2606, RFC 6761).
fn is_reserved(domain: &str) -> bool {
    let domain = domain.to_ascii_lowercase();
    let under = |top: &str| domain == top || domain.strip_suffix(top).is_some_and(|rest| rest.ends_with('.'));
    ["example", "test", "invalid", "localhost", "example.com", "example.net", "example.org"].into_iter().any(under)
}

fn emails(text: &str) -> impl Iterator<Item = ScannedValue<'_>> {
    static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
        regex(r"(?i)[a-z0-9][a-z0-9._%+-]{0,63}@((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24})\b")
    });
    EMAIL.captures_iter(text).filter_map(|caught| {
        let (whole, domain) = (caught.get(0)?, caught.get(1)?);
        Some(ScannedValue { kind: "email", value: whole.as_str(), reserved: is_reserved(domain.as_str()) })
    })
}

fn ibans(text: &str) -> impl Iterator<Item = ScannedValue<'_>> {
    static IBAN: LazyLock<Regex> =
        LazyLock::new(|| regex(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"));
    IBAN.find_iter(text).filter_map(|found| {
        let mut value = found.as_str();
        // A word that follows in capitals may have been taken for a part of it.
        loop {
            let signs: Vec<u8> = value.bytes().filter(|b| *b != b' ').collect();
            if (15..=34).contains(&signs.len()) && checksums::iban(&signs) {
                return Some(ScannedValue { kind: "iban", value, reserved: false });
            }
            value = value.rsplit_once(' ')?.0;
        }
    })
}

/// Ids of persons that hold letters: British, Spanish and Italian ones.
fn lettered_ids(text: &str) -> impl Iterator<Item = ScannedValue<'_>> {
    static ID: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"\b(?:(?P<nino>[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D])|(?P<dni>[0-9]{8}-?[A-Z])|(?P<fiscale>[A-Z]{6}[0-9]{2}[ABCDEHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]))\b",
        )
    });
    ID.captures_iter(text).filter_map(|caught| {
        let whole = caught.get(0)?;
        let letter = whole.as_str().bytes().last()?;
        let number = || digits(whole.as_str()).iter().fold(0, |number, digit| number * 10 + u32::from(*digit));
        let genuine = caught.name("dni").is_none() || checksums::dni(number(), letter);
        genuine.then_some(ScannedValue { kind: "national_id", value: whole.as_str(), reserved: false })
    })
}

/// Runs of digits with what people write between them: cards, social security numbers, phone numbers.
fn numbers(text: &str) -> impl Iterator<Item = ScannedValue<'_>> {
    static RUN: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:\+|\b00|\()?[0-9](?:[ .()-]{0,2}[0-9]){7,20}"));
    RUN.find_iter(text).filter(|run| stands_alone(text, run)).filter_map(|run| classify(run.as_str()))
}

/// What has a letter, `_` or another digit beside it is a part of an id.
fn stands_alone(text: &str, run: &Match<'_>) -> bool {
    let joined = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '/';
    !text[..run.start()].ends_with(joined) && !text[run.end()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn classify(run: &str) -> Option<ScannedValue<'_>> {
    let digits = digits(run);
    let number = || digits.iter().fold(0, |number, digit| number * 10 + u64::from(*digit));
    let of = |kind| Some(ScannedValue { kind, value: run, reserved: false });
    if is_card(run, &digits) {
        return of("payment_card");
    }
    if is_ssn(run)
        || (digits.len() == 15 && matches!(digits[0], 1 | 2) && checksums::nir(number() / 100, number() % 100))
    {
        return of("national_id");
    }
    is_phone(run, &digits).then(|| ScannedValue { kind: "phone", value: run, reserved: is_fictional(&digits) })
}

fn digits(text: &str) -> Vec<u8> {
    text.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect()
}

/// As many digits as its issuer gives, in groups of four, in one or as American Express writes them.
fn is_card(run: &str, digits: &[u8]) -> bool {
    let issued = matches!(
        (digits, digits.len()),
        ([4, ..], 13 | 16 | 19)
            | ([3, 4 | 7, ..], 15)
            | ([3, 0 | 6 | 8 | 9, ..], 14)
            | ([2, 2..=7, ..] | [5, 1..=5, ..], 16)
            | ([3, 5, ..] | [6, 0 | 2 | 4 | 5, ..], 16..=19)
    );
    let groups: Vec<usize> = run.split([' ', '-']).map(str::len).collect();
    let grouped = groups.len() == 1
        || groups == [4, 6, 5]
        || groups.split_last().is_some_and(|(last, first)| *last <= 4 && first.iter().all(|group| *group == 4));
    let same = digits.iter().all(|digit| *digit == digits[0]);
    issued && grouped && !same && checksums::luhn(digits)
}

/// An American social security number, as its office gives them out: 123-45-6789.
fn is_ssn(run: &str) -> bool {
    let parts: Vec<&str> = run.split('-').collect();
    let [area, group, serial] = parts[..] else { return false };
    (area.len(), group.len(), serial.len()) == (3, 2, 4)
        && area != "000"
        && area != "666"
        && !area.starts_with('9')
        && group != "00"
        && serial != "0000"
}

/// International with a plus, American in its usual groups, or national with a leading zero and groups.
fn is_phone(run: &str, digits: &[u8]) -> bool {
    static AMERICAN: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[2-9][0-9]{2}[ .-][0-9]{4}$"));
    static NATIONAL: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^\(?0[1-9][0-9]{0,4}\)?[ -][0-9]{3,8}(?:[ -][0-9]{2,5}){0,3}$"));
    let abroad = run.starts_with('+') || matches!(digits, [0, 0, 1..=9, ..]);
    let international = abroad && (8..=15).contains(&digits.len());
    international || AMERICAN.is_match(run) || (NATIONAL.is_match(run) && (9..=12).contains(&digits.len()))
}

/// Numbers that are given to nobody, so that they can stand in fiction: 555-0100 to 555-0199 in North America, and what
/// Ofcom sets apart in Britain.
fn is_fictional(digits: &[u8]) -> bool {
    let national: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    let national = national.strip_prefix("00").unwrap_or(&national);
    let american = national.strip_prefix('1').unwrap_or(national);
    let british = national.strip_prefix("44").or_else(|| national.strip_prefix('0')).unwrap_or_default();
    (american.len() == 10 && american[3..].starts_with("55501"))
        || [
            "2079460", "7700900", "1632960", "8081570", "9098790", "3069990", "1134960", "1144960", "1154960",
            "1164960", "1174960", "1184960", "1214960", "1314960", "1414960", "1514960", "1614960", "1914980",
        ]
        .iter()
        .any(|set_apart| british.starts_with(set_apart))
}

/// Addresses of machines; those of private networks and of documents can be anybody's.
fn addresses(text: &str) -> impl Iterator<Item = ScannedValue<'_>> {
    static ADDRESS: LazyLock<Regex> = LazyLock::new(|| regex(r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b"));
    ADDRESS.find_iter(text).filter(|found| stands_alone(text, found)).filter_map(|found| {
        // A fifth number makes it a version or a date.
        let rest = &text[found.end()..];
        if rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            return None;
        }
        let address: Ipv4Addr = found.as_str().parse().ok()?;
        let nobodys = address.is_private()
            || address.is_loopback()
            || address.is_link_local()
            || address.is_documentation()
            || address.is_multicast()
            || address.is_unspecified()
            || address.is_broadcast()
            || address.octets()[0] == 0;
        Some(ScannedValue { kind: "ip_address", value: found.as_str(), reserved: nobodys })
    })
}
