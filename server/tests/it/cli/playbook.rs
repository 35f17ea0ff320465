//! `groundstate playbook`: what authors work with. Bad input first.

mod attempt;
mod check;
mod import;
mod new;
