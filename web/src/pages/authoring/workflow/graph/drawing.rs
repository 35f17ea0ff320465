//! The drawing of a workflow: boxes, the frames of maps and loops around theirs, and the lines between them.

use domain::api::workflows::{GraphStep, StepKind, WorkflowGraph};

use super::layout::{Item, Layout, Line, Point, lay_out};

/// A letter of a box, and the least and the greatest width of one.
const LETTER: f64 = 6.8;
const NARROW: f64 = 96.0;
const WIDE: f64 = 220.0;
/// Lines of text in a box.
pub const LINE: f64 = 17.0;
pub const PADDING: f64 = 10.0;
/// Around the whole.
const MARGIN: f64 = 8.0;

/// What is drawn, in pixels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Drawing {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
    pub lines: Vec<Path>,
}

/// A box, or the frame of a map or loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    pub corner: Point,
    pub width: f64,
    pub height: f64,
    /// Such as `ask`, `input` or `output`.
    pub class: &'static str,
    pub conditional: bool,
    /// Of a step.
    pub address: Option<String>,
    /// Its name first.
    pub text: Vec<String>,
}

/// A line, and whether what it leads to only waits for its beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    pub points: Vec<Point>,
    pub waits: bool,
}

/// The whole workflow.
pub fn draw(graph: &WorkflowGraph) -> Drawing {
    let end = |name: &str, class, reads: &[String]| Node {
        address: name.to_owned(),
        shape: shape(vec![name.to_owned()], class),
        reads: reads.to_vec(),
        after: None,
        inner: None,
    };
    let mut nodes: Vec<Node> = graph.inputs.iter().map(|name| end(name, "input", &[])).collect();
    nodes.extend(graph.steps.iter().map(|step| node(step, "")));
    nodes.push(end("output", "output", &graph.output));
    let inner = list(nodes);
    let mut whole =
        Drawing { width: inner.width + 2.0 * MARGIN, height: inner.height + 2.0 * MARGIN, ..Drawing::default() };
    whole.add(inner, Point { x: MARGIN, y: MARGIN });
    whole
}

impl Drawing {
    fn add(&mut self, other: Self, by: Point) {
        let moved = |point: Point| Point { x: point.x + by.x, y: point.y + by.y };
        self.shapes.extend(other.shapes.into_iter().map(|shape| Shape { corner: moved(shape.corner), ..shape }));
        let path = |path: Path| Path { points: path.points.into_iter().map(moved).collect(), ..path };
        self.lines.extend(other.lines.into_iter().map(path));
    }
}

/// A box before it has its place.
struct Node {
    address: String,
    shape: Shape,
    /// Its own reads and those of all that is in it.
    reads: Vec<String>,
    after: Option<String>,
    inner: Option<Drawing>,
}

/// `list`: what stands before the names of the steps beside it.
fn node(step: &GraphStep, list: &str) -> Node {
    let mut text = vec![step.name().to_owned(), described(step)];
    let outside: Vec<&str> =
        step.reads.iter().map(String::as_str).filter(|read| beside(read, list).is_none()).collect();
    if !outside.is_empty() {
        text.push(format!("reads {}", outside.join(", ")));
    }
    let inner = (!step.steps.is_empty()).then(|| {
        let prefix = format!("{}.", step.address);
        self::list(step.steps.iter().map(|step| node(step, &prefix)).collect())
    });
    let mut shape = shape(text, step.kind.into_str());
    shape.conditional = step.conditional;
    shape.address = Some(step.address.clone());
    if let Some(inner) = &inner {
        shape.width = shape.width.max(inner.width + 2.0 * PADDING);
        shape.height += inner.height + PADDING;
    }
    let mut reads = Vec::new();
    all_reads(step, &mut reads);
    Node { address: step.address.clone(), shape, reads, after: step.after.clone(), inner }
}

/// What a step is, in a few words.
pub fn described(step: &GraphStep) -> String {
    match (step.kind, step.about.as_str()) {
        (kind, "") => kind.to_string(),
        (StepKind::Map, item) => format!("for each {item}"),
        (StepKind::Loop, rounds) => format!("loop, {rounds}"),
        (StepKind::End, name) => format!("ends as {name}"),
        (kind, about) => format!("{kind} {about}"),
    }
}

fn all_reads(step: &GraphStep, into: &mut Vec<String>) {
    into.extend(step.reads.iter().cloned());
    step.steps.iter().for_each(|inner| all_reads(inner, into));
}

/// The name of the step of a list that an address is of, or that it stands within.
fn beside<'a>(address: &'a str, list: &str) -> Option<&'a str> {
    address.strip_prefix(list)?.split('.').next()
}

fn shape(text: Vec<String>, class: &'static str) -> Shape {
    #[expect(clippy::cast_precision_loss, reason = "texts of a box are short")]
    let letters = text.iter().map(|line| line.chars().count()).max().unwrap_or_default() as f64;
    #[expect(clippy::cast_precision_loss, reason = "a box has few lines")]
    let height = LINE * text.len() as f64 + PADDING;
    let width = (letters * LETTER + 2.0 * PADDING).clamp(NARROW, WIDE);
    Shape { corner: Point { x: 0.0, y: 0.0 }, width, height, class, conditional: false, address: None, text }
}

