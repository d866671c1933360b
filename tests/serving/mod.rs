//! `stockade mcp serve`: driven by the official SDKs and the inspector, and by clients that mean no good.
//!
//! A test whose program isn't installed says so and passes, unless `STOCKADE_TEST_ALL=1` is set;
//! `tests/setup-programs.sh` installs them.

mod clients;
mod ends;
mod hostile;
mod limits;
mod profiles;
mod session;
