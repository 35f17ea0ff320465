//! How a manifest is written: what was selected, and what was not and why.

use domain::api::{ManifestFormat, ManifestRow};

/// A manifest that is written page by page.
pub struct Text {
    format: ManifestFormat,
    begun: bool,
}

const COLUMNS: [&str; 8] = ["ordinal", "conversation", "run", "position", "scenario", "split", "dropped_by", "reason"];

impl Text {
    pub fn new(format: ManifestFormat) -> Self {
        Self { format, begun: false }
    }

    pub fn page(&mut self, rows: &[ManifestRow]) -> anyhow::Result<Vec<u8>> {
        let first = !std::mem::replace(&mut self.begun, true);
        match self.format {
            ManifestFormat::Jsonl => {
                let mut text = Vec::new();
                for row in rows {
                    text.extend(line(row)?);
                }
                Ok(text)
            }
            ManifestFormat::Csv => {
                let mut text = csv::Writer::from_writer(Vec::new());
                if first {
                    text.write_record(COLUMNS)?;
                }
                for row in rows {
                    text.write_record(record(row))?;
                }
                Ok(text.into_inner().map_err(csv::IntoInnerError::into_error)?)
            }
        }
    }
}

/// One line of JSON. What a corpus' hash is made of.
pub fn line(row: &ManifestRow) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(row)?;
    line.push(b'\n');
    Ok(line)
}

fn record(row: &ManifestRow) -> [String; 8] {
    [
        row.ordinal.to_string(),
        row.conversation.clone(),
        row.run.clone(),
        row.position.to_string(),
        row.scenario.clone(),
        row.split.map(|side| side.to_string()).unwrap_or_default(),
        row.dropped_by.map(|step| step.to_string()).unwrap_or_default(),
        row.reason.clone().unwrap_or_default(),
    ]
}
