//! The workflows that are shipped: their stand-ins turn their samples into what the documents say.
#![expect(clippy::unwrap_used, reason = "a test may fail so; the lint exempts test functions, but not their helpers")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use projects::library::{Files, workflows};
use workflow::{Workflow, play_sample};

fn shipped() -> BTreeMap<String, Arc<Workflow>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (workflows, problems) = workflows::compile(&Files::read(&root).unwrap());
    assert!(problems.is_empty(), "{}", problems.iter().map(|found| format!("{found}\n")).collect::<String>());
    workflows
}

#[test]
fn samples_become_what_the_documents_say() {
    for (name, workflow) in shipped() {
        assert!(workflow.spec.samples.len() >= 3, "{name} has fewer than three samples");
        for (i, sample) in workflow.spec.samples.iter().enumerate() {
            let report = play_sample(&workflow, &sample.input, 1).unwrap();
            let differs = report.differs_from(sample);
            assert_eq!(differs, None, "{name}, sample {i}");
            if let Some(output) = &report.output {
                let made = workflow.messages_of(&sample.input, output).and(workflow.pairs_of(&sample.input, output));
                assert!(made.is_ok(), "{name}, sample {i}: {made:?}");
            }
            for (metric, value) in &report.metrics {
                assert!(value.is_ok(), "{name}, sample {i}, {metric}: {value:?}");
            }
        }
    }
}
