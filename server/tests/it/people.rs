//! Names of people and projects, and secrets, as the API and the commands take and make them.

use server::people::{project_name, title, user_name};
use server::secret;

#[test]
fn names_are_lower_case_and_plain() {
    assert_eq!(user_name(" Mira@Example.org "), Ok("mira@example.org".to_owned()));
    for bad in ["", " ", "-mira", "mira west", "míra", "mi\nra", &"a".repeat(65)] {
        assert!(user_name(bad).is_err(), "{bad:?}");
    }
    assert_eq!(project_name("bank_2-eu"), Ok("bank_2-eu".to_owned()));
    for bad in ["", "Bank", "bank/eu", "bank.eu", " bank"] {
        assert!(project_name(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn titles_have_one_line() {
    assert_eq!(title(" Retail bank ", 200), Ok("Retail bank".to_owned()));
    for bad in ["", "  ", "two\nlines", &"x".repeat(201)] {
        assert!(title(bad, 200).is_err(), "{bad:?}");
    }
}

#[test]
fn secrets_differ_and_passwords_are_known_again() {
    let (one, two) = (secret::make("gs_").unwrap(), secret::make("gs_").unwrap());
    assert_ne!(one, two);
    assert_eq!(one.len(), 67);
    assert_eq!(secret::hash(&one).len(), 32);
    assert_ne!(secret::csrf_token(&one), secret::csrf_token(&two));
    let kept = secret::hash_password("correct horse").unwrap();
    assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
    assert!(secret::is_password("correct horse", Some(&kept)));
    assert!(!secret::is_password("correct house", Some(&kept)));
    assert!(!secret::is_password("", None));
    assert!(!secret::is_password("correct horse", Some("garbage")));
}
