//! What a worker tells the person at its terminal.

/// A line that begins with the worker's name: one process may be several.
macro_rules! report {
    ($name:expr, $($part:tt)*) => {
        $crate::say::say!("{}: {}", $name, format_args!($($part)*))
    };
}

pub(crate) use report;
