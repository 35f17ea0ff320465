//! The splitter makes a file for each set of parts that share something: more than a hundred, most of a few kilobytes. A page
//! would wait for its requests far longer than for their bytes, so the small ones are fetched together.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// Chunks below so many bytes go into the one file. It then weighs less, gzipped, than most parts do.
const SMALL: usize = 20_000;
const TOGETHER: &str = "small_chunks.wasm";

/// Replaces the files of small chunks in `app` by one, and in its `parts.js` what fetched each of them.
pub fn join_small(app: &Path) -> Result<()> {
    let loader = app.join("parts.js");
    let mut script = fs::read_to_string(&loader).with_context(|| format!("cannot read {}", loader.display()))?;
    let mut together = Vec::new();
    for (name, bytes) in small_chunks(app)? {
        let start = together.len();
        together.extend(bytes);
        script = with_chunk_from(&script, &name, start, together.len())?;
        fs::remove_file(app.join(name))?;
    }
    fs::write(app.join(TOGETHER), together)?;
    Ok(fs::write(loader, script + &fetches_together())?)
}

fn small_chunks(app: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut chunks = Vec::new();
    for entry in fs::read_dir(app)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("chunk_") && entry.metadata()?.len() < SMALL as u64 {
            chunks.push((name, fs::read(entry.path())?));
        }
    }
    chunks.sort();
    Ok(chunks)
}

/// `fetch` gives a response, and so does `smallChunk`: what instantiates it stays as it is.
fn with_chunk_from(script: &str, name: &str, start: usize, end: usize) -> Result<String> {
    let fetch = format!("fetch(new URL(\"./{name}\", import.meta.url))");
    ensure!(script.matches(&fetch).count() == 1, "the splitter no longer writes `{fetch}`: see {}", file!());
    Ok(script.replace(&fetch, &format!("smallChunk({start}, {end})")))
}

/// Asked for once; again only if it could not be fetched.
fn fetches_together() -> String {
    format!(
        "let together = undefined;
async function fetchTogether() {{
    const response = await fetch(new URL(\"./{TOGETHER}\", import.meta.url));
    if (!response.ok) throw new TypeError(`Failed to fetch ${{response.url}}: ${{response.status}}`);
    return response.arrayBuffer();
}}
async function smallChunk(start, end) {{
    together ??= fetchTogether().catch((error) => {{
        together = undefined;
        throw error;
    }});
    return new Response((await together).slice(start, end), {{ headers: {{ \"content-type\": \"application/wasm\" }} }});
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_chunks_are_fetched_together_and_large_ones_alone() {
        let app = tempfile::tempdir().unwrap();
        let file = |name: &str| app.path().join(name);
        fs::write(file("chunk_1.wasm"), "one").unwrap();
        fs::write(file("chunk_2.wasm"), vec![7; SMALL]).unwrap();
        fs::write(file("chunk_3.wasm"), "three").unwrap();
        fs::write(file("split_play.wasm"), "part").unwrap();
        let fetches = ["chunk_1", "chunk_2", "chunk_3", "split_play"]
            .map(|name| format!("const src = fetch(new URL(\"./{name}.wasm\", import.meta.url));\n"));
        fs::write(file("parts.js"), fetches.concat()).unwrap();

        join_small(app.path()).unwrap();

        assert_eq!(fs::read_to_string(file(TOGETHER)).unwrap(), "onethree");
        let script = fs::read_to_string(file("parts.js")).unwrap();
        let sources: Vec<&str> = script.lines().filter(|line| line.starts_with("const src")).collect();
        assert_eq!(
            sources,
            [
                "const src = smallChunk(0, 3);",
                "const src = fetch(new URL(\"./chunk_2.wasm\", import.meta.url));",
                "const src = smallChunk(3, 8);",
                "const src = fetch(new URL(\"./split_play.wasm\", import.meta.url));",
            ]
        );
        assert!(!file("chunk_1.wasm").exists() && file("chunk_2.wasm").exists() && file("split_play.wasm").exists());
    }

    #[test]
    fn a_loader_of_another_form_is_an_error() {
        let app = tempfile::tempdir().unwrap();
        fs::write(app.path().join("chunk_1.wasm"), "one").unwrap();
        fs::write(app.path().join("parts.js"), "load('./chunk_1.wasm')").unwrap();
        assert!(join_small(app.path()).unwrap_err().to_string().contains("chunk_1.wasm"));
    }
}
