//! Archives of friends and of others.

use std::io::{Cursor, Write};

use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::*;
use crate::library::Files;
use crate::library::project::LARGEST_PROJECT;

fn deflated() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in entries {
        zip.start_file(*path, deflated()).expect("a name");
        zip.write_all(bytes).expect("in memory");
    }
    zip.finish().expect("in memory").into_inner()
}

fn refused(archive: &[u8]) -> String {
    let problems = unpack(archive).expect_err("it is refused");
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

/// The archive with each place of some bytes replaced: what no honest program writes.
fn forged(mut archive: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let places: Vec<usize> =
        archive.windows(from.len()).enumerate().filter(|(_, w)| *w == from).map(|(i, _)| i).collect();
    assert!(!places.is_empty());
    for place in places {
        archive[place..place + to.len()].copy_from_slice(to);
    }
    archive
}

#[test]
fn a_project_comes_back_as_it_was_and_always_in_the_same_bytes() {
    let files: Files = [("playbooks/a/playbook.yaml", "name: a\n"), ("scenarios/a/x.yaml", "id: x # ä💥\r\n")]
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .into_iter()
        .collect();
    let packed = pack(&files).expect("it fits");
    assert_eq!(packed, pack(&files).expect("it fits"));
    let documents = unpack(&packed).expect("it is ours");
    assert_eq!(documents.files(), files);
}

#[test]
fn what_stands_beside_the_documents_is_named() {
    let archive = zip(&[
        ("README.md", b"x"),
        ("playbooks/a/playbook.yaml", b"name: a"),
        ("playbooks/a/.DS_Store", b"\xff\xfe"),
        ("models.yaml", b"x"),
    ]);
    assert_eq!(unpack(&archive).expect("fine").ignored, ["README.md", "models.yaml", "playbooks/a/.DS_Store"]);
}

#[test]
fn paths_that_lead_elsewhere() {
    insta::assert_snapshot!(refused(&zip(&[
        ("../playbooks/a/playbook.yaml", b"x"),
        ("playbooks/a/../../../etc/passwd", b"x"),
        ("/etc/passwd", b"x"),
        ("C:/playbooks/a", b"x"),
        ("playbooks\\a\\playbook.yaml", b"x"),
        ("playbooks/a/b\u{202e}c", b"x"),
        ("playbooks/a/./b", b"x"),
        ("playbooks//b", b"x"),
    ])), @"
    ../playbooks/a/playbook.yaml: leads out of the archive
    playbooks/a/../../../etc/passwd: leads out of the archive
    /etc/passwd: is an absolute path
    C:/playbooks/a: is an absolute path
    playbooks\\a\\playbook.yaml: has a backslash; folders are separated by `/`
    playbooks/a/b\u{202e}c: has other letters than a-z, A-Z, 0-9, `_`, `-`, `.`, `+` and space
    playbooks/a/./b: has the part `.`; a path leads straight to its file
    playbooks//b: has an empty part
    ");
}

#[test]
fn links_are_not_followed() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("playbooks/a/policy.md", "/etc/passwd", SimpleFileOptions::default()).expect("in memory");
    let archive = zip.finish().expect("in memory").into_inner();
    insta::assert_snapshot!(refused(&archive), @"playbooks/a/policy.md: is a symbolic link; put the file itself into the archive");
}

#[test]
fn names_that_are_given_twice() {
    let twice = zip(&[("playbooks/a/one", b"1"), ("playbooks/a/two", b"2")]);
    insta::assert_snapshot!(refused(&forged(twice, b"playbooks/a/two", b"playbooks/a/one")), @"archive: has two entries of the same name; which one is meant cannot be known");
    insta::assert_snapshot!(refused(&zip(&[("playbooks/a/Policy.md", b"1"), ("playbooks/a/policy.md", b"2")])), @"playbooks/a/policy.md: differs from playbooks/a/Policy.md only in case; some machines keep one of them");
    insta::assert_snapshot!(refused(&zip(&[("scenarios/a/x.yaml", b"1"), ("scenarios/b/x.yaml", b"2")])), @"scenarios/b/x.yaml: scenario `x` is also in scenarios/a/x.yaml");
}

#[test]
fn bombs_are_not_inflated() {
    let zeros = vec![b' '; 9 << 20];
    insta::assert_snapshot!(refused(&zip(&[("playbooks/a/world.yaml", &zeros)])), @"playbooks/a/world.yaml: unpacks to more than 200 times its size");
    // Hashes as letters do not shrink so far, but there are too many of them.
    let letters = |byte: u8| [byte >> 4, byte & 15].map(|four_bits| b'a' + four_bits);
    let hashes = (0_u32..).flat_map(|i| Sha256::digest(i.to_le_bytes()));
    let large: Vec<u8> = hashes.flat_map(letters).take((8 << 20) + 1).collect();
    insta::assert_snapshot!(refused(&zip(&[("playbooks/a/world.yaml", &large)])), @"playbooks/a/world.yaml: is more than 8388608 bytes");
    let fits = &large[..7 << 20];
    let names: Vec<String> = (0..10).map(|i| format!("playbooks/a/{i}")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), fits)).collect();
    // How far it shrinks depends on the compressor.
    let refused = refused(&zip(&many));
    assert!(refused.starts_with("archive: is 39"), "{refused}");
    assert!(refused.trim_end().ends_with(" bytes; at most 33554432 are accepted"), "{refused}");
}

