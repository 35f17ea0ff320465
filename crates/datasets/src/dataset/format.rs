//! The formats of files with rows.

/// A format, told by the end of a file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    pub kind: Kind,
    pub packing: Packing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    JsonLines,
    Csv { delimiter: u8 },
    Text,
    Parquet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Format {
    /// All that there are, for people.
    pub const NAMES: &str = ".jsonl, .csv, .tsv or .txt, also with .gz or .zst, or .parquet";

    pub fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let (name, packing) = match name.strip_suffix(".gz") {
            Some(name) => (name, Packing::Gzip),
            None => name.strip_suffix(".zst").map_or((name.as_str(), Packing::None), |name| (name, Packing::Zstd)),
        };
        let kind = match name.rsplit_once('.')?.1 {
            "jsonl" | "ndjson" | "json" => Kind::JsonLines,
            "csv" => Kind::Csv { delimiter: b',' },
            "tsv" => Kind::Csv { delimiter: b'\t' },
            "txt" => Kind::Text,
            "parquet" if packing == Packing::None => Kind::Parquet,
            _ => return None,
        };
        Some(Self { kind, packing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_tells_the_format() {
        let format = |kind, packing| Some(Format { kind, packing });
        let csv = Kind::Csv { delimiter: b',' };
        for (name, expected) in [
            ("rows.jsonl", format(Kind::JsonLines, Packing::None)),
            ("a.b/Rows.JSON.GZ", format(Kind::JsonLines, Packing::Gzip)),
            ("rows.csv.zst", format(csv, Packing::Zstd)),
            ("notes.txt", format(Kind::Text, Packing::None)),
            ("rows.parquet", format(Kind::Parquet, Packing::None)),
            ("rows.parquet.gz", None),
            ("README.md", None),
            ("rows.gz", None),
            ("csv", None),
        ] {
            assert_eq!(Format::of(name), expected, "{name}");
        }
    }
}
