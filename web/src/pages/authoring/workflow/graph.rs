//! The steps of a workflow beside its source: as a drawing, and as a list for those who do not see it.

mod drawing;
mod layout;

use std::time::Duration;

use domain::api::workflows::{DrawWorkflow, GraphStep, WorkflowGraph};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::pages::authoring::draft::{Draft, SourceLocation};
use drawing::{Drawing, LINE, PADDING, Path, Shape, described, draw};
use layout::Point;
use ui::api_client::{self, ApiError};
use ui::components::{Failure, Loading, beginning};

/// The server compiles the workflow: it is asked when nobody types.
const PAUSE: Duration = Duration::from_millis(600);
/// Letters of a line in a box.
const LETTERS: usize = 30;

#[component]
pub fn GraphSide() -> impl IntoView {
    let draft = Draft::here();
    let (graph, error) = (RwSignal::new(None::<WorkflowGraph>), RwSignal::new(None::<ApiError>));
    let again = RwSignal::new(0_u32);
    keep_drawn(draft, graph, error, again);
    view! {
        <aside class="beside-editor" aria-label="Steps">
            {move || match (error.get(), graph.read().is_some()) {
                (None, false) => view! { <Loading what="the steps" /> }.into_any(),
                (None, true) => ().into_any(),
                // The list of problems says what is wrong.
                (Some(ApiError::Refused(problem)), known) if problem.status == UNPROCESSABLE => {
                    let shown = if known { "They are shown as they were before." } else { "" };
                    view! {
                        <p class="muted" role="status">
                            "The steps are drawn once the workflow has no errors. " {shown}
                        </p>
                    }
                        .into_any()
                }
                (Some(error), _) => {
                    view! { <Failure error retry=move || again.update(|again| *again += 1) /> }.into_any()
                }
            }}
            {move || graph.get().map(|graph| view! { <Graph graph draft /> })}
        </aside>
    }
}

const UNPROCESSABLE: u16 = 422;

/// Asks for the steps at once, and again whenever the text has changed and stays for a moment.
fn keep_drawn(
    draft: Draft,
    graph: RwSignal<Option<WorkflowGraph>>,
    error: RwSignal<Option<ApiError>>,
    again: RwSignal<u32>,
) {
    let asked = StoredValue::new(0_u32);
    Effect::new(move |_| {
        let drafts = draft.files.get();
        again.track();
        asked.update_value(|asked| *asked += 1);
        let mine = asked.get_value();
        // Something else was typed meanwhile, or the page has gone.
        let current = move || asked.try_get_value() == Some(mine);
        let ask = move || {
            if !current() {
                return;
            }
            let place = draft.place();
            spawn_local(async move {
                let wanted = DrawWorkflow { drafts };
                let answer = api_client::workflows::graph(&place.project, &place.id.name, &wanted).await;
                if !current() {
                    return;
                }
                error.set(answer.as_ref().err().cloned());
                if let Ok(newest) = answer {
                    graph.set(Some(newest));
                }
            });
        };
        if mine == 1 {
            ask();
        } else {
            set_timeout(ask, PAUSE);
        }
    });
}

#[component]
fn Graph(graph: WorkflowGraph, draft: Draft) -> impl IntoView {
    let Drawing { width, height, shapes, lines } = draw(&graph);
    let says =
        format!("The steps of the workflow and what they read, {} boxes; they stand in the list below", shapes.len());
    view! {
        // It scrolls by itself, so the keyboard must reach it.
        <div class="graph" tabindex="0" role="region" aria-label="Drawing of the steps">
            <svg width=width height=height viewBox=format!("0 0 {width} {height}") role="img" aria-label=says>
                <defs>
                    <marker id="reads" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
                        <path d="M0 0 L8 4 L0 8 Z" />
                    </marker>
                </defs>
                {shapes.into_iter().map(|shape| view! { <ShapeView shape draft /> }).collect_view()}
                {lines.into_iter().map(line).collect_view()}
            </svg>
        </div>
        <details>
            <summary>"As a list"</summary>
            {list(graph.steps, draft)}
            <p>{reads("The output", &graph.output)}</p>
        </details>
    }
}

fn line(path: Path) -> impl IntoView {
    let class = if path.waits { "line waits" } else { "line" };
    view! { <path class=class d=curve(&path.points) marker-end="url(#reads)" /> }
}

/// Through all points, from each one downwards and into the next from above.
fn curve(points: &[Point]) -> String {
    let start = points.first().map(|first| format!("M{:.1} {:.1}", first.x, first.y));
    let step = |pair: &[Point]| {
        let [from, to] = [pair[0], pair[1]];
        let middle = f64::midpoint(from.y, to.y);
        format!(" C{:.1} {middle:.1} {:.1} {middle:.1} {:.1} {:.1}", from.x, to.x, to.x, to.y)
    };
    start.into_iter().chain(points.windows(2).map(step)).collect()
}

#[component]
fn ShapeView(shape: Shape, draft: Draft) -> impl IntoView {
    let Shape { corner, width, height, class, conditional, address, text } = shape;
    let class = if conditional { format!("step conditional {class}") } else { format!("step {class}") };
    let whole = text.join("\n");
    let words = text.into_iter().enumerate().map(move |(at, line)| {
        #[expect(clippy::cast_precision_loss, reason = "a box has few lines")]
        let y = corner.y + PADDING / 2.0 + LINE * (at as f64 + 0.75);
        let class = if at == 0 { "name" } else { "about" };
        view! {
            <text class=class x=corner.x + PADDING y=y>
                {beginning(&line, LETTERS)}
            </text>
        }
    });
    let words = words.collect_view();
    let lead = move |_| {
        if let Some(address) = &address {
            draft.lead(location(draft, address));
        }
    };
    view! {
        <g class=class on:click=lead>
            <title>{whole}</title>
            <rect x=corner.x y=corner.y width=width height=height rx="6" />
            {words}
        </g>
    }
}

/// Where a step stands in the document.
fn location(draft: Draft, address: &str) -> SourceLocation {
    let file = draft.place().id.path(None);
    SourceLocation { file, pointer: format!("/steps/{}", address.replace('.', "/steps/")), line: 0 }
}

fn list(steps: Vec<GraphStep>, draft: Draft) -> AnyView {
    let step = move |step: GraphStep| {
        let (name, says) = (step.name().to_owned(), described(&step));
        let GraphStep { address, conditional, reads: read, after, steps, .. } = step;
        let condition = if conditional { ", on a condition" } else { "" };
        let after = after.map(|end| format!(" It waits for {end}.")).unwrap_or_default();
        view! {
            <li>
                <button type="button" class="quiet" on:click=move |_| draft.lead(location(draft, &address))>
                    {name}
                </button>
                {format!(": {says}{condition}. {}{after}", reads("It", &read))}
                {(!steps.is_empty()).then(|| list(steps, draft))}
            </li>
        }
    };
    view! { <ol class="graph-list">{steps.into_iter().map(step).collect_view()}</ol> }.into_any()
}

fn reads(who: &str, read: &[String]) -> String {
    if read.is_empty() { format!("{who} reads nothing.") } else { format!("{who} reads {}.", read.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_all_its_points() {
        let points = [(0.0, 0.0), (10.0, 20.0), (10.0, 40.0)].map(|(x, y)| Point { x, y });
        assert_eq!(curve(&points), "M0.0 0.0 C0.0 10.0 10.0 10.0 10.0 20.0 C10.0 30.0 10.0 30.0 10.0 40.0");
        assert_eq!(curve(&[]), "");
    }
}