#[test]
fn what_is_small_one_by_one_is_too_much_together() {
    // Lines of text shrink to a fortieth: no file of it is a bomb, and all of them are.
    let text: Vec<u8> =
        (0..7 << 20).map(|i: u32| if i % 40 < 38 { b' ' } else { b'a' + (i / 40 % 23) as u8 }).collect();
    let one = zip(&[("playbooks/a/0", &text)]);
    let mut one = ZipArchive::new(Cursor::new(one)).expect("a zip");
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for copy in 0..=LARGEST_PROJECT / text.len() {
        let entry = one.by_index_raw(0).expect("it is there");
        zip.raw_copy_file_rename(entry, format!("playbooks/a/{copy}")).expect("in memory");
    }
    let archive = zip.finish().expect("in memory").into_inner();
    assert!(archive.len() < LARGEST_ARCHIVE, "{} bytes come in", archive.len());
    insta::assert_snapshot!(refused(&archive), @"archive: holds more than 67108864 bytes of text");
}

#[test]
fn what_is_encrypted() {
    let mut archive = zip(&[("playbooks/a/policy.md", b"text")]);
    // The lowest bit of the flags, before the entry and in the list of them.
    for (signature, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let place = archive.windows(4).position(|w| w == signature).expect("a zip");
        archive[place + flags] |= 1;
    }
    insta::assert_snapshot!(refused(&archive), @"playbooks/a/policy.md: is encrypted; pack the folder without a password");
}

#[test]
fn sizes_that_headers_lie_about_are_counted() {
    // The header says that 300 KiB inflate to one byte.
    let text = vec![b'x'; 300 << 10];
    let lying = forged(zip(&[("playbooks/a/b", &text)]), &(300_u32 << 10).to_le_bytes(), &1_u32.to_le_bytes());
    insta::assert_snapshot!(refused(&lying), @"playbooks/a/b: cannot be read: File is larger than its declared uncompressed size");
}

#[test]
fn too_many_entries() {
    let names: Vec<String> = (0..20_001).map(|i| format!("playbooks/a/{i}")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
    insta::assert_snapshot!(refused(&zip(&many)), @"archive: has 20001 entries; at most 20000");
}

#[test]
fn what_is_no_text() {
    let nested = zip(&[("x", b"\xff")]);
    insta::assert_snapshot!(refused(&zip(&[
        ("playbooks/a/picture.png", b"\x89PNG\xff"),
        ("playbooks/a/more.zip", &[nested.as_slice(), b"\xff"].concat()),
        ("playbooks/a/zero.md", b"a\0b"),
        ("scenarios/a/notes.md", b"text"),
    ])), @"
    playbooks/a/picture.png: is not UTF-8 text
    playbooks/a/more.zip: is an archive within the archive, which is not looked into; unpack it first
    playbooks/a/zero.md: is not text: it has a zero byte
    scenarios/a/notes.md: is not a scenario: expected a file `NAME.yaml`
    ");
    let name = forged(zip(&[("playbooks/a/bad", b"1")]), b"playbooks/a/bad", b"playbooks/a/b\xff\xfe");
    insta::assert_snapshot!(refused(&name), @"playbooks/a/b��: is a path that is not UTF-8");
}

#[test]
fn what_is_no_archive() {
    insta::assert_snapshot!(refused(b"PK\x03\x04 and nothing else"), @"archive: is not a readable zip archive: invalid Zip archive: Could not find EOCD");
    insta::assert_snapshot!(refused(b""), @"archive: is not a readable zip archive: invalid Zip archive: Could not find EOCD");
    insta::assert_snapshot!(refused(&zip(&[])), @"archive: holds no documents: expected the folders playbooks, scenarios, personas and judges at its top");
    insta::assert_snapshot!(refused(&zip(&[("project/playbooks/a/playbook.yaml", b"name: a")])), @"archive: holds no documents: expected the folders playbooks, scenarios, personas and judges at its top");
    let mut cut = zip(&[("playbooks/a/playbook.yaml", b"name: a")]);
    cut.truncate(cut.len() / 2);
    assert!(!refused(&cut).is_empty());
    let crc = forged(zip(&[("playbooks/a/b", b"stored text that is long enough")]), b"playbooks/a/b", b"playbooks/a/b");
    let mut spoiled = crc;
    spoiled[45] ^= 0x55;
    assert!(!refused(&spoiled).is_empty());
}

#[test]
fn an_archive_that_is_too_large_is_not_even_opened() {
    let archive = vec![0; LARGEST_ARCHIVE + 1];
    insta::assert_snapshot!(refused(&archive), @"archive: is 33554433 bytes; at most 33554432 are accepted");
}
