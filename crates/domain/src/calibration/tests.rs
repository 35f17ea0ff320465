mod between;
mod reading;
mod recorded;
mod rules;
