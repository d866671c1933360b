//! A user's own repository, made before the run: everyday commands and the tools around git end there as they do bare,
//! or are refused with a line of Stockade's and nothing half done.
//!
//! A test whose program isn't installed says so and passes, unless `STOCKADE_TEST_ALL=1` is set.
//! `tests/setup-programs.sh` installs what they need.

mod branches;
mod commits;
mod companions;
mod guarded;
mod history;
mod mercurial;
mod merging;
mod messages;
mod packages;
mod refused;
mod replacing;
mod running;
mod several_runs;
mod stashes;
mod table;
mod twins;
mod upkeep;
mod work_trees;
