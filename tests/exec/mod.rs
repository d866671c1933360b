//! `stockade infer`, `exec` and `script`, as they are called: which profile a script runs with, and what is remembered.

mod hostile;
mod place;
mod remembered;
mod running;
