//! Files of every format become the same rows, and what is wrong with one is told with its place.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringDictionaryBuilder, TimestampMillisecondBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{Array as _, ArrayRef, RecordBatch, TimestampMillisecondArray};
use arrow_json::ReaderBuilder;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use domain::dataset::{Column, ColumnType};
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use sandbox::Sandbox;
use serde_json::{Value, json};
use store::objects::Objects;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::import::{Options, Sizes, Target, import};
use super::{OpenDataset, Row, SourceError, WrittenDataset, files};
use crate::room::Room;

struct Bench {
    folder: TempDir,
    objects: Objects,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        let objects = Objects::of_folder(folder.path().join("objects")).unwrap();
        Self { folder, objects }
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.input().join(name), bytes).unwrap();
        self
    }

    fn input(&self) -> std::path::PathBuf {
        self.folder.path().join("in")
    }

    async fn import_with(&self, options: Options, sizes: Sizes) -> anyhow::Result<WrittenDataset> {
        let found = files::find(self.input().to_str().unwrap()).await?;
        let target =
            Target { objects: self.objects.clone(), prefix: "datasets/d/a".into(), room: Room::default(), sizes };
        import(found, options, target, CancellationToken::new(), |_| {}).await
    }

    async fn import(&self) -> anyhow::Result<WrittenDataset> {
        self.import_with(Options::default(), Sizes::default()).await
    }

    /// What is wrong with the files; nothing is left of them then.
    async fn refused(&self) -> String {
        let error = self.import().await.unwrap_err();
        let told = error.downcast_ref::<SourceError>().unwrap_or_else(|| panic!("{error:#}")).to_string();
        assert!(self.objects.list("datasets").await.unwrap().is_empty());
        told
    }

    async fn rows(&self, written: &WrittenDataset) -> Vec<Row> {
        self.open(written).rows(0..u64::MAX).await.unwrap()
    }

    fn open(&self, written: &WrittenDataset) -> OpenDataset {
        let names = written.columns.iter().map(|column| column.name.clone()).collect();
        OpenDataset::new(self.objects.clone(), Uuid::nil(), names, written.parts.clone())
    }
}

fn kinds(columns: &[Column]) -> Vec<(&str, ColumnType)> {
    columns.iter().map(|column| (column.name.as_str(), column.kind)).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

fn parquet(fields: Vec<Field>, lines: &str) -> Vec<u8> {
    let schema = std::sync::Arc::new(Schema::new(fields));
    let mut decoder = ReaderBuilder::new(std::sync::Arc::clone(&schema)).build_decoder().unwrap();
    decoder.decode(lines.as_bytes()).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, None).unwrap();
    writer.write(&decoder.flush().unwrap().unwrap()).unwrap();
    writer.into_inner().unwrap()
}

const LINES: &str = "\u{feff}{\"id\": 1, \"text\": \"Köln, \\\"a\\\"\", \"score\": 0.5, \"good\": true}\r\n\n{\"id\": 2, \"text\": \"b\", \"score\": 2.0, \"good\": false}\n";
const CSV: &str = "id,text,score,good\n1,\"Köln, \"\"a\"\"\",0.5,true\n2,b,2.0,false";

#[tokio::test]
async fn every_format_gives_the_same_rows() {
    use ColumnType::{Boolean, Integer, Number, Text};
    let fields = vec![
        Field::new("id", DataType::Int64, true),
        Field::new("text", DataType::Utf8, true),
        Field::new("score", DataType::Float64, true),
        Field::new("good", DataType::Boolean, true),
    ];
    let plain = LINES.trim_start_matches('\u{feff}');
    let files: [(&str, Vec<u8>); 7] = [
        ("a.jsonl", LINES.into()),
        ("a.json.gz", [gzip(&plain[..plain.len() - 61]), gzip(&plain[plain.len() - 61..])].concat()),
        ("a.ndjson.zst", zstd::encode_all(LINES.as_bytes(), 1).unwrap()),
        ("a.csv", CSV.into()),
        ("a.csv.gz", gzip(CSV)),
        ("a.tsv", CSV.replace("Köln, ", "Köln; ").replace(',', "\t").replace(';', ",").into()),
        ("a.parquet", parquet(fields, plain)),
    ];
    let mut hashes = Vec::new();
    for (name, bytes) in files {
        let bench = Bench::new();
        let written = bench.put(name, bytes).import().await.unwrap_or_else(|error| panic!("{name}: {error:#}"));
        let expected = [("id", Integer), ("text", Text), ("score", Number), ("good", Boolean)];
        assert_eq!(kinds(&written.columns), expected, "{name}");
        let expected = [
            json!({"id": 1, "text": "Köln, \"a\"", "score": 0.5, "good": true}),
            json!({"id": 2, "text": "b", "score": 2.0, "good": false}),
        ];
        let rows: Vec<Value> = bench.rows(&written).await.into_iter().map(Value::Object).collect();
        assert_eq!(rows, expected, "{name}");
        hashes.push(written.hash);
    }
    hashes.dedup();
    assert_eq!(hashes.len(), 1, "the same rows have the same hash");
}

