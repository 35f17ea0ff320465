//! The runtime: it plays the tasks of runs and works off jobs, durably, on any number of processes.
//!
//! It knows what a task needs, never what a task is about.
