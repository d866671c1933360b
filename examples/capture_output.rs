//! Collects what programs print, with a time limit for each.
//!
//!     cargo run --example capture_output

use std::time::Duration;

use stockade::{Error, Sandbox, Status};

fn main() -> Result<(), Error> {
    let sandbox = Sandbox::profile("minimal")?.time_limit(Duration::from_millis(500));
    for script in ["echo fine", "echo to standard error >&2; exit 3", "sleep 60"] {
        let output = sandbox.command("/bin/sh").arg("-c").arg(script).output()?;
        match output.outcome.status() {
            Status::TimeLimit => println!("{script:?} took too long"),
            status => println!(
                "{script:?}: {status:?}, exit code {}, printed {:?} and {:?}",
                output.outcome.exit_code(),
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            ),
        }
    }
    Ok(())
}
