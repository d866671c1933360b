//! The corpus of labelled scripts (`tests/infer/corpus`): how well their profiles are inferred, whether their labels are
//! true, whether `exec` ends them as they end unconfined, and whether `learn` finds what the labels say.
//!
//! The scripts run where there is no network but loopback. A test whose programs aren't installed says so and passes,
//! unless `STOCKADE_TEST_ALL=1` is set; `tests/setup-programs.sh` installs them.

mod accuracy;
mod alone;
mod label;
mod learned;
mod r#loop;
mod observed;
mod order;
mod within;
