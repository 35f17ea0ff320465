//! The names of enums: strum writes and reads them as serde does, so that the database, flags and messages say what the API
//! says.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use strum::VariantArray;

use crate::outcome::Ending;
use crate::{access, api, corpus, dataset, export, fault, finding, job, outcome, persona, project, review};

fn agree<T>()
where
    T: Copy + Debug + PartialEq + Display + FromStr + Serialize + DeserializeOwned + VariantArray,
    &'static str: From<T>,
{
    assert!(!T::VARIANTS.is_empty());
    for value in T::VARIANTS {
        let name = <&str>::from(*value);
        assert_eq!(serde_json::to_value(value).unwrap(), name);
        assert_eq!(serde_json::from_value::<T>(name.into()).unwrap(), *value);
        assert_eq!(name.parse::<T>().ok(), Some(*value));
        assert_eq!(value.to_string(), name);
    }
}

#[test]
fn names_are_those_of_json() {
    agree::<access::Role>();
    agree::<access::Scope>();
    agree::<api::AssignmentState>();
    agree::<api::BuildState>();
    agree::<api::ManifestFormat>();
    agree::<api::QueueState>();
    agree::<api::RunState>();
    agree::<api::documents::Change>();
    agree::<api::probe::ProbeKind>();
    agree::<api::workers::Engine>();
    agree::<api::workers::WorkerOrder>();
    agree::<api::workers::WorkerState>();
    agree::<corpus::Dimension>();
    agree::<corpus::Side>();
    agree::<corpus::Step>();
    agree::<dataset::ColumnType>();
    agree::<export::Arguments>();
    agree::<export::Data>();
    agree::<export::Profile>();
    agree::<export::Reasoning>();
    agree::<export::Score>();
    agree::<export::Split>();
    agree::<export::ToolsAs>();
    agree::<fault::FaultKind>();
    agree::<finding::Grade>();
    agree::<finding::Rule>();
    agree::<job::JobKind>();
    agree::<job::JobState>();
    agree::<outcome::Blame>();
    agree::<persona::Complexity>();
    agree::<project::Kind>();
    agree::<review::Question>();
}

#[test]
fn an_ending_is_named_by_its_kind() {
    let endings = [
        Ending::UserEnded,
        Ending::WalkedOut,
        Ending::Terminal { tool: "transfer".into() },
        Ending::TurnLimit,
        Ending::StepLimit,
    ];
    for ending in endings {
        assert_eq!(serde_json::to_value(&ending).unwrap()["kind"], ending.into_str());
    }
}
