//! Programs that know no proxy: each reaches the granted name, and no other name or address.

mod compiled;
mod curl;
mod git;
mod node;
mod python;
mod web_ports;

use std::net::SocketAddr;

use crate::network::net::{Net, Outcome, outcome};
use crate::network::servers::{Authority, Http, Secure, address};

const GRANTED: &str = "api.shop.test";
const OTHER: &str = "other.shop.test";

/// A command that prints what is at the URL that is its last word, or complains on standard error and fails.
pub struct Client {
    command: Vec<String>,
    flags: Vec<String>,
    profile: &'static str,
    complaint: &'static str,
    names_reach_stockade: bool,
}

impl Client {
    pub fn new<T: Into<String>>(command: impl IntoIterator<Item = T>) -> Client {
        Client {
            command: command.into_iter().map(Into::into).collect(),
            flags: Vec::new(),
            profile: "minimal",
            complaint: "",
            names_reach_stockade: true,
        }
    }

    pub fn flags<T: Into<String>>(mut self, flags: impl IntoIterator<Item = T>) -> Client {
        self.flags.extend(flags.into_iter().map(Into::into));
        self
    }

    pub fn profile(mut self, profile: &'static str) -> Client {
        self.profile = profile;
        self
    }

    /// What it says of a name that doesn't exist.
    pub fn complains(mut self, complaint: &'static str) -> Client {
        self.complaint = complaint;
        self
    }

    /// It asks for names by datagram, which are never sent, so no report can have them.
    pub fn asks_by_datagram(mut self) -> Client {
        self.names_reach_stockade = false;
        self
    }

    /// Over HTTP: the granted name works; another name and another address fail, are reported and never reached.
    pub fn reaches_what_is_granted(&self) {
        let (shop, other) = (Http::new(), Http::new());
        let mut net = Net::new();
        net.grant(GRANTED, shop.address);
        net.names.lead(OTHER, other.address.ip());

        let granted = self.fetch(&net, &format!("http://{GRANTED}:{}/hello", shop.port()));
        granted.prints(Http::HELLO).was_refused_nothing();
        assert_eq!(shop.hosts(), [format!("{GRANTED}:{}", shop.port())]);

        let refused = self.fetch(&net, &format!("http://{OTHER}:{}/hello", other.port()));
        self.failed_to_resolve(&refused, &net);
        let refused = self.fetch(&net, &format!("http://{}/hello", other.address));
        failed_to_connect(&refused, other.address);
        assert!(other.requests().is_empty(), "{:?}", other.requests());
    }

    /// The same over HTTPS.
    pub fn reaches_what_is_granted_by_tls(&self) {
        if !crate::network::built::installed(&["openssl"]) {
            return;
        }
        let authority = Authority::new();
        let serve = || Secure::new(&authority, &[GRANTED, OTHER], address(), 0).unwrap();
        let (shop, other) = (serve(), serve());
        let mut net = Net::new();
        net.grant(GRANTED, shop.address);
        net.names.lead(OTHER, other.address.ip());
        for flag in authority.flags() {
            net.flag([flag.as_str()]);
        }

        let url = |name, server: &Secure| format!("https://{name}:{}/hello", server.address.port());
        let granted = self.fetch(&net, &url(GRANTED, &shop));
        granted.prints(Http::HELLO).was_refused_nothing();
        assert!(shop.has_seen(&format!("sni {GRANTED}")), "{:?}", shop.lines());
        self.failed_to_resolve(&self.fetch(&net, &url(OTHER, &other)), &net);
        assert_eq!(other.lines(), [""; 0]);
    }

    fn fetch(&self, net: &Net, url: &str) -> Outcome {
        let command = self.command.iter().map(String::as_str).chain([url]);
        outcome(net.run(self.profile).flags(&self.flags).command(command))
    }

    #[track_caller]
    fn failed_to_resolve(&self, outcome: &Outcome, net: &Net) {
        let told = outcome.told();
        assert!(
            !outcome.finished.status.success() && outcome.stdout().is_empty(),
            "{told}"
        );
        assert!(
            outcome.stderr().contains(self.complaint),
            "it doesn't say {:?}\n{told}",
            self.complaint
        );
        net.names.were_never_asked(OTHER);
        if self.names_reach_stockade {
            outcome.was_refused("resolve", OTHER, &["--host", OTHER]);
            // Stockade's own words.
            let said = outcome
                .stderr()
                .lines()
                .any(|line| line.starts_with("stockade:") && line.contains(OTHER));
            assert!(said, "Stockade doesn't name {OTHER}\n{told}");
            assert_eq!(outcome.report["status"], "permission_denied", "{told}");
        }
    }
}

#[track_caller]
fn failed_to_connect(outcome: &Outcome, other: SocketAddr) {
    assert!(
        !outcome.finished.status.success() && outcome.stdout().is_empty(),
        "{}",
        outcome.told()
    );
    outcome.was_refused("connect", &other.to_string(), &[]);
}
