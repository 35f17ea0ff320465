//! Lines that differ, as `diff -u` writes them.

use leptos::prelude::*;

use crate::components::long_text::beginning;

/// Lines that are shown at once: more of them take the browser long, and nobody reads them.
const SHOWN: usize = 2000;
/// Letters of a line that are shown at once.
const LETTERS: usize = 2000;

#[component]
pub fn UnifiedDiff(
    text: String,
    /// Names it to screen readers.
    label: String,
) -> impl IntoView {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let hidden = lines.len().saturating_sub(SHOWN);
    let long = lines.iter().any(|line| is_long(line));
    let lines = StoredValue::new(lines);
    let all = RwSignal::new(hidden == 0 && !long);
    let line = move |text: &String| {
        let shown = if all.get() { text.clone() } else { beginning(text, LETTERS) };
        // Lines end as they do in a file, so that what is marked and copied is a patch.
        view! { <span class=class_of(text)>{format!("{shown}\n")}</span> }
    };
    let more = if hidden > 0 { format!("Show {hidden} more lines") } else { "Show whole lines".to_owned() };
    view! {
        <pre class="unified" tabindex="0" role="region" aria-label=label>
            {move || {
                let shown = if all.get() { usize::MAX } else { SHOWN };
                lines.with_value(|lines| lines.iter().take(shown).map(line).collect_view())
            }}
        </pre>
        <Show when=move || !all.get()>
            <button type="button" class="more" on:click=move |_| all.set(true)>
                {more.clone()}
            </button>
        </Show>
    }
}

fn is_long(line: &str) -> bool {
    line.char_indices().nth(LETTERS).is_some()
}

fn class_of(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => "line file",
        [b'@', ..] => "line at",
        [b'+', ..] => "line added",
        [b'-', ..] => "line deleted",
        _ => "line",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_long_by_its_letters() {
        assert!(!is_long(&"ü".repeat(LETTERS)));
        assert!(is_long(&"ü".repeat(LETTERS + 1)));
    }

    #[test]
    fn lines_are_told_apart() {
        let all = ["--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b", " c", ""].map(class_of);
        assert_eq!(all, ["line file", "line file", "line at", "line deleted", "line added", "line", "line"]);
    }
}
