//! Arguments that change while Stockade looks at them.

use std::net::SocketAddr;

use super::attack::NAME;
use crate::common::finish;
use crate::network::built::Built;
use crate::network::net::{Net, outcome};
use crate::network::servers::{Streams, Witness, address};

/// What flips, for two seconds: the address, its length, or the socket behind a number.
fn is_held(mode: &str) {
    let Some(attacker) = Built::c("gcc", &["-O1", "-pthread"], "escape/attackers/flip.c") else {
        return;
    };
    let granted = Streams::echo();
    let beside = if mode == "port" {
        granted.address.ip()
    } else {
        address()
    };
    let free_witness = Witness::at(beside, 0).unwrap();
    let words = |name: &str, goal: SocketAddr, to: SocketAddr| {
        [
            name.into(),
            goal.port().to_string(),
            to.ip().to_string(),
            to.port().to_string(),
        ]
    };
    let literal = granted.address.ip().to_string();
    let mut command = std::process::Command::new(attacker.program());
    command
        .arg(mode)
        .args(words(&literal, granted.address, free_witness.address));
    // On a busy machine two seconds may be too short for the two to meet.
    for _ in 0..8 {
        let free = finish(&mut command, b"");
        let said = free.stdout();
        assert!(said.starts_with("allowed "), "{said}{}", free.stderr());
        if free_witness.is_met() {
            break;
        }
    }
    free_witness.saw(1);

    let mut net = Net::new();
    net.grant(NAME, granted.address);
    for name in [literal.as_str(), NAME] {
        // One of its own: what the kernel still holds of the free attacker would count as a breach.
        let witness = Witness::at(beside, 0).unwrap();
        let mut command = vec![attacker.program().to_str().unwrap().to_string(), mode.into()];
        command.extend(words(name, granted.address, witness.address));
        command.extend((mode != "kind").then(|| "both".to_string()));
        let ran = outcome(net.run("minimal").command(command));
        let said = ran.stdout();
        let counts: Vec<u64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        // It raced, and wasn't just refused everything. A datagram socket is connected to no one and told nothing.
        let was_refused = mode == "kind" || counts.get(1).is_some_and(|count| *count > 0);
        assert!(
            counts.len() == 2 && counts[0] > 0 && was_refused,
            "{mode} {name}: {}",
            ran.told()
        );
        witness.saw_none();
    }
}

// promise: network.6
#[test]
fn the_address_flips() {
    is_held("address");
}

#[test]
fn the_port_flips() {
    is_held("port");
}

#[test]
fn the_family_flips() {
    is_held("family");
}

#[test]
fn the_socket_flips() {
    is_held("socket");
}

#[test]
fn datagrams_and_streams_flip() {
    is_held("kind");
}
