//! A sandboxed process for the tests of this crate.

use datasets::dataset::DecodeParquet;
use sandbox::Worker;

fn main() -> std::io::Result<()> {
    Worker::default().with_streamed::<DecodeParquet>().serve()
}
