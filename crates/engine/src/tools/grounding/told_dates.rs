//! Dates that a text states, however they are written.

use chrono::NaiveDate;

use super::dates::Date;
use super::reading::{self, Fact};

/// Whether a text states a date of the form `2026-03-26`. The year may be unsaid. False for what is no such date.
pub fn states_date(text: &str, date: &str) -> bool {
    let Ok(day) = date.trim().parse::<NaiveDate>() else { return false };
    let is_day = |said: &Date| said.month.is_some() && said.day.is_some() && said.fits(day.into());
    reading::read(text).iter().any(|token| matches!(&token.fact, Fact::Date(days) if days.iter().any(is_day)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_stated_in_any_form() {
        let said = |text: &str| states_date(text, "2026-03-26");
        for text in [
            "Now due on 26 March 2026.",
            "March 26, 2026",
            "due 26.03.2026",
            "on 26/03/2026",
            "2026-03-26",
            "until the 26th of March",
        ] {
            assert!(said(text), "{text}");
        }
        for text in ["26 April 2026", "March 2026", "26 March 2027", "the 26th", "26"] {
            assert!(!said(text), "{text}");
        }
        assert!(!states_date("26 March 2026", "March"), "only dates are dates");
    }
}
