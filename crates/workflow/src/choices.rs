//! Replies that are one of a few texts, as classifiers give them.

use domain::problem::listed;
use domain::reasoning;

/// Texts of one list, and characters of each.
const MOST: usize = 100;
const LONGEST: usize = 100;

/// The texts that a reply may be.
#[derive(Debug)]
pub struct Choices(Vec<Choice>);

#[derive(Debug)]
struct Choice {
    text: String,
    /// How replies are compared with it.
    plain: String,
}

impl Choices {
    /// # Errors
    /// Why they cannot be told apart, as the rest of a sentence that begins with their field.
    pub fn of(texts: &[String]) -> Result<Self, String> {
        if !(2..=MOST).contains(&texts.len()) {
            let count = texts.len();
            return Err(format!("has {count} {}; expected 2 to {MOST}", if count == 1 { "text" } else { "texts" }));
        }
        let mut choices: Vec<Choice> = Vec::new();
        for text in texts {
            let plain = plain(text);
            if plain.is_empty() || text.chars().count() > LONGEST {
                return Err(format!(
                    "has `{text}`; expected 1 to {LONGEST} characters, at least one of them a letter or a digit"
                ));
            }
            if let Some(same) = choices.iter().find(|choice| choice.plain == plain) {
                return Err(format!("has `{}` and `{text}`, which replies do not tell apart", same.text));
            }
            choices.push(Choice { text: text.clone(), plain });
        }
        Ok(Self(choices))
    }

    /// The choice that a reply is, or begins with. Of one that was cut off, the beginning is enough if only one choice can follow.
    ///
    /// # Errors
    /// It is none, in words for the model that is asked again.
    pub fn pick(&self, reply: &str, is_cut: bool) -> Result<&str, String> {
        let (said, _) = reasoning::split(reply, None);
        let said = plain(&said);
        let begun = self.0.iter().filter(|choice| begins_with(&said, &choice.plain));
        let begun = begun.max_by_key(|choice| choice.plain.len());
        let may_follow = |choice: &&Choice| choice.plain.len() > said.len() && choice.plain.starts_with(&said);
        let mut longer = self.0.iter().filter(|_| is_cut && !said.is_empty()).filter(may_follow);
        match (begun, longer.next(), longer.next()) {
            (Some(choice), None, _) | (None, Some(choice), None) => Ok(&choice.text),
            _ => Err(format!("it is none of these: {}", listed(self.0.iter().map(|choice| choice.text.as_str())))),
        }
    }
}

/// Without what models put around a word: quotes, stars, full stops.
fn plain(text: &str) -> String {
    text.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase()
}

/// Whether this is the first word, or the first words, of a text.
fn begins_with(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|rest| rest.chars().next().is_none_or(|next| !next.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(texts: &[&str]) -> Result<Choices, String> {
        Choices::of(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_reply_is_the_choice_that_it_begins_with() {
        let known = choices(&["yes", "no", "No answer"]).unwrap();
        for (reply, whole, cut) in [
            ("yes", Some("yes"), Some("yes")),
            (" **Yes.**\n", Some("yes"), Some("yes")),
            ("No, because it rains.", Some("no"), Some("no")),
            ("no answer is given", Some("No answer"), Some("No answer")),
            ("<think>yes or no?</think> no", Some("no"), None),
            ("ye", None, Some("yes")),
            ("no", Some("no"), None),
            ("no answ", Some("no"), None),
            ("No.", Some("no"), None),
            ("n", None, None),
            ("yesterday", None, None),
            ("The reply is yes", None, None),
            ("...", None, None),
            ("", None, None),
        ] {
            assert_eq!(known.pick(reply, false).ok(), whole, "{reply}");
            assert_eq!(known.pick(reply, true).ok(), cut, "{reply}, cut off");
        }
        assert_eq!(known.pick("maybe", false).unwrap_err(), "it is none of these: yes, no, No answer");
    }

    #[test]
    fn choices_can_be_told_apart() {
        let said = |texts: &[&str]| choices(texts).unwrap_err();
        assert_eq!(said(&["yes"]), "has 1 text; expected 2 to 100");
        assert_eq!(said(&["yes", "Yes."]), "has `yes` and `Yes.`, which replies do not tell apart");
        assert!(said(&["yes", "-"]).starts_with("has `-`; expected 1 to 100 characters"));
        assert!(said(&["yes", &"a".repeat(101)]).contains("expected 1 to 100 characters"));
    }
}
