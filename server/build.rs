//! Puts the built web app where `http::assets` embeds it from. Without one, a page that says how to build it.

use std::path::Path;
use std::{env, fs, io};

const NOT_BUILT: &str = "<!doctype html>
<meta charset=\"utf-8\">
<title>Groundstate</title>
<h1>The web app was not built</h1>
<p>Run <code>cargo xtask web</code>, build the server again and reload. The API under <code>/api/v1</code> works.</p>
";

fn main() -> io::Result<()> {
    let built = Path::new("../web/dist");
    let embedded = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("web");
    if embedded.exists() {
        fs::remove_dir_all(&embedded)?;
    }
    fs::create_dir_all(&embedded)?;
    if built.join("index.html").is_file() {
        println!("cargo::rerun-if-changed=../web/dist");
        copy(built, &embedded)
    } else {
        // A path that is missing would have this run, and the server compiled, each time.
        println!("cargo::rerun-if-changed=../web");
        fs::write(embedded.join("index.html"), NOT_BUILT)
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
