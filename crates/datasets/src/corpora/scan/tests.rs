use super::*;
use crate::corpora::utterances::Utterance;

/// What is found in a text that nobody's documents hold: kind and value.
fn found(text: &str) -> Vec<(&'static str, &str)> {
    let all = pii::find(text).into_iter().chain(secrets::find(text));
    all.filter(|found| !found.reserved).map(|found| (found.kind, found.value)).collect()
}

#[test]
fn personal_data_is_found_by_its_form_and_checksum() {
    for (text, kind, value) in [
        ("Write to Jane.Roe+shop@mail.corp.de, please", "email", "Jane.Roe+shop@mail.corp.de"),
        ("My IBAN is DE89 3704 0044 0532 0130 00 AND it works", "iban", "DE89 3704 0044 0532 0130 00"),
        ("GB82WEST12345698765432", "iban", "GB82WEST12345698765432"),
        ("card 4539 5787 6362 1486.", "payment_card", "4539 5787 6362 1486"),
        ("amex 3714-496353-98431", "payment_card", "3714-496353-98431"),
        ("SSN 219-09-9999", "national_id", "219-09-9999"),
        ("NINO AB 12 34 56 C", "national_id", "AB 12 34 56 C"),
        ("DNI 12345678Z", "national_id", "12345678Z"),
        ("RSSMRA85T10A562S", "national_id", "RSSMRA85T10A562S"),
        ("255081416802538", "national_id", "255081416802538"),
        ("call +49 30 901820", "phone", "+49 30 901820"),
        ("call (212) 736-5000 now", "phone", "(212) 736-5000"),
        ("call 212-736-5000", "phone", "212-736-5000"),
        ("Tel. 030 901820 12", "phone", "030 901820 12"),
        ("from 91.198.174.192, he said", "ip_address", "91.198.174.192"),
    ] {
        assert_eq!(found(text), [(kind, value)], "{text}");
    }
}

#[test]
fn what_only_looks_like_it_is_not_found() {
    for text in [
        "order 4539 5787 6362 1487",
        "DE88 3704 0044 0532 0130 00",
        "0000 0000 0000 0000",
        "on 2026-03-25 10:00 until 2026-03-26 11:30",
        "ord_20260325123456 and TX-2127365000",
        "12345678A",
        "000-12-3456 and 666-12-3456",
        "198.00 for 12,345,678.90 points",
        "version 1.2.3.4.5 of 999.1.1.1",
        "someone@localhost, or @handle",
        "the ticket 1234567890123",
        "a price of 1 200 000 000",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn what_belongs_to_nobody_is_set_apart() {
    for text in [
        "ann@brightmoor.example",
        "ann@shop.example.com",
        "+44 20 7946 0301",
        "(212) 555-0142",
        "10.0.0.7",
        "192.0.2.1",
    ] {
        let found = pii::find(text);
        assert!(found.len() == 1 && found[0].reserved, "{text}: {found:?}");
    }
}

#[test]
fn secrets_are_found_by_their_form() {
    let cases = [
        ("key AKIAIOSFODNN7EXAMPLE", "aws_key"),
        ("ghp_016C7hu3nDqZ0k2l9vXyAbCdEfGhIjKlMnOp", "github_token"),
        ("use sk-ant-api03-abcdefghijklmnopqrstuvwx", "anthropic_key"),
        ("use sk-proj-abcdefghijklmnopqrstuvwx", "openai_key"),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "stripe_key"),
        ("xoxb-123456789012-abcdefGHIJKL", "slack_token"),
        ("AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "google_key"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE", "private_key"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", "jwt"),
        ("Authorization: Bearer abcdefghij0123456789", "bearer_token"),
        ("postgres://app:hunter2x@db.internal/app", "password_in_address"),
        (r#""api_key": "9f86d081884c7d659a2feaa0c55ad015""#, "assigned_secret"),
    ];
    for (text, kind) in cases {
        let kinds: Vec<&str> = secrets::find(text).iter().map(|found| found.kind).collect();
        assert_eq!(kinds, [kind], "{text}");
    }
    for text in [
        "the password: please-ask-your-manager",
        "token = aaaaaaaaaaaaaaaa1111",
        "my secret: I like cats",
        "sk-iing is fun",
    ] {
        assert_eq!(secrets::find(text), [], "{text}");
    }
}

#[test]
fn what_the_documents_hold_is_the_products_own_data() {
    let text = "I am at jane@corp.de or +49 (30) 901820; the card is 4539578763621486.";
    let utterances = Utterances(vec![Utterance { by: Speaker::User, text: text.to_owned() }]);
    let none = scan(&utterances, &AuthoredValues::default());
    assert_eq!((none.found.len(), none.own_data.len(), none.pii), (3, 0, Some(("email", Speaker::User))));
    let authored = AuthoredValues::of_text("email: JANE@corp.de, phone: '+4930901820', card: 4539 5787 6362 1486");
    let all = scan(&utterances, &authored);
    assert_eq!((all.found.len(), all.own_data.len(), all.pii), (0, 3, None));
}
