//! All figures once more, by plain queries over the tables.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;

use domain::analytics::{Analytics, Comparison, Distribution, Gap, MeanGap, Rate};
use sqlx::{FromRow, PgPool, query_as};
use uuid::Uuid;

/// `chosen` says which conversations make a set. Of those, `data` are what statistics are of.
const VIEWS: &str = "
    CREATE TABLE chosen (whole text, id uuid);
    CREATE VIEW begun AS
        SELECT whole, c.*, coalesce(c.blame, c.outcome, 'unfinished') AS ended, overall, goal_achieved, verdict
        FROM chosen JOIN tasks c USING (id)
             LEFT JOIN (verdicts JOIN judgings ON judgings.id = judging_id AND original) ON conversation_id = c.id
        WHERE NOT superseded;
    CREATE VIEW data AS SELECT * FROM begun WHERE outcome = 'accepted' OR blame = 'agent';
    CREATE VIEW scores AS
        SELECT whole, id, 'overall' AS name, overall::float8 AS value FROM data WHERE overall IS NOT NULL
        UNION ALL
        SELECT whole, id, score ->> 'criterion', (score ->> 'score')::float8
        FROM data CROSS JOIN jsonb_array_elements(verdict -> 'scores') AS score;
    CREATE VIEW ranked AS
        SELECT whole, id, name, value, (rank() OVER (PARTITION BY whole, name ORDER BY value)
            + (count(*) OVER (PARTITION BY whole, name, value) - 1) / 2.0)::float8 AS rank
        FROM scores;
    CREATE VIEW figures AS
        SELECT * FROM scores
        UNION ALL SELECT whole, id, 'turns', user_turns FROM data WHERE user_turns IS NOT NULL
        UNION ALL SELECT whole, id, 'tool_calls', tool_calls FROM data WHERE tool_calls IS NOT NULL;
    CREATE VIEW moments AS
        SELECT whole, name, count(*)::float8 AS n, avg(value) AS mean, var_samp(value) AS variance
        FROM figures GROUP BY whole, name;
    CREATE VIEW parts AS
        SELECT whole, outcome, overall, 'persona' AS kind, persona AS value FROM data
        UNION ALL SELECT whole, outcome, overall, 'complexity', complexity FROM data
        UNION ALL SELECT whole, outcome, overall, 'scenario', scenario FROM data
        UNION ALL SELECT whole, outcome, overall, 'turns', user_turns::text FROM data
        UNION ALL SELECT whole, outcome, overall, 'tool', tool FROM data CROSS JOIN unnest(tools) AS tool;
    CREATE VIEW flags AS
        SELECT whole, 'accepted' AS name, outcome = 'accepted' AS yes FROM data
        UNION ALL SELECT whole, 'goal_achieved', goal_achieved FROM data WHERE goal_achieved IS NOT NULL
        UNION ALL SELECT whole, 'verified', verified FROM data WHERE verified IS NOT NULL;
    -- The roots of (k / n - p)^2 = z^2 p (1 - p) / n.
    CREATE FUNCTION wilson(k float8, n float8, side float8) RETURNS float8 LANGUAGE sql AS $$
        SELECT (2 * k + z * z + side * z * sqrt(z * z + 4 * k * (1 - k / n))) / (2 * (n + z * z))
        FROM (SELECT 1.959963984540054::float8 AS z) AS normal
    $$;
    CREATE VIEW rates AS
        SELECT whole, name, k, n, k / n::float8 AS rate, wilson(k, n, -1) AS low, wilson(k, n, 1) AS high
        FROM (SELECT whole, name, count(*) FILTER (WHERE yes) AS k, count(*) AS n FROM flags GROUP BY whole, name) AS f";

pub async fn prepare(pool: &PgPool) {
    sqlx::raw_sql(VIEWS).execute(pool).await.unwrap();
}