#[tokio::test]
async fn lines_of_texts_are_rows() {
    let bench = Bench::new();
    let written = bench.put("a.txt", " one \n\ntwo\r\n").import().await.unwrap();
    assert_eq!(kinds(&written.columns), [("text", ColumnType::Text)]);
    let rows: Vec<Value> = bench.rows(&written).await.into_iter().map(Value::Object).collect();
    assert_eq!(rows, [json!({"text": " one "}), json!({"text": "two"})]);
}

#[tokio::test]
async fn a_folder_is_read_in_the_order_of_its_names_and_types_grow_wider() {
    let bench = Bench::new();
    bench.put("a.jsonl", "{\"id\": 1, \"x\": 1, \"l\": [1]}\n{\"id\": 2}\n");
    bench.put("b.jsonl", "{\"id\": 3, \"x\": 1.5}\n");
    bench.put("c.jsonl", "{\"id\": \"four\", \"x\": null, \"l\": {\"a\": null}}\n");
    let sizes = Sizes { group_rows: 1, ..Sizes::default() };
    let written = bench.import_with(Options::default(), sizes).await.unwrap();
    assert_eq!(kinds(&written.columns), [("id", ColumnType::Json), ("x", ColumnType::Number), ("l", ColumnType::Json)]);
    assert_eq!(written.parts.len(), 3, "a part for each layout");
    let rows: Vec<Value> = bench.rows(&written).await.into_iter().map(Value::Object).collect();
    assert_eq!(
        rows,
        [
            json!({"id": 1, "x": 1, "l": [1]}),
            json!({"id": 2, "x": null, "l": null}),
            json!({"id": 3, "x": 1.5, "l": null}),
            json!({"id": "four", "x": null, "l": {"a": null}}),
        ]
    );
    let x = &written.columns[1].statistics;
    assert_eq!((x.nulls, x.distinct, x.numbers.as_ref().unwrap().mean), (2, 2, 1.25));
}

