//! The files of web/dist. All but index.html have the hash of their contents in their names or in that of their directory,
//! so that browsers keep them for ever and still never see an old one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use wasm_bindgen_cli_support::Bindgen;
use wasm_split_cli_support::Options;

use super::chunks;
use crate::hash;

const INDEX: &str = "web/index.html";
const STYLES: &str = "web/style";

pub fn write(wasm: &Path, editor: &Path, dist: &Path) -> Result<()> {
    // Made beside its place: a server build never sees half of it.
    let fresh = dist.with_extension("new");
    for directory in [&fresh, &fresh.join("app")] {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        fs::create_dir_all(directory)?;
    }
    let files = Files { to: &fresh };
    split(wasm, &fresh.join("app"))?;
    chunks::join_small(&fresh.join("app"))?;
    let app = files.add_directory("app")?;
    let editor = files.add("editor", "js", &fs::read(editor)?)?;
    let boot = files.add("boot", "js", boot(&app, &editor).as_bytes())?;
    let style = files.add("style", "css", styles()?.as_bytes())?;
    let index = fs::read_to_string(INDEX).with_context(|| format!("cannot read {INDEX}"))?;
    let index = with_hashed_names(&index, &[("boot.js", &boot), ("style.css", &style)])?;
    fs::write(fresh.join("index.html"), index)?;
    if dist.exists() {
        fs::remove_dir_all(dist)?;
    }
    fs::rename(&fresh, dist)?;
    Ok(())
}

/// The app as what is fetched first and the parts that are fetched when they are needed. The files import each other by
/// name: one directory holds them all.
fn split(wasm: &Path, to: &Path) -> Result<()> {
    let whole = fs::read(wasm).with_context(|| format!("cannot read {}", wasm.display()))?;
    let first = to.join("first.wasm");
    let mut options = Options::new(&whole);
    (options.output_dir, options.main_out_path) = (to, &first);
    (options.main_module, options.link_name) = ("./app.js", "./parts.js");
    wasm_split_cli_support::transform(options).map_err(|error| anyhow!("the app cannot be split: {error:#}"))?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(&first)
        .out_name("app")
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true);
    // The parts find what they share with the first by the linker's names.
    bindgen.keep_lld_exports(true).demangle(false);
    bindgen.web(true)?.generate(to).context("wasm-bindgen failed")?;
    Ok(fs::remove_file(first)?)
}

/// A file of its own rather than a script in the page: a content security policy may forbid those. The editor is large, and
/// loaded by the first page that calls `groundstate.editor()`.
fn boot(app: &str, editor: &str) -> String {
    format!(
        "import init from './{app}/app.js';\n\
         globalThis.groundstate = {{ editor: () => import('./{editor}') }};\n\
         await init({{ module_or_path: new URL('./{app}/app_bg.wasm', import.meta.url) }});\n"
    )
}

/// One file of all, in the order of their names: those with digits are what the others stand on.
fn styles() -> Result<String> {
    let entries = fs::read_dir(STYLES).with_context(|| format!("cannot read {STYLES}"))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    files.iter().map(|file| Ok(fs::read_to_string(file)?)).collect()
}

fn with_hashed_names(index: &str, names: &[(&str, &str)]) -> Result<String> {
    names.iter().try_fold(index.to_owned(), |index, (plain, hashed)| {
        let (plain, hashed) = (format!("\"/{plain}\""), format!("\"/{hashed}\""));
        anyhow::ensure!(index.contains(&plain), "{INDEX} does not mention {plain}");
        Ok(index.replace(&plain, &hashed))
    })
}

struct Files<'a> {
    to: &'a Path,
}

impl Files<'_> {
    /// The name it got.
    fn add(&self, stem: &str, extension: &str, contents: &[u8]) -> Result<String> {
        let name = format!("{stem}-{}.{extension}", hash::of_bytes(contents));
        fs::write(self.to.join(&name), contents)?;
        Ok(name)
    }

    /// The same for a directory that is in its place already.
    fn add_directory(&self, stem: &str) -> Result<String> {
        let from = self.to.join(stem);
        let name = format!("{stem}-{}", hash::of_files(&[&from.to_string_lossy()], &[])?);
        fs::rename(from, self.to.join(&name))?;
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_the_hashed_files() {
        let page = with_hashed_names("<script src=\"/boot.js\">", &[("boot.js", "boot-1.js")]).unwrap();
        assert_eq!(page, "<script src=\"/boot-1.js\">");
        assert!(with_hashed_names("<p>", &[("boot.js", "boot-1.js")]).is_err());
    }

    #[test]
    fn the_editor_is_known_before_the_app_starts_and_not_yet_loaded() {
        let boot = boot("app-1", "editor-3.js");
        let (known, starts) = (boot.find("() => import('./editor-3.js')"), boot.find("await init("));
        assert!(known.is_some() && known < starts, "{boot}");
        assert_eq!(boot.matches("editor-3.js").count(), 1);
    }
}
