//! The drawing that `draw_mermaid()` gives: a flowchart with a node, an edge, or a border of a subgraph on each line.

use std::iter::Enumerate;
use std::str::Lines;

use domain::Problem;

use super::drawing::Drawing;

/// Statements that say how the drawing looks.
const LOOKS: [&str; 8] = ["graph", "flowchart", "classDef", "class", "style", "linkStyle", "click", "direction"];
/// Shapes of nodes.
const SHAPES: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];
/// HTML that changes no text.
const TAGS: [&str; 8] = ["<p>", "</p>", "<small>", "</small>", "<em>", "</em>", "<strong>", "</strong>"];
/// Lines that the label of one node may have: each is one of its metadata.
const MOST_LABEL_LINES: usize = 100;

pub fn read(file: &str, text: &str) -> Result<Drawing, Problem> {
    let mut reader =
        Reader { file, lines: text.lines().enumerate(), drawing: Drawing::default(), declared: Vec::new(), open: 0 };
    reader.header()?;
    while let Some((i, line)) = reader.lines.next() {
        reader.statement(i + 1, line)?;
    }
    if reader.open > 0 {
        return Err(Problem::new(file, 0, "", "ends within a subgraph: an `end` is missing"));
    }
    Ok(reader.drawing)
}

struct Reader<'a> {
    file: &'a str,
    lines: Enumerate<Lines<'a>>,
    drawing: Drawing,
    /// The nodes that stand on lines of their own, with these.
    declared: Vec<(usize, usize)>,
    /// Subgraphs around this line.
    open: usize,
}

impl Reader<'_> {
    fn problem(&self, line: usize, message: impl Into<String>) -> Problem {
        Problem::new(self.file, line, "", message)
    }

    /// Up to `graph TD;`. Settings may stand before it.
    fn header(&mut self) -> Result<(), Problem> {
        let mut in_settings = false;
        while let Some((i, line)) = self.lines.next() {
            let line = line.trim();
            if line == "---" {
                in_settings = !in_settings;
            } else if matches!(line.split_whitespace().next(), Some("graph" | "flowchart")) && !in_settings {
                return Ok(());
            } else if !(in_settings || line.is_empty() || line.starts_with("%%") || line.starts_with("```")) {
                let message = "is no drawing of LangGraph: expected `graph TD;`, as `draw_mermaid()` begins, or the JSON of `to_json()`";
                return Err(self.problem(i + 1, message));
            }
        }
        Err(self.problem(0, "holds no `graph TD;`"))
    }

    fn statement(&mut self, number: usize, line: &str) -> Result<(), Problem> {
        let statement = line.trim().trim_end_matches(';').trim_end();
        if statement.is_empty() || statement.starts_with("%%") || statement.starts_with("```") {
            return Ok(());
        }
        let (word, rest) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
        // A node may be called like a statement.
        let is_edge = rest.trim_start().starts_with('-');
        match word {
            _ if is_edge => self.edge(number, word, rest.trim_start()),
            "subgraph" => {
                self.open += 1;
                Ok(())
            }
            "end" if rest.is_empty() => {
                let open = self.open.checked_sub(1);
                self.open = open.ok_or_else(|| self.problem(number, "ends a subgraph that does not begin"))?;
                Ok(())
            }
            _ if LOOKS.contains(&word) => Ok(()),
            _ => self.node(number, statement),
        }
    }

    fn edge(&mut self, number: usize, source: &str, rest: &str) -> Result<(), Problem> {
        let Some(arrow) = Arrow::read(rest) else { return Err(self.unknown(number)) };
        let source = self.mention(number, source)?;
        let target = self.mention(number, arrow.target)?;
        let label = arrow.label.map(plain);
        let added = self.drawing.add_edge(source, target, label.as_deref(), arrow.conditional);
        added.map_err(|message| self.problem(number, message))
    }

    fn unknown(&self, line: usize) -> Problem {
        self.problem(line, "is no node, edge or subgraph as `draw_mermaid()` writes them")
    }

    /// `id(label)`, `id([label]):::class`. A label with metadata has several lines.
    fn node(&mut self, number: usize, statement: &str) -> Result<(), Problem> {
        let shape = SHAPES.iter().filter_map(|(open, close)| Some((statement.find(*open)?, *close))).min();
        let Some((end, close)) = shape else { return Err(self.unknown(number)) };
        let (id, mut label) = (&statement[..end], statement[end + 1..].to_owned());
        for _ in 0..MOST_LABEL_LINES {
            if without_class(&label).ends_with(close) {
                break;
            }
            let Some((_, more)) = self.lines.next() else { break };
            label = format!("{label}\n{}", more.trim().trim_end_matches(';'));
        }
        let Some(label) = without_class(&label).strip_suffix(close).map(plain) else {
            return Err(self.problem(number, format!("has a label that does not end with `{close}`")));
        };
        let place = self.mention(number, id)?;
        if let Some((_, line)) = self.declared.iter().find(|(known, _)| *known == place) {
            return Err(
                self.problem(number, format!("there are two nodes `{id}`; the other one stands on line {line}"))
            );
        }
        self.declared.push((place, number));
        let metadata = label.lines().skip(1).map(str::trim).filter(|line| line.contains(" = "));
        self.drawing.nodes[place].metadata = metadata.map(str::to_owned).collect();
        Ok(())
    }

    /// The node with this id, which need not have stood before.
    fn mention(&mut self, number: usize, id: &str) -> Result<usize, Problem> {
        if let Some(known) = self.drawing.find(id) {
            return Ok(known);
        }
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '\\')) {
            return Err(self.unknown(number));
        }
        self.drawing.add_node(id, &unescaped(id)).map_err(|message| self.problem(number, message))
    }
}

