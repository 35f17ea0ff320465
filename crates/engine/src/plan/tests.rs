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

const ALONE: NonZeroU32 = NonZeroU32::MIN;

fn drawn(documents: &Documents, seed: i64, rows: usize) -> Vec<(usize, String, u32, Complexity, Persona)> {
    let Documents { scenarios, profiles, model } = documents;
    let plan = Plan { scenarios, profiles, model, complexity: &BTreeMap::new(), samples: ALONE, seed };
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

    /// All of a group is planned as the one conversation that there would be without samples.
    #[test]
    fn samples_stand_side_by_side_and_are_planned_alike(seed: i64, groups in 1_usize..12, samples in 1_u32..6) {
        let documents = documents();
        let alone = drawn(&documents, seed, groups);
        let Documents { scenarios, profiles, model } = &documents;
        let of_each = NonZeroU32::new(samples).expect("from 1");
        let plan = Plan { scenarios, profiles, model, complexity: &BTreeMap::new(), samples: of_each, seed };
        let rows = plan.rows(groups * samples as usize).expect("a plan");
        for (position, row) in rows.iter().enumerate() {
            let (number, sample) = group(position, of_each);
            prop_assert_eq!(number * samples as usize + sample as usize, position);
            let (_, scenario, repeat, complexity, _) = &alone[number];
            prop_assert_eq!((&row.scenario.id, row.repeat, row.complexity), (scenario, *repeat, *complexity));
            let own = Seed::new(seed, &row.scenario.id, row.repeat);
            prop_assert_eq!(&persona(model, row.profile, row.scenario, &own), &alone[number].4);
        }
    }
}

#[test]
fn a_plan_needs_scenarios_and_somebody_to_play_them() {
    let Documents { scenarios, profiles, model } = documents();
    let complexity = &BTreeMap::new();
    let none = Plan { scenarios: &[], profiles: &profiles, model: &model, complexity, samples: ALONE, seed: 1 };
    assert_eq!(none.rows(1).err().as_deref(), Some("there is no scenario to play"));
    let profiles = &[].into();
    let nobody = Plan { scenarios: &scenarios, profiles, model: &model, complexity, samples: ALONE, seed: 1 };
    assert_eq!(nobody.rows(1).err().as_deref(), Some("no persona profile fits `first`"));
}

#[test]
fn a_mix_says_how_users_put_things_whatever_the_model_weighs() {
    let Documents { scenarios, profiles, model } = documents();
    let mix = ComplexityMix::from([(Complexity::Simple, 3.0), (Complexity::Vague, 1.0)]);
    let plan =
        Plan { scenarios: &scenarios, profiles: &profiles, model: &model, complexity: &mix, samples: ALONE, seed: 1 };
    let rows = plan.rows(4_000).expect("a plan");
    let share = |wanted| rows.iter().filter(|row| row.complexity == wanted).count();
    // Three of four, give or take four deviations of the count (27 each).
    assert!((2_890..3_110).contains(&share(Complexity::Simple)), "{}", share(Complexity::Simple));
    assert_eq!(share(Complexity::Simple) + share(Complexity::Vague), rows.len());
}
