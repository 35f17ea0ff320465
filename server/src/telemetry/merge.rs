//! Figures of several processes as those of one.

use std::collections::HashMap;

/// Adds up the series of texts in Prometheus' format that have the same name and labels.
pub fn merged(texts: &[String]) -> String {
    let mut families: Vec<Family<'_>> = Vec::new();
    for line in texts.iter().flat_map(|text| text.lines()).filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix("# ") {
            let name = comment.split(' ').nth(1).unwrap_or_default();
            let family = find(&mut families, name);
            if !family.comments.contains(&line) {
                family.comments.push(line);
            }
        } else if let Some((series, value)) = line.rsplit_once(' ') {
            let name = series.split('{').next().unwrap_or_default();
            let at = families.iter().rposition(|family| family.has(name));
            let family = match at {
                Some(at) => &mut families[at],
                None => find(&mut families, name),
            };
            family.add(series, value.parse().unwrap_or_default());
        }
    }
    families.iter().map(Family::text).collect()
}

#[derive(Default)]
struct Family<'a> {
    name: &'a str,
    comments: Vec<&'a str>,
    series: Vec<(&'a str, f64)>,
    places: HashMap<&'a str, usize>,
}

fn find<'f, 'a>(families: &'f mut Vec<Family<'a>>, name: &'a str) -> &'f mut Family<'a> {
    let at = families.iter().position(|family| family.name == name).unwrap_or_else(|| {
        families.push(Family { name, ..Family::default() });
        families.len() - 1
    });
    &mut families[at]
}

impl<'a> Family<'a> {
    /// A histogram's series are called after it, and end differently.
    fn has(&self, series: &str) -> bool {
        series.strip_prefix(self.name).is_some_and(|rest| matches!(rest, "" | "_bucket" | "_sum" | "_count"))
    }

    fn add(&mut self, series: &'a str, value: f64) {
        let at = *self.places.entry(series).or_insert(self.series.len());
        match self.series.get_mut(at) {
            Some((_, sum)) => *sum += value,
            None => self.series.push((series, value)),
        }
    }

    fn text(&self) -> String {
        let comments = self.comments.iter().map(|line| format!("{line}\n"));
        let series = self.series.iter().map(|(series, value)| format!("{series} {value}\n"));
        comments.chain(series).chain(["\n".to_owned()]).collect()
    }
}
