//! The filters and tests that a template names.

use super::{Kind, Scan, Token, scanned};

/// The filters and tests that a source names, also those that `map`, `select` and their like are given as texts, each with its line.
/// Empty if it is too long or nests too deep.
pub fn callees(source: &str) -> Vec<Callee> {
    let Ok(mut scan) = scanned(source) else { return Vec::new() };
    // A name given as a text is noted before the callees inside the brackets, so the order is not yet that of the source.
    scan.callees.sort_by_key(|(_, place, _)| *place);
    let (mut line, mut at) = (1, 0);
    let callees = scan.callees.into_iter().map(|(kind, place, name)| {
        line += source.get(at..place).map_or(0, |passed| passed.matches('\n').count());
        at = place;
        Callee { kind, name, line }
    });
    callees.collect()
}

/// A filter or test that a template names. minijinja looks it up only when it renders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callee {
    pub kind: CalleeKind,
    pub name: String,
    /// Counted from 1.
    pub line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum CalleeKind {
    Filter,
    Test,
}

impl Scan<'_> {
    /// Notes what stands behind `|` and `is`, and, of a statement, behind `filter`, with what these are given.
    pub(super) fn filters_and_tests(&mut self, tokens: &[Token], is_statement: bool) {
        let is_name = |token: &Token| token.kind == Kind::Name;
        let names = ["from", "import", "include", "macro"];
        let is_naming = is_statement && tokens.first().is_some_and(|first| names.contains(&self.word(first)));
        for (i, token) in tokens.iter().enumerate() {
            let is_operator = i > 0 && self.ends_value(&tokens[i - 1]);
            let (kind, at) = match self.word(token) {
                "|" => (CalleeKind::Filter, i + 1),
                "filter" if i == 0 && is_statement => (CalleeKind::Filter, 1),
                // It may be a name as well, such as that of a macro.
                "is" if token.kind == Kind::Name && is_operator && !is_naming => {
                    let is_negated = self.is(tokens.get(i + 1), "not");
                    (CalleeKind::Test, i + 1 + usize::from(is_negated))
                }
                _ => continue,
            };
            let Some(first) = tokens.get(at).filter(|token| is_name(token)) else { continue };
            // A name may have several parts, with points between them.
            let mut last = at;
            while self.is(tokens.get(last + 1), ".") && tokens.get(last + 2).is_some_and(is_name) {
                last += 2;
            }
            let name: String = tokens[at..=last].iter().map(|token| self.word(token)).collect();
            if kind == CalleeKind::Filter {
                self.given(&name, tokens, last + 1);
            }
            self.callees.push((kind, first.range.start, name));
        }
    }

    /// Notes the filter or the test that a filter is given, if its name is written out. `open`: where its bracket would stand.
    fn given(&mut self, filter: &str, tokens: &[Token], open: usize) {
        let (kind, place) = match filter {
            "map" => (CalleeKind::Filter, 0),
            "select" | "reject" => (CalleeKind::Test, 0),
            "selectattr" | "rejectattr" => (CalleeKind::Test, 1),
            _ => return,
        };
        let Some(text) = self.text_argument(tokens, open, place) else { return };
        let name = &self.source[text.range.start + 1..text.range.end - 1];
        if !name.contains('\\') {
            self.callees.push((kind, text.range.start + 1, name.to_owned()));
        }
    }

    /// An argument of a call, if it is nothing but a text.
    fn text_argument<'t>(&self, tokens: &'t [Token], open: usize, place: usize) -> Option<&'t Token> {
        if !self.is(tokens.get(open), "(") {
            return None;
        }
        let (mut at, mut levels, mut passed) = (open + 1, 0_usize, 0);
        while passed < place {
            match self.word(tokens.get(at)?) {
                "(" | "[" | "{" => levels += 1,
                ")" | "]" | "}" => levels = levels.checked_sub(1)?,
                "," if levels == 0 => passed += 1,
                _ => {}
            }
            at += 1;
        }
        let argument = tokens.get(at).filter(|token| token.kind == Kind::Text)?;
        let is_whole = self.is(tokens.get(at + 1), ",") || self.is(tokens.get(at + 1), ")");
        is_whole.then_some(argument)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn filters_and_tests_are_found_with_their_lines() {
        let found = |source: &str| {
            let found = callees(source).into_iter().map(|one| format!("{} {} {}", one.line, one.kind, one.name));
            found.collect::<Vec<_>>().join(", ")
        };
        assert_snapshot!(found("{{ a | upper }}\n{% if b is not\n odd and c is\tin [d|first] %}{{ e|x.y(f|z, 'is g') }}{% endif %}"), @"1 filter upper, 3 test odd, 3 test in, 3 filter first, 3 filter x.y, 3 filter z");
        assert_snapshot!(found("{% filter upper | trim %}a | b is c{% endfilter %}{%- set x | lower -%}{% endset %}"), @"1 filter upper, 1 filter trim, 1 filter lower");
        let given = "{{ a|map('upper', 1)|select(\"odd\") }}\n{{ a|rejectattr(b|first, 'x y')|reject('in', [c]) }}";
        assert_snapshot!(found(given), @"1 filter map, 1 filter upper, 1 filter select, 1 test odd, 2 filter rejectattr, 2 filter first, 2 test x y, 2 filter reject, 2 test in");
        let computed = "{{ a|map(attribute='b')|select(c)|map('d' ~ e)|selectattr('f')|map }}";
        assert_snapshot!(found(computed), @"1 filter map, 1 filter select, 1 filter map, 1 filter selectattr, 1 filter map");
        for none in [
            "{{ \"a|b\" }} {{ 'x is y' ~ \"\\\"|z\" }}",
            "{# | x #} a | b is c",
            "{% raw %}{{ a | b }}{% endraw %}",
            "{{ filter }} {{ f(is=1) }} {{ a.is }}",
            "{% import 'a.md' as is %}{% from 'a.md' import is as other %}{% macro is(x) %}{% endmacro %}",
            "{% set filter = 1 %}{% if filter %}{% endif %}",
        ] {
            assert_eq!(found(none), "", "{none}");
        }
    }
}
