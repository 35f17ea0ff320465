//! What commands print.

/// Prints a line. Whoever reads us may stop (`| head`): that is no error of ours.
macro_rules! say {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($part)*);
    }};
}

pub(crate) use say;
