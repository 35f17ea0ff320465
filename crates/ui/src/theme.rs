//! Light, dark, or as the system has it. The stylesheet does the rest: every colour is one `light-dark()`.

use leptos::prelude::*;
use strum::{EnumString, IntoStaticStr, VariantArray};

const KEY: &str = "theme";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Choice {
    #[default]
    System,
    Light,
    Dark,
}

#[derive(Clone, Copy)]
pub struct Theme(RwSignal<Choice>);

impl Theme {
    /// As it was chosen in this browser before.
    pub fn remembered() -> Self {
        let kept = storage().and_then(|storage| storage.get_item(KEY).ok().flatten());
        let theme = Self(RwSignal::new(kept.and_then(|name| name.parse().ok()).unwrap_or_default()));
        Effect::new(move |_| show(theme.get()));
        theme
    }

    pub fn here() -> Self {
        expect_context()
    }

    pub fn get(self) -> Choice {
        self.0.get()
    }

    pub fn choose(self, choice: Choice) {
        self.0.set(choice);
        if let Some(storage) = storage() {
            // A browser that keeps nothing shows it until the page is left.
            let _ = storage.set_item(KEY, choice.into_str());
        }
    }
}

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

fn show(choice: Choice) {
    let Some(root) = document().document_element() else { return };
    // They fail for names that are no attribute's.
    let _ = match choice {
        Choice::System => root.remove_attribute("data-theme"),
        Choice::Light | Choice::Dark => root.set_attribute("data-theme", choice.into_str()),
    };
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// A colour that another file names would be the same by day and by night.
    #[test]
    fn colours_stand_in_one_place() {
        let style = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/style");
        let files: Vec<_> = fs::read_dir(style).unwrap().map(|entry| entry.unwrap().path()).collect();
        let (tokens, others): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.ends_with("0-tokens.css"));
        assert_eq!((tokens.len(), others.is_empty()), (1, false));
        for file in others {
            let text = fs::read_to_string(file).unwrap();
            for colour in ["oklch(", "rgb(", "rgba(", "hsl(", "light-dark(", ": #"] {
                assert!(!text.contains(colour), "{} says {colour}", file.display());
            }
        }
    }
}
