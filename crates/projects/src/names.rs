//! Names that models and the engine take, from names that others gave.

use std::collections::HashSet;

/// Longest name of a tool or an argument.
const LONGEST: usize = 64;

/// The name in the letters that names of tools and arguments may have.
pub fn valid(name: &str) -> String {
    let mut valid = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
            valid.push(c);
        } else if !valid.ends_with('_') {
            valid.push('_');
        }
    }
    let valid = valid.trim_matches('_');
    valid.get(..LONGEST).unwrap_or(valid).to_owned()
}

/// Names that are in use.
#[derive(Default)]
pub struct UsedNames(HashSet<String>);

impl UsedNames {
    /// The name, numbered if it was given before.
    pub fn take(&mut self, name: &str) -> String {
        let numbered = |n: usize| {
            let suffix = format!("_{n}");
            let room = LONGEST - suffix.len();
            format!("{}{suffix}", name.get(..room).unwrap_or(name))
        };
        let mut free = name.to_owned();
        let mut n = 1;
        while !self.0.insert(free.clone()) {
            n += 1;
            free = numbered(n);
        }
        free
    }
}

/// A name of one of the world's parts: words of lower-case letters and digits, joined by `_`.
pub fn part(name: &str) -> String {
    let words = words(name).join("_");
    if words.is_empty() { "records".to_owned() } else { words }
}

/// The words of a name, however they are joined: `createOrder`, `create-order`, `create_order`.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        let begins = !before.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && !before.is_ascii_uppercase());
        if c.is_ascii_alphanumeric() {
            match words.last_mut().filter(|_| !begins) {
                Some(word) => word.push(c.to_ascii_lowercase()),
                None => words.push(c.to_ascii_lowercase().to_string()),
            }
        }
        before = c;
    }
    words
}

/// `bookings` -> `booking`, by the rules that most names follow.
pub fn singular(name: &str) -> String {
    let endings = [("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("ss", "ss"), ("s", "")];
    let ending = endings.iter().find_map(|(many, one)| Some(format!("{}{one}", name.strip_suffix(many)?)));
    ending.filter(|one| !one.is_empty()).unwrap_or_else(|| name.to_owned())
}

/// `booking` -> `bookings`, likewise.
pub fn plural(name: &str) -> String {
    if singular(name) != name {
        return name.to_owned();
    }
    match name.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if ["s", "x", "ch", "sh"].iter().any(|ending| name.ends_with(ending)) => format!("{name}es"),
        _ => format!("{name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_unique() {
        let long = "x".repeat(100);
        for (name, expected) in [
            ("getBooking", "getBooking"),
            ("get booking/{id}", "get_booking_id"),
            ("ähm", "hm"),
            ("{{ x }}", "x"),
            ("💥", ""),
        ] {
            assert_eq!(valid(name), expected);
        }
        let mut taken = UsedNames::default();
        let names: Vec<String> = ["a", "a", "a_2", "a"].iter().map(|name| taken.take(name)).collect();
        assert_eq!(names, ["a", "a_2", "a_2_2", "a_3"]);
        assert_eq!(taken.take(&valid(&long)).len(), 64);
        assert_eq!(taken.take(&valid(&long)), format!("{}_2", "x".repeat(62)));
    }

    #[test]
    fn words_and_numbers() {
        assert_eq!(words("getUserByID-v2"), ["get", "user", "by", "id", "v2"]);
        assert_eq!(part("Order-Items"), "order_items");
        for (one, many) in [
            ("booking", "bookings"),
            ("category", "categories"),
            ("box", "boxes"),
            ("day", "days"),
            ("class", "classes"),
        ] {
            assert_eq!((plural(one).as_str(), singular(many).as_str()), (many, one));
            assert_eq!(plural(many), many);
        }
    }
}