/// Gives a name to a set of conversations.
pub async fn choose(pool: &PgPool, whole: &str, conversations: &[Uuid]) {
    let insert = "INSERT INTO chosen SELECT $1, unnest($2::uuid[])";
    sqlx::query(insert).bind(whole).bind(conversations).execute(pool).await.unwrap();
}

#[track_caller]
fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-9, "{what}: {found} is not {expected}");
}

#[track_caller]
fn assert_same(found: Option<f64>, expected: Option<f64>, what: &str) {
    match (found, expected) {
        (Some(found), Some(expected)) => assert_near(found, expected, what),
        (found, expected) => assert_eq!(found, expected, "{what}"),
    }
}

/// Each table of the answer.
pub async fn check(pool: &PgPool, whole: &str, found: &Analytics) {
    check_outcomes(pool, whole, found).await;
    check_rates(pool, whole, found).await;
    check_distributions(pool, whole, found).await;
    check_correlations(pool, whole, found).await;
    check_groups(pool, whole, found).await;
}

async fn check_outcomes(pool: &PgPool, whole: &str, found: &Analytics) {
    let outcomes: Vec<(String, i64, f64)> = query_as(
        "SELECT ended, count(*), count(*) / sum(count(*)::float8) OVER ()
         FROM begun WHERE whole = $1 GROUP BY ended ORDER BY ended COLLATE \"C\"",
    )
    .bind(whole)
    .fetch_all(pool)
    .await
    .unwrap();
    assert_eq!(outcomes.len(), found.outcomes.len(), "{:?}", found.outcomes);
    for (told, (ended, count, share)) in found.outcomes.iter().zip(&outcomes) {
        assert_eq!((&told.outcome, told.count), (ended, count.unsigned_abs()));
        assert_near(told.share, *share, ended);
    }
    assert_eq!(found.conversations, outcomes.iter().map(|(_, count, _)| count.unsigned_abs()).sum::<u64>());
}

#[derive(FromRow)]
struct ByRate {
    name: String,
    k: i64,
    n: i64,
    rate: f64,
    low: f64,
    high: f64,
}

impl ByRate {
    fn check(&self, found: &Rate) {
        assert_eq!((found.count, found.of), (self.k.unsigned_abs(), self.n.unsigned_abs()), "{}", self.name);
        assert_near(found.rate, self.rate, &self.name);
        assert_near(found.interval.low, self.low, &self.name);
        assert_near(found.interval.high, self.high, &self.name);
    }
}

async fn rates(pool: &PgPool, whole: &str) -> Vec<ByRate> {
    let rates = "SELECT name, k, n, rate, low, high FROM rates WHERE whole = $1 ORDER BY name";
    query_as(rates).bind(whole).fetch_all(pool).await.unwrap()
}

async fn check_rates(pool: &PgPool, whole: &str, found: &Analytics) {
    let mut told = found.rates.clone();
    told.extend(found.accepted.map(|rate| ("accepted".to_owned(), rate)));
    let expected = rates(pool, whole).await;
    assert_eq!(told.len(), expected.len());
    expected.iter().for_each(|expected| expected.check(&told[&expected.name]));
}

/// Name, how many, mean, deviation, quantiles.
type ByDistribution = (String, i64, f64, Option<f64>, Vec<f64>);

