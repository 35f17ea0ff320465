//! Requests as the lines of a timeline: each below the steps that it belongs to.

use domain::api::workflows::RequestTrace;
use domain::timing::RequestTiming;

/// Levels that are told apart: workflows have fewer.
const MOST_LEVELS: usize = 64;

/// From when to when, in microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: i64,
    pub to: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub depth: usize,
    pub name: String,
    /// `None` if no times were kept.
    pub span: Option<Span>,
    /// `None` of a step that has others within it.
    pub request: Option<RequestTrace>,
}

/// A part of a bar: its class, where it begins and how wide it is, in percent of the whole.
#[derive(Debug, PartialEq)]
pub struct Part(pub &'static str, pub f64, pub f64);

impl Span {
    pub const fn of(timing: &RequestTiming) -> Self {
        Self { from: timing.asked, to: timing.asked.saturating_add_unsigned(timing.answered) }
    }

    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self { from: self.from.min(other.from), to: self.to.max(other.to) }
    }

    pub const fn length(self) -> u64 {
        self.to.abs_diff(self.from)
    }
}

/// Steps in the order in which they were asked first, items of a list in their own order.
pub fn lines(requests: Vec<RequestTrace>) -> Vec<Line> {
    let mut root = Node::default();
    for request in requests {
        let address = request.step.clone();
        root.add(address.splitn(MOST_LEVELS, '.'), request);
    }
    let mut lines = Vec::new();
    root.children_into(0, &mut lines);
    lines
}

/// A step, or an item of it.
#[derive(Default)]
struct Node {
    name: String,
    requests: Vec<RequestTrace>,
    children: Vec<Self>,
}

impl Node {
    fn add<'a>(&mut self, address: impl Iterator<Item = &'a str>, request: RequestTrace) {
        let mut node = self;
        for name in address {
            let place = node.children.iter().position(|child| child.name == name).unwrap_or_else(|| {
                node.children.push(Self { name: name.to_owned(), ..Self::default() });
                node.children.len() - 1
            });
            node = &mut node.children[place];
        }
        node.requests.push(request);
    }

    fn span(&self) -> Option<Span> {
        let own = self.requests.iter().filter_map(|request| request.timing.as_ref()).map(Span::of);
        own.chain(self.children.iter().filter_map(Self::span)).reduce(Span::joined)
    }

    fn into_lines(self, depth: usize, lines: &mut Vec<Line>) {
        if self.requests.is_empty() {
            lines.push(Line { depth, name: self.name.clone(), span: self.span(), request: None });
        }
        for request in &self.requests {
            let span = request.timing.as_ref().map(Span::of);
            lines.push(Line { depth, name: name(&self.name, request), span, request: Some(request.clone()) });
        }
        self.children_into(depth + 1, lines);
    }

    fn children_into(self, depth: usize, lines: &mut Vec<Line>) {
        let steps: Vec<String> = self.children.iter().map(|child| step(&child.name).to_owned()).collect();
        let mut children = self.children;
        children.sort_by_cached_key(|child| {
            let first = steps.iter().position(|name| name == step(&child.name));
            (first, numbers(&child.name))
        });
        for child in children {
            child.into_lines(depth, lines);
        }
    }
}

/// Of `checked[3]` and of `checked#3` it is `checked`.
fn step(name: &str) -> &str {
    name.split(['[', '#']).next().unwrap_or(name)
}

/// Of `checked#1[3]` they are 1 and 3: its round and its item.
fn numbers(name: &str) -> Vec<u64> {
    name[step(name).len()..].split(['[', ']', '#']).filter_map(|number| number.parse().ok()).collect()
}

fn name(step: &str, request: &RequestTrace) -> String {
    let sample = if request.sample > 0 { format!(", reply {}", u64::from(request.sample) + 1) } else { String::new() };
    let attempt =
        if request.attempt > 0 { format!(", round {}", u64::from(request.attempt) + 1) } else { String::new() };
    format!("{step}{sample}{attempt}")
}

