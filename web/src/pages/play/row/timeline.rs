//! The requests of a row over time: a table with a bar in each line, so that the figures are there for those who do not see
//! the bars.

mod lines;

use domain::api::workflows::{AnswerKind, RequestTrace};
use domain::timing::RequestTiming;
use leptos::prelude::*;

use lines::{Line, Part, Span, lines, parts};
use ui::components::{FirstRows, MoreRows};
use ui::format;

const FIGURES: [&str; 6] = ["Asked after", "Waited", "Reply began", "Whole", "Tokens read", "Written"];

#[component]
pub fn Timeline(requests: Vec<RequestTrace>, more: u64) -> impl IntoView {
    let lines = lines(requests);
    let Some(whole) = lines.iter().filter_map(|line| line.span).reduce(Span::joined) else {
        let text = if lines.is_empty() { "Nothing was asked for this row." } else { "No times were kept of this row." };
        return view! { <p>{text}</p> }.into_any();
    };
    let (first, all) = (FirstRows::new(), lines.len());
    let head = |name: &'static str| {
        view! {
            <th scope="col" class="number">
                {name}
            </th>
        }
    };
    view! {
        <section class="panel" aria-labelledby="timeline">
            <h2 id="timeline">"Timeline"</h2>
            <p>{format!("{} from the first request to the last answer.", duration(whole.length()))}</p>
            <p class="timeline-key" aria-hidden="true">
                <span class="waited">"waited for a place"</span>
                <span class="began">"until the reply began"</span>
                <span class="came">"while it came"</span>
            </p>
            <div class="scroll-x" tabindex="0" role="region" aria-label="Timeline">
                <table class="grid timeline">
                    <thead>
                        <tr>
                            <th scope="col">"Step"</th>
                            <td></td>
                            {FIGURES.map(head)}
                            <th scope="col">"Answer"</th>
                        </tr>
                    </thead>
                    <tbody>{first.rows(lines, move |line| row(line, whole))}</tbody>
                </table>
            </div>
            <MoreRows first all=Signal::stored(all) />
            {(more > 0).then(|| view! { <p class="muted">{format!("{more} more requests are not listed.")}</p> })}
        </section>
    }
    .into_any()
}

fn row(line: Line, whole: Span) -> impl IntoView {
    let piece = |Part(class, left, width): Part| {
        let (left, width) = (format!("{left:.3}%"), format!("{width:.3}%"));
        view! { <span class=class style:left=left style:width=width></span> }
    };
    let bar = parts(&line, whole).into_iter().map(piece).collect_view();
    let figures = line.request.as_ref().map(|request| figures(request, whole)).unwrap_or_default();
    let cells = figures.map(|text| view! { <td class="number">{text}</td> }).collect_view();
    view! {
        <tr>
            <th scope="row" dir="auto" style:--level=line.depth.to_string()>
                {line.name}
            </th>
            <td>
                <span class="timeline-bar" aria-hidden="true">
                    {bar}
                </span>
            </td>
            {cells}
            <td>{line.request.as_ref().map(answer)}</td>
        </tr>
    }
}

fn figures(request: &RequestTrace, whole: Span) -> [Option<String>; FIGURES.len()] {
    let RequestTrace { prompt_tokens, completion_tokens, timing, .. } = request;
    let after = |of: fn(&RequestTiming) -> Option<u64>| timing.as_ref().and_then(of).map(duration);
    [
        timing.map(|timing| duration(timing.asked.abs_diff(whole.from))),
        after(|timing| timing.sent),
        after(|timing| timing.first_byte),
        after(|timing| Some(timing.answered)),
        tokens(*prompt_tokens),
        tokens(*completion_tokens),
    ]
}

fn answer(request: &RequestTrace) -> String {
    let answer = match request.answer {
        AnswerKind::Replied => "reply",
        AnswerKind::CutOff => "cut off",
        AnswerKind::Found => "passages",
        AnswerKind::Called => "tool",
        AnswerKind::Lost => "none",
    };
    let early = request.timing.is_some_and(|timing| timing.early);
    if early { format!("{answer}, asked early") } else { answer.to_owned() }
}

fn tokens(n: u64) -> Option<String> {
    (n > 0).then(|| format::count(i64::try_from(n).unwrap_or(i64::MAX)))
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn duration(micros: u64) -> String {
    format::seconds(micros as f64 / 1_000_000.0)
}
