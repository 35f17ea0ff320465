//! Lines that differ, as `diff -u` writes them.

use leptos::prelude::*;

/// Lines that are shown at once: more of them take the browser long, and nobody reads them.
const SHOWN: usize = 2000;

#[component]
pub fn Unified(
    text: String,
    /// Names it to screen readers.
    label: String,
) -> impl IntoView {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let hidden = lines.len().saturating_sub(SHOWN);
    let lines = StoredValue::new(lines);
    let all = RwSignal::new(hidden == 0);
    let line = |text: &String| {
        // Lines end as they do in a file, so that what is marked and copied is a patch.
        view! { <span class=class_of(text)>{format!("{text}\n")}</span> }
    };
    view! {
        <pre class="unified" tabindex="0" role="region" aria-label=label>
            {move || {
                let shown = if all.get() { usize::MAX } else { SHOWN };
                lines.with_value(|lines| lines.iter().take(shown).map(line).collect_view())
            }}
        </pre>
        <Show when=move || !all.get()>
            <button type="button" class="more" on:click=move |_| all.set(true)>
                {format!("Show {hidden} more lines")}
            </button>
        </Show>
    }
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
    fn lines_are_told_apart() {
        let all = ["--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b", " c", ""].map(class_of);
        assert_eq!(all, ["line file", "line file", "line at", "line deleted", "line added", "line", "line"]);
    }
}