async fn check_distributions(pool: &PgPool, whole: &str, found: &Analytics) {
    let told: BTreeMap<&str, &Distribution> =
        found.scores.iter().chain(&found.lengths).map(|(name, told)| (name.as_str(), told)).collect();
    let all: Vec<ByDistribution> = query_as(
        "SELECT name, count(*), avg(value), stddev_samp(value),
                percentile_cont(ARRAY[0.05, 0.25, 0.5, 0.75, 0.95]) WITHIN GROUP (ORDER BY value)
         FROM figures WHERE whole = $1 GROUP BY name",
    )
    .bind(whole)
    .fetch_all(pool)
    .await
    .unwrap();
    assert_eq!(told.len(), all.len());
    for (name, n, mean, deviation, quantiles) in &all {
        let told = told[name.as_str()];
        assert_eq!(told.n, n.unsigned_abs(), "{name}");
        assert_near(told.mean, *mean, name);
        assert_same(told.deviation, *deviation, name);
        assert_eq!(told.quantiles.len(), quantiles.len());
        told.quantiles.iter().zip(quantiles).for_each(|(told, quantile)| assert_near(*told, *quantile, name));
    }
    let bins: Vec<(String, f64, i64)> = query_as(
        "SELECT name, value, count(*) FROM figures WHERE whole = $1 GROUP BY name, value
         ORDER BY name COLLATE \"C\", value",
    )
    .bind(whole)
    .fetch_all(pool)
    .await
    .unwrap();
    let told: Vec<(String, f64, i64)> = told
        .iter()
        .flat_map(|(name, told)| told.bins.iter().map(|bin| (*name, bin)))
        .map(|(name, bin)| (name.to_owned(), bin.value.into(), bin.count.cast_signed()))
        .collect();
    assert_eq!(told, bins);
}

/// Two names, how many have both, Pearson's and Spearman's.
type ByPair = (String, String, i64, Option<f64>, Option<f64>);

async fn check_correlations(pool: &PgPool, whole: &str, found: &Analytics) {
    let pairs: Vec<ByPair> = query_as(
        "SELECT a.name, b.name, count(*), corr(a.value, b.value), corr(a.rank, b.rank)
         FROM ranked a JOIN ranked b USING (whole, id) WHERE whole = $1 GROUP BY a.name, b.name
         ORDER BY a.name COLLATE \"C\", b.name COLLATE \"C\"",
    )
    .bind(whole)
    .fetch_all(pool)
    .await
    .unwrap();
    let told = &found.correlations;
    assert_eq!(told.scores.len().pow(2), pairs.len());
    let cells =
        told.scores.iter().enumerate().flat_map(|(i, a)| told.scores.iter().enumerate().map(move |b| (i, a, b)));
    for ((i, a, (j, b)), (one, other, n, pearson, spearman)) in cells.zip(&pairs) {
        assert_eq!((a, b), (one, other));
        assert_eq!(told.n[i][j], n.unsigned_abs(), "{a}, {b}");
        assert_same(told.pearson[i][j], *pearson, &format!("Pearson of {a} and {b}"));
        assert_same(told.spearman[i][j], *spearman, &format!("Spearman of {a} and {b}"));
    }
}

async fn check_groups(pool: &PgPool, whole: &str, found: &Analytics) {
    let kinds: Vec<&str> = found.groups.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["complexity", "persona", "scenario", "tool", "turns"]);
    for (kind, told) in &found.groups {
        let groups: Vec<(String, i64, i64, Option<f64>)> = query_as(
            "SELECT value, count(*) FILTER (WHERE outcome = 'accepted'), count(*), avg(overall)::float8
             FROM parts WHERE whole = $1 AND kind = $2 GROUP BY value
             ORDER BY CASE $2 WHEN 'turns' THEN value::integer END, count(*) DESC, value COLLATE \"C\"",
        )
        .bind(whole)
        .bind(kind)
        .fetch_all(pool)
        .await
        .unwrap();
        assert_eq!((told.groups.len(), told.distinct), (groups.len(), groups.len() as u64), "{kind}");
        for (told, (value, accepted, of, overall)) in told.groups.iter().zip(&groups) {
            assert_eq!(&told.value, value, "{kind}");
            assert_eq!(
                (told.accepted.count, told.accepted.of),
                (accepted.unsigned_abs(), of.unsigned_abs()),
                "{value}"
            );
            assert_same(told.overall, *overall, value);
        }
    }
}