/// Lays out one list, with all that is within its steps.
fn list(nodes: Vec<Node>) -> Drawing {
    let at = |address: &String| nodes.iter().position(|node| node.address == *address);
    let waits: Vec<Option<usize>> = nodes.iter().map(|node| at(node.after.as_ref()?)).collect();
    let items: Vec<Item> = (0..nodes.len()).map(|own| item(&nodes, own, waits[own])).collect();
    let Layout { width, height, corners, lines } = lay_out(&items);
    let path = |Line { from, to, points }: Line| {
        let reads = read_by(&nodes, to).contains(&from);
        Path { points, waits: !reads && waits[to] == Some(from) }
    };
    let mut drawing = Drawing { width, height, shapes: Vec::new(), lines: lines.into_iter().map(path).collect() };
    for (node, corner) in nodes.into_iter().zip(corners) {
        let Shape { width, height, .. } = node.shape;
        drawing.shapes.push(Shape { corner, ..node.shape });
        if let Some(inner) = node.inner {
            let x = corner.x + (width - inner.width) / 2.0;
            let y = corner.y + height - inner.height - PADDING;
            drawing.add(inner, Point { x, y });
        }
    }
    drawing
}

fn item(nodes: &[Node], own: usize, waits: Option<usize>) -> Item {
    let mut reads = read_by(nodes, own);
    reads.extend(waits.filter(|end| !reads.contains(end)));
    let Shape { width, height, .. } = nodes[own].shape;
    Item { width, height, reads }
}

/// The boxes of a list that one of them reads, or something within it.
fn read_by(nodes: &[Node], own: usize) -> Vec<usize> {
    let read = |(at, node): (usize, &Node)| (at != own && nodes[own].reads.contains(&node.address)).then_some(at);
    nodes.iter().enumerate().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(address: &str, kind: StepKind, reads: &[&str]) -> GraphStep {
        GraphStep {
            address: address.to_owned(),
            kind,
            about: String::new(),
            conditional: false,
            reads: reads.iter().map(|read| (*read).to_owned()).collect(),
            after: None,
            steps: Vec::new(),
        }
    }

    fn checked() -> WorkflowGraph {
        let best = step("checked.best", StepKind::Code, &["prompt", "checked.found"]);
        let inner = vec![step("checked.found", StepKind::Search, &[]), best];
        let map = GraphStep { steps: inner, ..step("checked", StepKind::Map, &["claims"]) };
        let end = GraphStep { about: "nothing".to_owned(), ..step("none", StepKind::End, &["claims"]) };
        let late = GraphStep { after: Some("none".to_owned()), ..step("late", StepKind::Code, &["checked"]) };
        WorkflowGraph {
            inputs: vec!["prompt".to_owned()],
            steps: vec![step("claims", StepKind::Ask, &["prompt"]), map, end, late],
            output: vec!["late".to_owned()],
        }
    }

    fn named<'a>(drawing: &'a Drawing, name: &str) -> &'a Shape {
        drawing.shapes.iter().find(|shape| shape.text[0] == name).unwrap()
    }

    #[test]
    fn what_is_within_a_map_is_drawn_within_its_frame() {
        let drawing = draw(&checked());
        let frame = named(&drawing, "checked");
        for inner in ["found", "best"].map(|name| named(&drawing, name)) {
            assert!(inner.corner.x >= frame.corner.x && inner.corner.y > frame.corner.y, "{inner:?} {frame:?}");
            assert!(inner.corner.x + inner.width <= frame.corner.x + frame.width, "{inner:?} {frame:?}");
            assert!(inner.corner.y + inner.height <= frame.corner.y + frame.height, "{inner:?} {frame:?}");
        }
        assert_eq!(named(&drawing, "best").text, ["best", "code", "reads prompt"], "what is outside is named");
        assert!(drawing.shapes.iter().all(|shape| shape.corner.x + shape.width <= drawing.width));
    }

    #[test]
    fn lines_lead_from_what_is_read_and_from_what_is_waited_for() {
        let drawing = draw(&checked());
        // prompt -> claims and checked, claims -> checked and none, checked -> late, late -> output, within: found -> best.
        assert_eq!(drawing.lines.iter().filter(|line| !line.waits).count(), 7);
        let waits: Vec<_> = drawing.lines.iter().filter(|line| line.waits).collect();
        let none = named(&drawing, "none");
        assert_eq!((waits.len(), waits[0].points[0].y), (1, none.corner.y + none.height));
    }

    #[test]
    fn a_step_says_what_it_is() {
        let say = |kind, about: &str| described(&GraphStep { about: about.to_owned(), ..step("a", kind, &[]) });
        assert_eq!(say(StepKind::Ask, "writer"), "ask writer");
        assert_eq!(say(StepKind::Map, "claim"), "for each claim");
        assert_eq!(say(StepKind::Code, ""), "code");
        assert_eq!(say(StepKind::End, "too_long"), "ends as too_long");
    }
}
