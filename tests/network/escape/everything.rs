//! `net = "all"`: every host but those at which clouds hand out credentials.

use super::attack::Attack;
use crate::common::{Probe, run};
use crate::network::net::{Net, outcome};
use crate::network::servers::{Http, Streams, Witness};

// promise: network.19
#[test]
fn clouds_hand_out_no_credentials() {
    // Unconfined there's no answer, or no way.
    const NO_REFUSAL: &str = "ok|EINPROGRESS|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|EADDRNOTAVAIL|EINVAL";
    let begin = |host: &str, family: &str| {
        format!("s = socket.socket(socket.{family}); s.setblocking(False); s.connect(('{host}', 80))")
    };
    for profile in [["mcp-standard", "all"], ["trusted", "all"], ["minimal", "all"]] {
        let mut probe = Probe::new().flags(["--net", profile[1]]);
        for host in ["169.254.169.254", "169.254.170.2", "169.254.1.1", "100.100.100.200"] {
            probe = probe
                .answers(&begin(host, "AF_INET"), NO_REFUSAL, "EACCES")
                .answers_if_possible(&begin(&format!("::ffff:{host}"), "AF_INET6"), NO_REFUSAL, "EACCES");
        }
        probe
            .answers_if_possible(&begin("fd00:ec2::254", "AF_INET6"), NO_REFUSAL, "EACCES")
            .refused(profile[0], "EACCES");
    }
}

#[test]
fn a_refusal_of_credentials_is_reported() {
    let code = "import socket\n\
        try: socket.create_connection(('169.254.169.254', 80), 3)\n\
        except OSError: print('refused')";
    let ran = outcome(run().profile("mcp-standard").reporting().python(code));
    ran.prints("refused\n")
        .was_refused("connect", "169.254.169.254:80", &[]);
}

#[test]
fn everything_else_is_reached() {
    let (echo, witness) = (Streams::echo(), Witness::new());
    let http = Http::new();
    let code = format!(
        "import socket, urllib.request\n\
         s = socket.create_connection(('{0}', {1}), 10); s.sendall(b'x'); print(s.recv(1))\n\
         s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('{2}', {3}))\n\
         print(urllib.request.urlopen('http://{4}/').status)\n\
         print(socket.gethostbyname('localhost'))",
        echo.address.ip(),
        echo.address.port(),
        witness.address.ip(),
        witness.address.port(),
        http.address
    );
    for words in [["--profile", "mcp-standard"], ["--net", "all"]] {
        let ran = outcome(run().flags(words).reporting().python(&code));
        ran.prints("b'x'\n200\n127.0.0.1\n").was_refused_nothing();
        witness.saw(1);
        witness.forget();
    }
}

/// All hosts are reached, and yet not the ports of Stockade and of unix sockets that others have.
#[test]
fn names_are_asked_as_the_machine_asks() {
    let attack = Attack::new();
    let mut net = Net::new();
    net.flag(["--net", "all"]);
    net.names.lead("api.shop.test", attack.granted.address.ip());
    // The machine's own resolver isn't the one of the tests, so the name doesn't exist there.
    let ran =
        net.python("import socket\ntry: socket.getaddrinfo('nobody.invalid', 80)\nexcept socket.gaierror: print('no')");
    ran.prints("no\n");
}
