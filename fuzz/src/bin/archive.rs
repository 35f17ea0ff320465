//! An uploaded archive of documents.
#![no_main]

use libfuzzer_sys::fuzz_target;
use projects::archive::unpack;

fuzz_target!(|input: &[u8]| {
    let _ = fuzz::on_stack(|| unpack(input).map(|documents| documents.files().hash()));
});
