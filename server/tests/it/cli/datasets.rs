//! `groundstate datasets` and `groundstate indexes`.

use sqlx::PgPool;
use store::objects::Objects;
use tempfile::TempDir;

use super::{CommandOutput, database_url, groundstate, said};
use crate::support::jobs::place_of_objects;

struct Machine {
    folder: TempDir,
    url: String,
}

impl Machine {
    fn new(pool: &PgPool) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), url: database_url(pool) }
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn objects(&self) -> String {
        place_of_objects(self.folder.path())
    }

    async fn run(&self, arguments: &[&str]) -> CommandOutput {
        let mut command = groundstate(arguments);
        command.current_dir(self.folder.path()).env("DATABASE_URL", &self.url);
        command.env("GROUNDSTATE_FILES", "files").env("GROUNDSTATE_OBJECTS", self.objects());
        said(&mut command).await
    }

    /// The standard output of a command that succeeds.
    async fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments).await;
        assert_eq!(output.code, Some(0), "{arguments:?}: {}", output.stderr);
        output.stdout
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_folder_of_files_becomes_a_dataset(pool: PgPool) {
    let machine = Machine::new(&pool);
    machine.put("in/a.jsonl", "{\"id\": 1, \"text\": \"one fish\"}\n{\"id\": 2, \"text\": \"two fish\"}\n");
    machine.put("in/b.csv", "id,text\n3,red fish\n4,blue fish\n");
    let made = machine.stdout(&["datasets", "add", "fish", "in"]).await;
    assert!(made.starts_with("dataset  fish@1 (") && made.contains("rows     4\n"), "{made}");
    assert!(made.contains("id (integer)\n  4 values, 4 different, 0 null\n  from 1 to 4, mean 2.5000\n"), "{made}");
    assert_eq!(machine.stdout(&["datasets", "show", "fish"]).await, made);
    assert_eq!(machine.stdout(&["datasets", "show", "fish@1"]).await, made);

    let rows = machine.stdout(&["datasets", "rows", "fish", "--from", "1", "--n", "2"]).await;
    assert_eq!(rows, "{\"id\":2,\"text\":\"two fish\"}\n{\"id\":3,\"text\":\"red fish\"}\n");
    let sample = machine.stdout(&["datasets", "sample", "fish", "--n", "2", "--seed", "5"]).await;
    assert_eq!(
        (sample.lines().count(), &sample),
        (2, &machine.stdout(&["datasets", "sample", "fish", "--n", "2", "--seed", "5"]).await)
    );

    machine.put("more.txt", "green fish\n");
    machine.stdout(&["datasets", "add", "fish", "more.txt"]).await;
    let newest = machine.stdout(&["datasets", "rows", "fish"]).await;
    assert_eq!(newest, "{\"text\":\"green fish\"}\n", "the newest version");
    let list = machine.stdout(&["datasets", "list"]).await;
    assert!(list.lines().count() == 3 && list.contains("  fish@2\n"), "{list}");

    let index = machine.stdout(&["indexes", "add", "words", "--dataset", "fish@1"]).await;
    assert_eq!(index, "index words: 4 documents of fish@1\n");
    let found = machine.stdout(&["indexes", "search", "words", "a red fish", "--k", "2", "--json"]).await;
    let first: serde_json::Value = serde_json::from_str(found.lines().next().unwrap()).unwrap();
    assert_eq!((&first["id"], &first["text"], found.lines().count()), (&"3".into(), &"red fish".into(), 2));
    assert!(machine.stdout(&["indexes", "list"]).await.contains("  words of fish@1\n"));
    let refused = machine.run(&["datasets", "delete", "fish@1"]).await;
    assert!(
        refused.code == Some(2) && refused.stderr.contains("it has indexes; delete them first"),
        "{}",
        refused.stderr
    );
    machine.stdout(&["indexes", "delete", "words"]).await;
    assert_eq!(machine.stdout(&["datasets", "delete", "fish@1"]).await, "the dataset fish@1 is deleted\n");
    machine.stdout(&["datasets", "delete", "fish"]).await;
    llm::choose_tls();
    let objects = Objects::open(&machine.objects()).unwrap();
    assert_eq!(objects.list("").await.unwrap(), []);
}

