//! Programs that resolve names in their own way: static ones with musl, Go's without C, the JVM's.

use super::Client;
use crate::network::built::Built;

/// musl asks for names by datagram only, and finds those that are granted exactly in the hosts file.
#[test]
fn a_static_musl_program_reaches_what_is_granted() {
    if let Some(built) = Built::c("musl-gcc", &["-static", "-O1"], "clients/programs/fetch.c") {
        let program = built.program();
        let client = Client::new([program.to_str().unwrap()]);
        client
            .complains("not resolved")
            .asks_by_datagram()
            .reaches_what_is_granted();
    }
}

#[test]
fn a_c_program_reaches_what_is_granted() {
    if let Some(built) = Built::c("gcc", &["-O1", "-w"], "clients/programs/fetch.c") {
        let program = built.program();
        let client = Client::new([program.to_str().unwrap()]);
        client.complains("not resolved").reaches_what_is_granted();
    }
}

#[test]
fn a_go_program_reaches_what_is_granted() {
    if let Some(built) = Built::go("clients/programs/fetch.go") {
        let program = built.program();
        let client = Client::new([program.to_str().unwrap()]).complains("no such host");
        client.reaches_what_is_granted();
        client.reaches_what_is_granted_by_tls();
    }
}

#[test]
fn a_java_program_reaches_what_is_granted() {
    let Some(built) = Built::java("clients/programs/Fetch.java") else {
        return;
    };
    for class in ["Fetch", "FetchInBackground"] {
        let client = Client::new(["java", "-XX:TieredStopAtLevel=1", "-cp", built.directory(), class])
            .flags(["--read", built.directory()])
            .complains("not resolved");
        client.reaches_what_is_granted();
        client.reaches_what_is_granted_by_tls();
    }
}