/// What stands between two nodes, and the second one.
struct Arrow<'a> {
    conditional: bool,
    label: Option<&'a str>,
    target: &'a str,
}

impl<'a> Arrow<'a> {
    /// ` --> B`, ` -- label --> B`, ` -.-> B`, ` -. label .-> B`, and Mermaid's ` -->|label| B`.
    fn read(rest: &'a str) -> Option<Self> {
        for (plain, begin, end, conditional) in [("-.->", "-. ", " .-> ", true), ("-->", "-- ", " --> ", false)] {
            if let Some(rest) = rest.strip_prefix(plain) {
                let labelled = rest.strip_prefix('|').and_then(|rest| rest.split_once('|'));
                let (label, target) = labelled.map_or((None, rest), |(label, rest)| (Some(label), rest));
                return Some(Self { conditional, label, target: target.trim() });
            }
            if let Some((label, target)) = rest.strip_prefix(begin).and_then(|rest| rest.rsplit_once(end)) {
                return Some(Self { conditional, label: Some(label), target: target.trim() });
            }
        }
        None
    }
}

fn without_class(label: &str) -> &str {
    label.rsplit_once(":::").map_or(label, |(label, _)| label).trim_end()
}

/// The text of a label without its HTML. What HTML puts on a line of its own is on one.
fn plain(label: &str) -> String {
    let label = label.replace("&nbsp;", " ").replace("&nbsp", " ").replace("<br>", " ").replace("<hr/>", "\n");
    TAGS.iter().fold(label, |text, tag| text.replace(tag, ""))
}

/// `a\3ab` is `a:b`: a character that Mermaid does not allow in ids is written as its code in hexadecimal digits. Nothing
/// says where the code ends. One of ASCII has two digits, and is never that of a letter or digit; all others are taken to
/// have up to four.
fn unescaped(id: &str) -> String {
    let mut parts = id.split('\\');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.chars().take(4).take_while(char::is_ascii_hexdigit).count();
        let code = |length: usize| {
            let digits = part.get(..length.min(digits))?;
            Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, digits.len()))
        };
        let ascii = code(2).filter(|(c, _)| c.is_ascii() && !c.is_ascii_alphanumeric());
        match ascii.or_else(|| code(4)) {
            Some((c, length)) => {
                text.push(c);
                text.push_str(&part[length..]);
            }
            None => text.push_str(part),
        }
    }
    text
}
