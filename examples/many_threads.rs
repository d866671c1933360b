//! Runs programs from several threads at once. One sandbox serves them all.
//!
//!     cargo run --example many_threads

use std::thread;

use stockade::{Error, Sandbox};

const THREADS: u64 = 4;

fn main() -> Result<(), Error> {
    let sandbox = Sandbox::profile("minimal")?;
    thread::scope(|scope| {
        let threads: Vec<_> = (1..=THREADS)
            .map(|number| {
                let sandbox = &sandbox;
                scope.spawn(move || square(sandbox, number))
            })
            .collect();
        for thread in threads {
            println!("{}", thread.join().expect("no thread panics")?);
        }
        Ok(())
    })
}

fn square(sandbox: &Sandbox, number: u64) -> Result<String, Error> {
    let script = format!("echo {number} squared is $(({number} * {number}))");
    let output = sandbox.command("/bin/sh").arg("-c").arg(script).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_string())
}