#[tokio::test]
async fn only_the_row_groups_that_are_needed_are_read() {
    let bench = Bench::new();
    let lines: String = (0..1_000).map(|i| format!("{{\"id\": {i}, \"text\": \"row {i}\"}}\n")).collect();
    bench.put("a.jsonl", lines);
    let sizes = Sizes { group_rows: 64, part_bytes: 2_000, ..Sizes::default() };
    let written = bench.import_with(Options::default(), sizes).await.unwrap();
    assert!(written.parts.len() > 2, "{:?}", written.parts);
    assert_eq!(written.parts.iter().map(domain::dataset::DatasetPart::rows).sum::<u64>(), 1_000);
    let open = bench.open(&written);
    assert_eq!((open.len(), open.columns().len()), (1_000, 2));
    for range in [0..1, 60..70, 63..64, 999..1_000, 500..900, 990..2_000, 1_000..1_001, 7..7] {
        let rows = open.rows(range.clone()).await.unwrap();
        let ids: Vec<u64> = rows.iter().map(|row| row["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, (range.start..range.end.min(1_000)).collect::<Vec<_>>());
    }
    assert_eq!(open.row(77).await.unwrap()["text"], "row 77");
    assert!(open.row(1_000).await.unwrap_err().to_string().contains("has 1000 rows and none at position 1000"));
    // What is in memory needs no storage; what is not cannot do without.
    bench.objects.delete_below("datasets").await.unwrap();
    assert_eq!(open.row(77).await.unwrap()["id"], 77);
    assert!(open.row(700).await.unwrap_err().to_string().starts_with("cannot read datasets/d/a-"));
}

#[tokio::test]
async fn nested_columns_of_parquet_become_json() {
    let point = Field::new("p", DataType::Struct(vec![Field::new("x", DataType::Int32, true)].into()), true);
    let list = Field::new("l", DataType::new_list(DataType::Utf8, true), true);
    let empty = Field::new("n", DataType::Utf8, true);
    let bench = Bench::new();
    let bytes =
        parquet(vec![point, list, empty], "{\"p\": {\"x\": 1}, \"l\": [\"a\", null]}\n{\"p\": null, \"l\": []}\n");
    bench.put("a.parquet", bytes);
    for options in [Options::default(), sandboxed()] {
        let written = bench.import_with(options, Sizes::default()).await.unwrap();
        let rows: Vec<Value> = bench.rows(&written).await.into_iter().map(Value::Object).collect();
        assert_eq!(rows, [json!({"p": {"x": 1}, "l": ["a", null], "n": null}), json!({"p": null, "l": [], "n": null})]);
        assert!(written.columns.iter().all(|column| column.kind == ColumnType::Json));
    }
}

#[tokio::test]
async fn moments_of_named_time_zones_are_those_of_utc() {
    let zone = |name: &str| DataType::Timestamp(TimeUnit::Millisecond, Some(name.into()));
    let list = DataType::new_list(zone("Europe/Berlin"), true);
    let fields = [("u", zone("UTC")), ("o", zone("+02:00")), ("l", list)].map(|(name, of)| Field::new(name, of, true));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let moment = 1_700_000_000_000_i64;
    let of = |name: &str| TimestampMillisecondArray::from(vec![moment]).with_timezone(name);
    let mut listed = ListBuilder::new(TimestampMillisecondBuilder::new().with_data_type(zone("Europe/Berlin")));
    listed.append_value([Some(moment)]);
    let columns: Vec<ArrayRef> = vec![Arc::new(of("UTC")), Arc::new(of("+02:00")), Arc::new(listed.finish())];
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), None).unwrap();
    writer.write(&RecordBatch::try_new(schema, columns).unwrap()).unwrap();
    let bench = Bench::new();
    bench.put("a.parquet", writer.into_inner().unwrap());
    let written = bench.import().await.unwrap();
    let rows: Vec<Value> = bench.rows(&written).await.into_iter().map(Value::Object).collect();
    let utc = "2023-11-14T22:13:20Z";
    assert_eq!(rows, [json!({"u": utc, "o": "2023-11-15T00:13:20+02:00", "l": [utc]})]);
}

#[tokio::test]
async fn numbers_of_many_digits_and_texts_of_many_lines_are_kept() {
    let bench = Bench::new();
    bench.put("a.jsonl", "{\"a\": 1.5, \"b\": 123456789012345678901.25}\n{\"a\": 0.1, \"b\": 2}\n");
    let written = bench.import().await.unwrap();
    assert_eq!(kinds(&written.columns), [("a", ColumnType::Number), ("b", ColumnType::Json)]);
    assert_eq!(bench.rows(&written).await[0]["b"].to_string(), "123456789012345678901.25");
    let bench = Bench::new();
    bench.put("a.csv", "a,b\n1,\"two\nlines\"\n");
    let written = bench.import().await.unwrap();
    assert_eq!(bench.rows(&written).await[0]["b"], json!("two\nlines"));
}

/// Files of others are decoded as jobs have it done.
fn sandboxed() -> Options {
    let own = std::env::current_exe().unwrap();
    let decoder = own.parent().unwrap().parent().unwrap().join("examples/decoder");
    assert!(decoder.is_file(), "cargo builds {} with the tests", decoder.display());
    Options { decoder: Sandbox::of_program(decoder), ..Options::default() }
}

#[tokio::test]
async fn parquet_is_the_same_rows_wherever_it_is_decoded() {
    let lines: String =
        (0..1_000).map(|i| format!("{{\"id\": {i}, \"t\": \"text {}\"}}\n", "x".repeat(i % 300))).collect();
    let fields = vec![Field::new("id", DataType::Int64, true), Field::new("t", DataType::Utf8, true)];
    let bench = Bench::new();
    bench.put("a.parquet", parquet(fields, &lines));
    let here = bench.import_with(Options::default(), Sizes::default()).await.unwrap();
    let elsewhere = bench.import_with(sandboxed(), Sizes::default()).await.unwrap();
    assert_eq!((here.rows, here.hash), (1_000, elsewhere.hash));
}

