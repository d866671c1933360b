//! The `stockade` command.

use std::process::ExitCode;

// A panic in a thread that serves a run is contained there; it must not end the process.
const _: () = assert!(
    cfg!(panic = "unwind"),
    "the binary has to be built with `panic = \"unwind\"`"
);

#[global_allocator]
static HEAP: stockade_cli::Heap = stockade_cli::Heap;

fn main() -> ExitCode {
    stockade_cli::main()
}
