//! Which parts of the world an expression reads, as far as its text tells.

use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mentions {
    /// Named as `world["part"]` or `world.get("part")`.
    pub parts: BTreeSet<String>,
    /// The world itself is handed on: any part may be read.
    pub whole: bool,
}

impl Mentions {
    /// Of the world.
    pub fn of(expression: &str) -> Self {
        Self::by_name("world", expression)
    }

    /// Of what a name stands for.
    pub fn by_name(name: &str, expression: &str) -> Self {
        let mut mentions = Self { parts: BTreeSet::new(), whole: false };
        for (at, word) in expression.match_indices(name) {
            let before = expression[..at].chars().next_back();
            let rest = &expression[at + word.len()..];
            let within = |c: char| c.is_alphanumeric() || c == '_';
            if before.is_some_and(|c| within(c) || matches!(c, '.' | '"' | '\'')) || rest.starts_with(within) {
                continue;
            }
            match named(rest) {
                Some(part) => drop(mentions.parts.insert(part)),
                None => mentions.whole = true,
            }
        }
        mentions
    }
}

fn named(rest: &str) -> Option<String> {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('[').or_else(|| rest.strip_prefix(".get("))?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split_once(quote).map(|(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_the_whole() {
        let of = |text: &str| {
            let Mentions { parts, whole } = Mentions::of(text);
            (parts.into_iter().collect::<Vec<_>>().join(" "), whole)
        };
        assert_eq!(of("record['c'] in world['customers'] and world.get(\"log\")"), ("customers log".into(), false));
        assert_eq!(of("record['world'] == 1 and worldly and my_world == record.world"), (String::new(), false));
        assert_eq!(of("_fits(world, record)"), (String::new(), true));
        assert_eq!(of("world[key] and world['a']"), ("a".into(), true));
    }
}