/// Some KB of which one row is 1.2 GB.
#[tokio::test]
async fn parquet_that_asks_for_more_than_there_is_is_refused_with_the_limit() {
    let mut lists = ListBuilder::new(StringDictionaryBuilder::<Int32Type>::new());
    let word = "x".repeat(4 << 20);
    for _ in 0..300 {
        lists.values().append(&word).unwrap();
    }
    lists.append(true);
    let column = lists.finish();
    let schema = Arc::new(Schema::new(vec![Field::new("l", column.data_type().clone(), true)]));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_page_size_limit(64 << 20)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, Arc::clone(&schema), Some(properties)).unwrap();
    writer.write(&RecordBatch::try_new(schema, vec![Arc::new(column)]).unwrap()).unwrap();
    writer.close().unwrap();
    assert!(bytes.len() < 100_000, "{}", bytes.len());
    let bench = Bench::new();
    bench.put("a.parquet", bytes);
    let error = bench.import_with(sandboxed(), Sizes::default()).await.unwrap_err().to_string();
    // On a slow machine, a minute of computing time is over before memory is.
    assert!(error.starts_with("a.parquet: it cannot be decoded: it needs more than"), "{error}");
    assert!(bench.objects.list("datasets").await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_wrong_is_told_with_file_and_line() {
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(domain::dataset::LONGEST_ROW));
    let open_quote = format!("a,b\n1,\"{}", "x".repeat(2 * domain::dataset::LONGEST_ROW));
    let mut cut = gzip(&"{\"a\": 1}\n".repeat(1_000));
    cut.truncate(cut.len() - 20);
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(60), "]".repeat(60));
    let late = format!("a\n{}x\n", "1\n".repeat(1_500));
    for (name, bytes, expected) in [
        (
            "a.jsonl",
            b"{\"a\": 1}\n\n{\"a\": }\n".to_vec(),
            "a.jsonl, line 3: it is no JSON object that can be kept: expected value at column 7",
        ),
        ("a.jsonl", b"{\"a\": 1}\n[1]\n".to_vec(), "a.jsonl, line 2: expected a JSON object, found a list"),
        (
            "a.jsonl",
            b"[\n{\"a\": 1}]\n".to_vec(),
            "a.jsonl, line 1: the file is a JSON array, and each line must be an object; write it with: jq -c '.[]'",
        ),
        (
            "a.jsonl",
            b"{\"a\": 1}\n{\"b\": 1}\n".to_vec(),
            "a.jsonl, line 2: the column `b` is not among the columns of the rows before (`a`)",
        ),
        (
            "a.jsonl",
            b"{\"a\": 1, \"a\": 2}\n".to_vec(),
            "a.jsonl, line 1: it is no JSON object that can be kept: the key `a` is written twice in one object",
        ),
        (
            "a.jsonl",
            b"{\"a\": \"x\\u0000\"}\n".to_vec(),
            "a.jsonl, line 1: it is no JSON object that can be kept: a text holds the character U+0000 (column `a`)",
        ),
        (
            "a.jsonl",
            deep.into_bytes(),
            "a.jsonl, line 1: it is no JSON object that can be kept: nested deeper than 48 levels (column `a`)",
        ),
        (
            "a.jsonl",
            b"{\"a\": \"\xff\"}\n".to_vec(),
            "a.jsonl, line 1: it is not UTF-8 text: invalid utf-8 sequence of 1 bytes from index 7",
        ),
        (
            "a.jsonl",
            long.into_bytes(),
            "a.jsonl, line 1: the line is longer than the 16777216 bytes that a row may have",
        ),
        ("a.jsonl", b"\n \n".to_vec(), "a.jsonl: there are no rows"),
        ("a.jsonl", b"{}\n{}\n".to_vec(), "a.jsonl: the rows have no columns"),
        ("a.csv", b"".to_vec(), "a.csv: it is empty; the first line must name the columns"),
        (
            "a.csv",
            b"a,b\n1,2\n\"3\n\",4,5\n".to_vec(),
            "a.csv, line 3: the row has 3 values, and the first line names 2 columns",
        ),
        ("a.csv", b"a,,b\n".to_vec(), "a.csv, line 1: column 2 has no name"),
        ("a.csv", b"a,b\n1,x\n2,\0\n".to_vec(), "a.csv, line 3: a text holds the character U+0000 (column `b`)"),
        ("a.csv", b"a,b,a\n".to_vec(), "a.csv, line 1: the column `a` is named twice"),
        (
            "a.csv",
            b"a\n\xff\n".to_vec(),
            "a.csv, line 2: it is not UTF-8 text: invalid utf-8 sequence of 1 bytes from index 0",
        ),
        (
            "a.csv",
            late.into_bytes(),
            "a.csv, line 1502: the column `a` holds whole numbers in the rows before, and `x` is none; mend it, or read all values as texts (csv_as_text)",
        ),
        (
            "a.csv",
            open_quote.into_bytes(),
            "a.csv, line 2: cannot be read: a row is longer than the 16777216 bytes that it may have; is a quotation mark open?",
        ),
        (
            "a.csv",
            b"a,b\n1,\"2\n3,4\n".to_vec(),
            "a.csv, line 2: a quotation mark is opened in this row and never closed, so all rows behind it are one value",
        ),
        (
            "a.parquet",
            parquet(
                vec![Field::new("a", DataType::Int32, true), Field::new("a", DataType::Int32, true)],
                "{\"a\": 1}\n",
            ),
            "a.parquet: it has two columns with the name `a`",
        ),
        ("a.parquet", b"PAR1 no".to_vec(), "a.parquet: it is no Parquet file that can be read: "),
        ("a.jsonl.gz", b"no gzip".to_vec(), "a.jsonl.gz, line 1: cannot be read: "),
        ("a.jsonl.gz", cut, "a.jsonl.gz, line "),
        ("a.jsonl.zst", b"no zstd at all".to_vec(), "a.jsonl.zst, line 1: cannot be read: "),
    ] {
        let told = Bench::new().put(name, bytes).refused().await;
        let fits = if expected.ends_with(' ') { told.starts_with(expected) } else { told == expected };
        assert!(fits, "{told}\nexpected {expected}");
    }
}

