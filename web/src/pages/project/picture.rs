//! The product in one picture. Its colours are those of the theme.

use leptos::prelude::*;

/// A box: place, size, title, and lines of what it is.
type Part = (u16, u16, u16, u16, &'static str, &'static [&'static str]);

const PARTS: [Part; 8] = [
    (10, 40, 160, 90, "Scenario", &["what the user wants", "and knows"]),
    (10, 160, 160, 90, "World", &["records: the only truth,", "changed by tool calls"]),
    (232, 74, 112, 66, "User", &["simulated"]),
    (378, 74, 112, 66, "Agent", &["under test"]),
    (378, 172, 112, 66, "Tools", &["simulated"]),
    (232, 172, 112, 66, "State", &["changes checked"]),
    (550, 40, 150, 90, "Verifier", &["a program: world,", "facts, rules"]),
    (550, 160, 150, 90, "Judge", &["scores with", "rationales"]),
];

/// Where something goes on: from the left to the right, or to and fro.
const WAYS: [(&str, bool); 6] = [
    ("M170 145 H214", false),
    ("M346 107 H376", true),
    ("M434 142 V170", true),
    ("M346 205 H376", true),
    ("M506 145 H544", false),
    ("M702 145 H746", false),
];

#[component]
pub fn Picture() -> impl IntoView {
    let part = |(x, y, width, height, title, lines): Part| {
        let middle = x + width / 2;
        let line = move |(i, text): (usize, &'static str)| {
            let y = usize::from(y) + 50 + i * 16;
            view! {
                <text class="picture-line" x=middle y=y>
                    {text}
                </text>
            }
        };
        view! {
            <rect class="picture-box" x=x y=y width=width height=height rx="8" />
            <text class="picture-name" x=middle y=y + 28>
                {title}
            </text>
            {lines.iter().copied().enumerate().map(line).collect_view()}
        }
    };
    let way = |(d, both): (&'static str, bool)| {
        let start = both.then_some("url(#picture-tip)");
        view! { <path class="picture-way" d=d marker-end="url(#picture-tip)" marker-start=start /> }
    };
    view! {
        <svg class="picture" viewBox="0 0 880 290" role="img" aria-labelledby="picture-title picture-desc">
            <title id="picture-title">"From a scenario to training data"</title>
            <desc id="picture-desc">
                "A scenario and a world go in. A simulated user, the agent under test, simulated tools and a state \
                 manager play a conversation. A verifier and a judge score it. What is accepted comes out as JSONL."
            </desc>
            <defs>
                <marker
                    id="picture-tip"
                    viewBox="0 0 8 8"
                    refX="6"
                    refY="4"
                    markerWidth="7"
                    markerHeight="7"
                    orient="auto-start-reverse"
                >
                    <path class="picture-tip" d="M0 0 L8 4 L0 8 z" />
                </marker>
            </defs>
            <rect class="picture-stage" x="218" y="30" width="286" height="230" rx="10" />
            <text class="picture-name" x="361" y="58">
                "Conversation"
            </text>
            {PARTS.map(part).into_iter().collect_view()}
            {WAYS.map(way).into_iter().collect_view()}
            <path class="picture-box" d="M752 70 h84 l24 24 v126 h-108 z" />
            <text class="picture-name" x="806" y="130">
                "JSONL"
            </text>
            <text class="picture-line" x="806" y="156">
                "messages, tools,"
            </text>
            <text class="picture-line" x="806" y="172">
                "scores, origin"
            </text>
        </svg>
    }
}
