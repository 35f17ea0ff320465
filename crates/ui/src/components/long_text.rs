//! Text that people or models wrote, however long it is.

use leptos::prelude::*;

use crate::format;

/// What is longer is cut: some hundred thousand letters hold a page up while they are laid out.
const SHOWN: usize = 6_000;

/// The text as it is, never as markup; if it is long, its beginning and a button for the rest.
#[component]
pub fn LongText(
    text: String,
    #[prop(optional)] muted: bool,
    /// Text of a machine: letters of one width, in a line.
    #[prop(optional)]
    code: bool,
    /// The same as a block of lines that scrolls by itself, named to screen readers.
    #[prop(optional)]
    name: Option<&'static str>,
) -> impl IntoView {
    let cut = cut(&text);
    let whole = RwSignal::new(cut.is_none());
    let letters = cut.map(|_| text.chars().count());
    let shown = StoredValue::new(text);
    let text = move || {
        shown.with_value(|text| if whole.get() { text.clone() } else { text[..cut.unwrap_or(text.len())].to_owned() })
    };
    let body = match (name, code) {
        (Some(name), _) => {
            // It scrolls by itself, so the keyboard must reach it.
            view! {
                <pre tabindex="0" aria-label=name dir="auto">
                    {text}
                </pre>
            }
            .into_any()
        }
        (None, true) => view! { <code class="value">{text}</code> }.into_any(),
        (None, false) => view! { <p class="text" class:muted=muted dir="auto">{text}</p> }.into_any(),
    };
    view! {
        {body}
        {letters.map(|letters| view! { <ShowMore whole letters /> })}
    }
}

/// Leads to all of what is cut, and back.
#[component]
pub fn ShowMore(whole: RwSignal<bool>, letters: usize) -> impl IntoView {
    let letters = format::count(i64::try_from(letters).unwrap_or(i64::MAX));
    view! {
        <button type="button" class="rest" on:click=move |_| whole.update(|whole| *whole = !*whole)>
            {move || if whole.get() { "Show less".to_owned() } else { format!("Show all {letters} characters") }}
        </button>
    }
}

/// Where a text is cut; `None` if it is short enough.
pub fn cut(text: &str) -> Option<usize> {
    // A little more is shown rather than a button for a line.
    text.char_indices().nth(SHOWN + SHOWN / 4)?;
    text.char_indices().nth(SHOWN).map(|(at, _)| at)
}

/// The beginning of a text, for a line of its own: what is longer ends in three dots.
pub fn beginning(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_letters() {
        assert_eq!(cut("short"), None);
        assert_eq!(cut(&"ü".repeat(SHOWN + 1)), None);
        assert_eq!(cut(&"ü".repeat(SHOWN * 2)), Some(SHOWN * 2));
    }

    #[test]
    fn a_beginning_ends_between_letters() {
        assert_eq!(beginning("für", 3), "für");
        assert_eq!(beginning("für uns", 3), "für …");
    }
}
