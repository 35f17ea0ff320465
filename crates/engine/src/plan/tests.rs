use proptest::prelude::*;

use super::*;
use crate::testing::scenario;

struct Documents {
    scenarios: Vec<Arc<Scenario>>,
    profiles: BTreeMap<String, Profile>,
    model: PersonaModel,
}

fn documents() -> Documents {
    let model = domain::parse("model.yaml", include_str!("../../../../personas/model.yaml")).expect("a model");
    let files = [
        include_str!("../../../../personas/profiles/newcomer.yaml"),
        include_str!("../../../../personas/profiles/busy_professional.yaml"),
        include_str!("../../../../personas/profiles/worried_parent.yaml"),
    ];
    let profiles = files.map(|text| domain::parse::<Profile>("profile.yaml", text).expect("a profile"));
    let ids = ["id: first", "id: second", "id: third"];
    Documents {
        scenarios: ids.map(|id| scenario(&[("id: small_refund", id)])).into(),
        profiles: profiles.map(|p| (p.name.clone(), p)).into(),
        model,
    }
}

fn drawn(documents: &Documents, seed: i64, rows: usize) -> Vec<(usize, String, u32, Complexity, Persona)> {
    let Documents { scenarios, profiles, model } = documents;
    let plan = Plan { scenarios, profiles, model, complexity: &BTreeMap::new(), seed };
    let whole = |row: Row<'_>| {
        let own = Seed::new(seed, &row.scenario.id, row.repeat);
        let user = persona(model, row.profile, row.scenario, &own);
        (row.position, row.scenario.id.clone(), row.repeat, row.complexity, user)
    };
    plan.rows(rows).expect("a plan").into_iter().map(whole).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_longer_plan_begins_with_the_shorter(seed: i64, rows in 0_usize..20, more in 0_usize..20) {
        let documents = documents();
        let longer = drawn(&documents, seed, rows + more);
        prop_assert_eq!(&longer[..rows], drawn(&documents, seed, rows));
    }
}

#[test]
fn a_plan_needs_scenarios_and_somebody_to_play_them() {
    let Documents { scenarios, profiles, model } = documents();
    let none = Plan { scenarios: &[], profiles: &profiles, model: &model, complexity: &BTreeMap::new(), seed: 1 };
    assert_eq!(none.rows(1).err().as_deref(), Some("there is no scenario to play"));
    let nobody =
        Plan { scenarios: &scenarios, profiles: &[].into(), model: &model, complexity: &BTreeMap::new(), seed: 1 };
    assert_eq!(nobody.rows(1).err().as_deref(), Some("no persona profile fits `first`"));
}

#[test]
fn a_mix_says_how_users_put_things_whatever_the_model_weighs() {
    let Documents { scenarios, profiles, model } = documents();
    let mix = ComplexityMix::from([(Complexity::Simple, 3.0), (Complexity::Vague, 1.0)]);
    let plan = Plan { scenarios: &scenarios, profiles: &profiles, model: &model, complexity: &mix, seed: 1 };
    let rows = plan.rows(4_000).expect("a plan");
    let share = |wanted| rows.iter().filter(|row| row.complexity == wanted).count();
    // Three of four, give or take four deviations of the count (27 each).
    assert!((2_890..3_110).contains(&share(Complexity::Simple)), "{}", share(Complexity::Simple));
    assert_eq!(share(Complexity::Simple) + share(Complexity::Vague), rows.len());
}