/// In a folder, or in a bucket: wherever the tests keep objects.
#[sqlx::test(migrations = "../migrations")]
async fn files_beside_the_objects_become_a_dataset(pool: PgPool) {
    let machine = Machine::new(&pool);
    let source = format!("{}/source", machine.objects());
    llm::choose_tls();
    let objects = Objects::open(&source).unwrap();
    for (name, text) in [
        ("a.jsonl", "{\"n\": 1}\n{\"n\": 2}\n"),
        ("more/b.csv", "n\n3\n"),
        ("README.md", "no rows"),
        ("docs/README.md", "no rows"),
    ] {
        objects.put(name, text.into()).await.unwrap();
    }
    let made = machine.stdout(&["datasets", "add", "all", &source]).await;
    assert!(made.starts_with("dataset  all@1 (") && made.contains("rows     3\n"), "{made}");
    let rows = machine.stdout(&["datasets", "rows", "all"]).await;
    assert_eq!(rows, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
    machine.stdout(&["datasets", "add", "one", &format!("{source}/a.jsonl")]).await;
    assert_eq!(machine.stdout(&["datasets", "rows", "one"]).await, "{\"n\":1}\n{\"n\":2}\n");
    let refused = machine.run(&["datasets", "add", "none", &format!("{source}/docs")]).await;
    let told = format!("{source}/docs: it has no file that can be read");
    assert!(refused.code == Some(2) && refused.stderr.contains(&told), "{}", refused.stderr);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_wrong_with_a_file_is_said_and_nothing_is_kept(pool: PgPool) {
    let machine = Machine::new(&pool);
    machine.put("a.jsonl", "{\"id\": 1}\n{\"name\": 2}\n");
    machine.put("b.parquet", "no parquet");
    machine.put("c.exe", "x");
    machine.put("late.csv", format!("a\n{}x\n", "1\n".repeat(1_500)));
    for (path, code, told) in [
        ("a.jsonl", 1, "a.jsonl, line 2: the column `name` is not among the columns of the rows before (`id`)"),
        ("b.parquet", 1, "b.parquet: it is no Parquet file that can be read"),
        ("c.exe", 2, "c.exe: the end of its name tells no format"),
        ("late.csv", 1, "`x` is none; mend it, or read all values as texts (--csv-as-text)"),
        ("d.csv", 2, "d.csv: it cannot be read: No such file"),
    ] {
        let output = machine.run(&["datasets", "add", "x", path]).await;
        assert_eq!(output.code, Some(code), "{}", output.stderr);
        assert!(output.stderr.contains(told), "{}", output.stderr);
    }
    assert_eq!(machine.stdout(&["datasets", "list"]).await.lines().count(), 1);
    let output = machine.run(&["datasets", "add", "No Name", "a.jsonl"]).await;
    assert!(output.code == Some(2) && output.stderr.contains("NAME: expected 1 to 64"), "{}", output.stderr);
    let output = machine.run(&["datasets", "show", "nothing"]).await;
    assert!(output.stderr.contains("DATASET: there is no dataset `nothing`"), "{}", output.stderr);
}

const SAME: &str = "
workflow: same
input: {n: integer}
steps: {same: {code: n}}
output: {n: same}
samples: [{input: {n: 1}, output: {n: 1}}]
";

#[sqlx::test(migrations = "../migrations")]
async fn a_run_becomes_a_dataset_and_a_sample_of_it_is_run(pool: PgPool) {
    let machine = Machine::new(&pool);
    machine.put("workflows/same/workflow.yaml", SAME);
    machine.put("numbers.jsonl", (0..20).map(|n| format!("{{\"n\": {n}}}\n")).collect::<String>());
    let played = machine.stdout(&["workflow", "run", "same", "--rows", "numbers.jsonl"]).await;
    let run = played.split_whitespace().nth(1).unwrap();
    let made = machine.stdout(&["datasets", "add", "numbers", "--run", run]).await;
    assert!(made.starts_with("dataset  numbers@1 (") && made.contains("rows     20\n"), "{made}");
    let order =
        ["workflow", "run", "same", "--dataset", "numbers", "--sample", "4", "--seed", "7", "--form", "outputs"];
    machine.stdout(&order).await;
    let drawn = std::fs::read_to_string(machine.folder.path().join("rows.jsonl")).unwrap();
    assert_eq!(drawn, "{\"n\":0}\n{\"n\":6}\n{\"n\":10}\n{\"n\":16}\n");

    for (source, told) in [
        (&["--run", "7"][..], "--run: there is no run 7"),
        (&["--corpus", "none"], "--corpus: there is no corpus none"),
        (&["--export", "7"], "--export: there is no export 7"),
        (&["numbers.jsonl", "--run", run], "cannot be used with"),
        (&[], "required"),
    ] {
        let output = machine.run(&[&["datasets", "add", "x"][..], source].concat()).await;
        assert!(output.code == Some(2) && output.stderr.contains(told), "{source:?}: {}", output.stderr);
    }
}
