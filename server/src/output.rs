//! The output of commands.

/// Prints a line. The reader may stop early (`| head`); that is no error.
macro_rules! say {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($part)*);
    }};
}

pub(crate) use say;
