//! The metrics of a workflow over the rows of a run, from rows that come one at a time.

use domain::analytics::{Interval, RunningMoments, of_mean, wilson};
use domain::api::workflows::{MetricFigure, MetricSummary};
use domain::workflow::Workflow;
use serde_json::{Map, Value};

/// What is stored of a row for the summary of its run: booleans and finite numbers.
pub fn encode(metrics: &Map<String, Value>) -> String {
    let counted = |value: &Value| match value {
        Value::Bool(_) => Some(value.clone()),
        value => value.as_f64().filter(|number| number.is_finite()).map(Value::from),
    };
    let counted = metrics.iter().filter_map(|(name, value)| Some((name.clone(), counted(value)?)));
    Value::Object(counted.collect()).to_string()
}

/// All metrics of a workflow.
pub struct Metrics(Vec<Metric>);

struct Metric {
    name: String,
    description: String,
    accepted: Values,
    all: Values,
}

/// The values of a metric.
#[derive(Default)]
struct Values {
    rows: u64,
    booleans: u64,
    moments: RunningMoments,
    of_true: u64,
    count: u64,
}

impl Metrics {
    pub fn of(document: &Workflow) -> Self {
        let metrics = document.metrics.iter().map(|(name, metric)| Metric {
            name: name.clone(),
            description: metric.description.clone(),
            accepted: Values::default(),
            all: Values::default(),
        });
        Self(metrics.collect())
    }

    /// Adds a row that has an output.
    pub fn add(&mut self, accepted: bool, values: &Map<String, Value>) {
        for metric in &mut self.0 {
            let value = values.get(&metric.name);
            metric.all.add(value);
            if accepted {
                metric.accepted.add(value);
            }
        }
    }

    pub fn summaries(self) -> Vec<MetricSummary> {
        let summary = |Metric { name, description, accepted, all }| MetricSummary {
            name,
            description,
            accepted: Values::figure(&accepted),
            all: Values::figure(&all),
        };
        self.0.into_iter().map(summary).collect()
    }
}

impl Values {
    fn add(&mut self, value: Option<&Value>) {
        self.rows += 1;
        let number = match value {
            Some(Value::Bool(value)) => {
                self.booleans += 1;
                self.of_true += u64::from(*value);
                Some(f64::from(u8::from(*value)))
            }
            value => value.and_then(Value::as_f64),
        };
        if let Some(number) = number {
            self.count += 1;
            self.moments.add(number);
        }
    }

    fn figure(&self) -> MetricFigure {
        let boolean = self.count > 0 && self.booleans == self.count;
        let rate = wilson(self.of_true, self.count).filter(|_| boolean);
        let moments = self.moments.moments();
        // Numbers near the largest that there are have a sum, but no mean.
        let mean = rate.map(|rate| rate.rate).or(moments.map(|moments| moments.mean)).filter(|mean| mean.is_finite());
        let interval = rate.map(|rate| rate.interval).or_else(|| of_mean(&moments?));
        let is_finite = |interval: &Interval| interval.low.is_finite() && interval.high.is_finite();
        MetricFigure {
            count: self.count,
            without_value: self.rows - self.count,
            mean,
            interval: interval.filter(is_finite),
            boolean,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn figures(rows: &[(bool, Value)]) -> Vec<MetricSummary> {
        let document = json!({
            "workflow": "w", "input": {}, "steps": {}, "output": {},
            "metrics": {"words": {"description": "Words", "value": "1"}, "good": {"value": "True"}},
        });
        let mut metrics = Metrics::of(&serde_json::from_value(document).expect("a workflow"));
        for (accepted, values) in rows {
            // As they are stored and read again.
            let stored = encode(values.as_object().expect("an object"));
            metrics.add(*accepted, &serde_json::from_str(&stored).expect("an object"));
        }
        metrics.summaries()
    }

    fn near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-6), "{found:?}, not {expected}");
    }

    #[test]
    fn numbers_have_students_interval_and_booleans_wilsons() {
        let row = |words: f64, good: bool| (true, json!({"words": words, "good": good}));
        let rows = [row(2.0, true), row(4.0, true), row(4.0, true), row(5.0, false), row(7.0, true)];
        let found = figures(&rows);
        let (words, good) = (found[0].accepted, found[1].accepted);
        assert_eq!((found[0].name.as_str(), found[0].description.as_str()), ("words", "Words"));
        // scipy.stats.t.interval(0.95, 4, loc=4.4, scale=scipy.stats.sem([2, 4, 4, 5, 7]))
        near(words.mean, 4.4);
        near(words.interval.map(|interval| interval.low), 2.144_405_3);
        near(words.interval.map(|interval| interval.high), 6.655_594_7);
        // statsmodels.stats.proportion.proportion_confint(4, 5, method="wilson")
        near(good.mean, 0.8);
        near(good.interval.map(|interval| interval.low), 0.375_534_6);
        near(good.interval.map(|interval| interval.high), 0.963_775_9);
        assert!(good.boolean && !words.boolean);
    }

    #[test]
    fn rows_without_a_value_are_counted_and_others_are_apart() {
        let found = figures(&[
            (true, json!({"words": 3, "good": true})),
            (true, json!({"words": "three", "other": 1})),
            (false, json!({"words": 9, "good": 1})),
        ]);
        let (accepted, all) = (found[0].accepted, found[0].all);
        assert_eq!((accepted.count, accepted.without_value, accepted.mean, accepted.interval), (1, 1, Some(3.0), None));
        assert_eq!((all.count, all.without_value, all.mean), (2, 1, Some(6.0)));
        let mixed = found[1].all;
        assert_eq!(
            (mixed.count, mixed.boolean, mixed.mean),
            (2, false, Some(1.0)),
            "booleans beside numbers are 0 and 1"
        );
        assert_eq!(figures(&[])[0].accepted, MetricFigure::default());
    }

    #[test]
    fn numbers_without_bounds_break_nothing() {
        let huge = || serde_json::from_str("{\"words\": 1e308, \"good\": 1e999}").expect("JSON");
        let low = || json!({"words": -1.7e308});
        let found = figures(&[(true, huge()), (true, huge()), (true, low()), (true, low())]);
        assert_eq!((found[0].accepted.count, found[1].accepted.without_value), (4, 4));
        let text = serde_json::to_string(&found).expect("it is written");
        assert_eq!(serde_json::from_str::<Vec<MetricSummary>>(&text).expect("it is read"), found);
    }
}
