//! What a worker is called when nobody says it: by its machine, its model and its port.

/// Longest name, in letters.
pub const LONGEST: usize = 100;

pub fn is_valid(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_letter)
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// The end tells workers of one machine apart, so what is too long loses its beginning's end.
pub fn of(host: &str, model: &str, place: &str) -> String {
    let host = host.split('.').next().unwrap_or(host);
    let begin: String = format!("{host}-{model}").chars().map(|c| if is_letter(c) { c } else { '-' }).collect();
    let place: String = place.chars().map(|c| if is_letter(c) { c } else { '-' }).take(LONGEST / 2).collect();
    let room = LONGEST - place.len() - 1;
    format!("{}-{place}", begin.get(..room).unwrap_or(&begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid() {
        assert_eq!(of("gpu7.example.com", "Qwen/Qwen3-8B", "8000"), "gpu7-Qwen-Qwen3-8B-8000");
        let long = of("host", &"ü".repeat(200), "8000");
        assert!(is_valid(&long) && long.ends_with("-8000"), "{long}");
        for bad in ["", "a b", "ä", "a/b"] {
            assert!(!is_valid(bad), "{bad}");
        }
    }
}