/// How far two sets differ.
pub async fn check_comparison(pool: &PgPool, one: &str, other: &str, found: &Comparison) {
    let (ones, others) = (rates(pool, one).await, rates(pool, other).await);
    let names: Vec<&str> = found.rates.keys().map(String::as_str).collect();
    assert_eq!(names, ["accepted", "goal_achieved", "verified"]);
    for (one, other) in ones.iter().zip(&others) {
        let told = &found.rates[&one.name];
        one.check(&told.one);
        other.check(&told.other);
        assert_near(told.gap.difference, other.rate - one.rate, &one.name);
        let below = ((other.rate - other.low).powi(2) + (one.high - one.rate).powi(2)).sqrt();
        let above = ((other.high - other.rate).powi(2) + (one.rate - one.low).powi(2)).sqrt();
        assert_near(told.gap.interval.low, other.rate - one.rate - below, &one.name);
        assert_near(told.gap.interval.high, other.rate - one.rate + above, &one.name);
        assert_significance(&told.gap, &one.name);
    }
    check_gaps(pool, one, other, &found.means).await;
}

#[track_caller]
fn assert_significance(gap: &Gap, what: &str) {
    let interval = gap.interval.low..=gap.interval.high;
    assert_eq!(gap.significant, !interval.contains(&0.0), "{what}: {gap:?}");
}

#[derive(FromRow)]
struct ByMean {
    name: String,
    one: f64,
    one_n: i64,
    other: f64,
    other_n: i64,
    /// Of the difference.
    error: f64,
    freedom: Option<f64>,
    effect: Option<f64>,
}

/// How far the means of two sets differ.
pub async fn check_gaps(pool: &PgPool, one: &str, other: &str, found: &BTreeMap<String, MeanGap>) {
    let gaps: Vec<ByMean> = query_as(
        "SELECT name, a.mean AS one, a.n::bigint AS one_n, b.mean AS other, b.n::bigint AS other_n,
                sqrt(a.variance / a.n + b.variance / b.n) AS error,
                power(a.variance / a.n + b.variance / b.n, 2)
                    / nullif(power(a.variance / a.n, 2) / (a.n - 1) + power(b.variance / b.n, 2) / (b.n - 1), 0)
                    AS freedom,
                (b.mean - a.mean)
                    / nullif(sqrt(((a.n - 1) * a.variance + (b.n - 1) * b.variance) / (a.n + b.n - 2)), 0)
                    * (1 - 3 / (4 * (a.n + b.n - 2) - 1)) AS effect
         FROM moments a JOIN moments b USING (name) WHERE a.whole = $1 AND b.whole = $2",
    )
    .bind(one)
    .bind(other)
    .fetch_all(pool)
    .await
    .unwrap();
    assert_eq!(found.len(), gaps.len());
    for expected in &gaps {
        let (name, told) = (&expected.name, &found[&expected.name]);
        assert_near(told.one, expected.one, name);
        assert_near(told.other, expected.other, name);
        assert_eq!(
            (told.one_n, told.other_n),
            (expected.one_n.unsigned_abs(), expected.other_n.unsigned_abs()),
            "{name}"
        );
        assert_same(told.effect, expected.effect, name);
        let gap = told.gap.unwrap();
        assert_near(gap.difference, expected.other - expected.one, name);
        assert_near(f64::midpoint(gap.interval.low, gap.interval.high), gap.difference, name);
        assert_significance(&gap, name);
        let half = (gap.interval.high - gap.interval.low) / 2.0;
        match expected.freedom {
            Some(freedom) => assert!((middle(half / expected.error, freedom) - 0.95).abs() < 1e-6, "{name}: {gap:?}"),
            None => assert_near(half, 0.0, name),
        }
    }
}

/// How much of Student's distribution lies within so many standard errors: with t = sqrt(freedom) tan(x) its density is a
/// power of the cosine of x.
fn middle(errors: f64, freedom: f64) -> f64 {
    let area = |to: f64| {
        let step = to / 20_000.0;
        (0..20_000).map(|i| ((f64::from(i) + 0.5) * step).cos().powf(freedom - 1.0) * step).sum::<f64>()
    };
    area((errors / freedom.sqrt()).atan()) / area(FRAC_PI_2)
}
