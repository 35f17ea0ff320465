mod reading;
mod recorded;
mod rules;
