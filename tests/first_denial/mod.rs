//! Scripts that fail because of one refused access: the report names that access first, and granting exactly what it
//! suggests makes them succeed.
//!
//! Each script is run three times on equal files: unconfined, where it must succeed; under its profile, where it must
//! fail; and with the suggested flags added, where it must succeed again.

mod case;
mod node;
mod python;
mod shell;
