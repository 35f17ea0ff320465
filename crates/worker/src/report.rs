//! What a worker tells the person at its terminal.

/// A line that begins with the worker's name: one process may be several.
macro_rules! report {
    ($name:expr, $($part:tt)*) => {
        {
            use std::io::Write as _;
            // Who reads our output may stop reading (`| head`): that is no error.
            let _ = writeln!(std::io::stdout(), "{}: {}", $name, format_args!($($part)*));
        }
    };
}

pub(crate) use report;
