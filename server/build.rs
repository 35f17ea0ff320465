//! Says where `http::assets` finds the web app: a build that is optimised holds the files that were built, any other reads
//! them when they are asked for, so that a changed page needs no new server.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let built = Path::new(&manifest).with_file_name("web").join("dist");
    // With its whole path: a target directory that is kept may have been filled from a clone that lay elsewhere.
    println!("cargo::rerun-if-changed={}", Path::new(&manifest).join("build.rs").display());
    if env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!("cargo::rustc-env=WEB_APP={}", built.display());
        return Ok(());
    }
    let embedded = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("web");
    println!("cargo::rustc-env=WEB_APP={}", embedded.display());
    if embedded.exists() {
        fs::remove_dir_all(&embedded)?;
    }
    fs::create_dir_all(&embedded)?;
    if !built.join("index.html").is_file() {
        // A path that is missing would have this run, and the server compiled, each time.
        println!("cargo::rerun-if-changed=../web");
        return Ok(());
    }
    println!("cargo::rerun-if-changed=../web/dist");
    copy(&built, &embedded)
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
