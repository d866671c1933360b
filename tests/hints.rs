//! What a person is told who uses a flag for the first time, or wrongly.

use crate::common::{run, skipped};

#[test]
fn no_grant_is_suggested_for_a_port_that_the_kernel_keeps() {
    let first = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").unwrap();
    if first.trim() != "1024" {
        skipped("the kernel keeps other ports than usual");
        return;
    }
    for flags in [&[][..], &["--listen", "8081"]] {
        run()
            .flags(["--ask", "never"])
            .flags(flags)
            .python("import socket\nsocket.socket().bind(('127.0.0.1', 80))")
            .status(1)
            .stderr_has("the kernel keeps the lowest ports for the administrator")
            .stderr_has("hint: let the program listen on a port from 1024 on, and grant it: `--listen 8080`")
            .ends();
    }
}