/// What is drawn of a line: of a request how long it waited, until its reply began, and until that was whole.
pub fn parts(line: &Line, whole: Span) -> Vec<Part> {
    let Some(span) = line.span else { return Vec::new() };
    let timing = line.request.as_ref().and_then(|request| request.timing);
    let Some(RequestTiming { asked, sent, first_byte, answered, .. }) = timing else {
        return vec![part("within", span.from, span.to, whole)];
    };
    let at = |after: u64| asked.saturating_add_unsigned(after);
    let sent = sent.unwrap_or(0).min(answered);
    let began = first_byte.unwrap_or(sent).clamp(sent, answered);
    let all = [("waited", 0, sent), ("began", sent, began), ("came", began, answered)];
    all.into_iter()
        .filter(|(_, from, to)| to > from)
        .map(|(class, from, to)| part(class, at(from), at(to), whole))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "it is drawn")]
fn part(class: &'static str, from: i64, to: i64, whole: Span) -> Part {
    let percent = |moment: i64| moment.abs_diff(whole.from) as f64 * 100.0 / whole.length().max(1) as f64;
    Part(class, percent(from), percent(to) - percent(from))
}

#[cfg(test)]
mod tests {
    use domain::api::workflows::AnswerKind;

    use super::*;

    fn request(step: &str, asked: i64, answered: u64) -> RequestTrace {
        RequestTrace {
            step: step.to_owned(),
            sample: 0,
            attempt: 0,
            answer: AnswerKind::Replied,
            prompt_tokens: 0,
            completion_tokens: 0,
            timing: Some(RequestTiming { asked, answered, ..RequestTiming::default() }),
        }
    }

    #[test]
    fn requests_stand_within_their_steps_and_items_in_their_order() {
        let again = RequestTrace { attempt: 1, ..request("outline", 80, 5) };
        let found = lines(vec![
            request("outline", 0, 70),
            request("sections[10].claims", 20, 10),
            request("sections[2].claims", 30, 10),
            request("sections[2].checked[0].verdict", 45, 5),
            again,
            request("talk#10.said", 86, 1),
            request("talk#2.said", 87, 1),
            request("last", 90, 10),
        ]);
        let found: Vec<(usize, &str, Option<Span>)> =
            found.iter().map(|line| (line.depth, line.name.as_str(), line.span)).collect();
        let span = |from, to| Some(Span { from, to });
        assert_eq!(
            found,
            [
                (0, "outline", span(0, 70)),
                (0, "outline, round 2", span(80, 85)),
                (0, "sections[2]", span(30, 50)),
                (1, "claims", span(30, 40)),
                (1, "checked[0]", span(45, 50)),
                (2, "verdict", span(45, 50)),
                (0, "sections[10]", span(20, 30)),
                (1, "claims", span(20, 30)),
                (0, "talk#2", span(87, 88)),
                (1, "said", span(87, 88)),
                (0, "talk#10", span(86, 87)),
                (1, "said", span(86, 87)),
                (0, "last", span(90, 100)),
            ]
        );
    }

    #[test]
    fn a_bar_shows_where_a_request_waited_and_when_its_reply_began() {
        let whole = Span { from: 1_000, to: 1_200 };
        let timing = RequestTiming { asked: 1_100, sent: Some(20), first_byte: Some(60), answered: 100, early: false };
        let one = RequestTrace { timing: Some(timing), ..request("a", 0, 0) };
        let line = |request: RequestTrace| lines(vec![request]).remove(0);
        assert_eq!(
            parts(&line(one), whole),
            [Part("waited", 50.0, 10.0), Part("began", 60.0, 20.0), Part("came", 80.0, 20.0)]
        );
        assert_eq!(parts(&line(request("code", 1_000, 100)), whole), [Part("came", 0.0, 50.0)]);
        assert_eq!(parts(&line(RequestTrace { timing: None, ..request("old", 0, 0) }), whole), []);
        assert_eq!(parts(&line(request("a.b", 1_000, 200)), whole), [Part("within", 0.0, 100.0)]);
    }

    #[test]
    fn an_address_of_any_length_is_drawn() {
        assert_eq!(lines(vec![request(&"a.".repeat(100_000), 0, 1)]).len(), MOST_LEVELS);
    }
}
