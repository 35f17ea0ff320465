//! The beginning of a reply that still comes, for a task that may be busy with the one before.

use std::sync::Arc;

use parking_lot::Mutex;

/// Each beginning contains all before it, so only the newest is kept.
#[derive(Clone, Default)]
pub struct NewestText(Arc<Mutex<Option<String>>>);

impl NewestText {
    /// Keeps a text in place of the one that waits. Whether none did.
    pub fn replace(&self, text: &str) -> bool {
        let mut waiting = self.0.lock();
        if let Some(older) = &mut *waiting {
            older.clear();
            older.push_str(text);
            return false;
        }
        *waiting = Some(text.to_owned());
        true
    }

    pub fn take(&self) -> String {
        self.0.lock().take().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_text_waits() {
        let text = NewestText::default();
        assert_eq!(["a", "a b", "a b c"].map(|beginning| text.replace(beginning)), [true, false, false]);
        assert_eq!(text.take(), "a b c");
        // The reply broke off, and another attempt says something else.
        assert!(text.replace("x"));
        assert_eq!((text.take(), text.take()), ("x".to_owned(), String::new()));
    }
}
