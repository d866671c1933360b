//! Runs with no network: none is asked for, or an empty list.

use super::attack::{Attack, REFUSED};
use crate::common::run;
use crate::network::net::Net;

const FORMS: &[&str] = &[
    "socket.create_connection(W)",
    "of(HOST, UDP).sendto(b'x', W)",
    "begun(of(HOST), W)",
    "of(HOST).sendto(b'x', FASTOPEN, W)",
];

// promise: network.3
#[test]
fn net_none_takes_the_network_away() {
    for profile in ["mcp-standard", "network-api", "trusted", "minimal"] {
        let mut net = Net::new();
        net.flag(["--net", "none"]);
        let attack = Attack {
            net,
            profile,
            ..Attack::new()
        };
        attack.fails(FORMS, REFUSED);
    }
}

#[test]
fn an_empty_list_of_hosts_is_none() {
    let attack = Attack::new();
    let begun = run().file(
        "empty.toml",
        "version = 1\nname = \"empty\"\ndescription = \"No hosts\"\nextends = \"network-api\"\n[network]\nhost = []\n",
    );
    let code = format!(
        "import socket\n\
         for ask in (lambda: socket.create_connection(('{}', {}), 10), lambda: socket.getaddrinfo('api.shop.test', 80)):\n  \
           try: ask(); print('reached')\n  \
           except OSError: print('refused')",
        attack.witness.address.ip(),
        attack.witness.address.port()
    );
    begun
        .flags(["--profile", "@ROOT/empty.toml"])
        .flags(["--resolver", &attack.net.names.address().to_string()])
        .python(&code)
        .stdout("refused\nrefused\n")
        .ends();
    attack.witness.saw_none();
    assert_eq!(attack.net.names.asked(), [""; 0]);
}

#[test]
fn a_run_without_hosts_asks_for_no_names() {
    let net = Net::new();
    net.names.lead("api.shop.test", crate::network::servers::address());
    let ran =
        net.python("import socket\ntry: socket.getaddrinfo('api.shop.test', 80)\nexcept OSError: print('refused')");
    ran.prints("refused\n");
    assert_eq!(net.names.asked(), [""; 0]);
}