#[tokio::test]
async fn broken_parquet_is_told_by_its_row() {
    let lines: String = (0..5_000).map(|i| format!("{{\"t\": \"text number {i} {}\"}}\n", i * 7919)).collect();
    let whole = parquet(vec![Field::new("t", DataType::Utf8, true)], &lines);
    for at in [whole.len() / 2, 100] {
        let mut broken = whole.clone();
        broken[at..at + 40].fill(0xff);
        let bench = Bench::new();
        bench.put("a.parquet", broken);
        let mut all = Vec::new();
        for options in [Options::default(), sandboxed()] {
            let told = format!("{:#}", bench.import_with(options, Sizes::default()).await.unwrap_err());
            assert!(told.starts_with("a.parquet, row ") && told.contains("the file is broken here"), "{told}");
            all.push(told);
        }
        assert_eq!(all[0], all[1]);
    }
    let told = Bench::new().put("a.parquet", &whole[..whole.len() - 9]).refused().await;
    assert!(told.starts_with("a.parquet: it is no Parquet file that can be read"), "{told}");
}

#[tokio::test]
async fn files_of_a_folder_have_the_same_columns() {
    let bench = Bench::new();
    let told = bench.put("a.jsonl", "{\"a\": 1}").put("b.csv", "a,b\n1,2\n").refused().await;
    assert_eq!(told, "b.csv, line 2: the column `b` is not among the columns of the rows before (`a`)");
    let bench = Bench::new();
    let told = bench.put("a.csv", "a\n1\n").put("b.csv", "a\n2\nx\n").refused().await;
    assert!(told.starts_with("b.csv, line 3: the column `a` holds whole numbers"), "{told}");
    let options = Options { csv_as_text: true, ..Options::default() };
    let written = bench.import_with(options, Sizes::default()).await.unwrap();
    assert_eq!(kinds(&written.columns), [("a", ColumnType::Text)]);
}

#[tokio::test]
async fn an_import_that_is_stopped_leaves_nothing() {
    let bench = Bench::new();
    bench.put("a.txt", "row\n".repeat(10_000));
    let found = files::find(bench.input().to_str().unwrap()).await.unwrap();
    let sizes = Sizes { group_rows: 100, part_bytes: 300, ..Sizes::default() };
    let target = Target { objects: bench.objects.clone(), prefix: "datasets/d/a".into(), room: Room::default(), sizes };
    let stop = CancellationToken::new();
    let own = stop.clone();
    let progress = move |rows| {
        if rows > 5_000 {
            own.cancel();
        }
    };
    assert!(import(found, Options::default(), target, stop, progress).await.is_err());
    assert!(bench.objects.list("datasets").await.unwrap().is_empty());
    assert!(!Path::new(&bench.folder.path().join("objects/datasets/d/a-00000.parquet")).exists());
}
