//! A project as one file: a zip of the folders playbooks/, scenarios/, personas/ and judges/.

mod pack;
mod unpack;

pub use pack::pack;
pub use unpack::{LARGEST_ARCHIVE, UnpackArchive, unpack, unpack_in};

#[cfg(test)]
mod tests;
