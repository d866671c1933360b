//! Node's clients.

use super::Client;
use crate::network::built::{installed, npm_package};
use crate::network::net::{Net, outcome};
use crate::network::servers::Http;

fn client(code: &str) -> Client {
    Client::new(["node", "-e", code, "--"]).complains("ENOTFOUND")
}

fn both(client: &Client) {
    client.reaches_what_is_granted();
    client.reaches_what_is_granted_by_tls();
}

#[test]
fn fetch_reaches_what_is_granted() {
    if installed(&["node"]) {
        both(&client(
            "fetch(process.argv.at(-1)).then((a) => a.text()).then((t) => process.stdout.write(t))
             .catch((e) => { console.error(e.message, e.cause?.message); process.exit(1); })",
        ));
    }
}

#[test]
fn http_reaches_what_is_granted() {
    if installed(&["node"]) {
        both(&client(
            "const url = process.argv.at(-1);
             require(url.split(':')[0]).get(url, (answer) => answer.pipe(process.stdout))",
        ));
    }
}

#[test]
fn undici_reaches_what_is_granted() {
    let Some(package) = npm_package("undici").filter(|_| installed(&["node"])) else {
        return;
    };
    let package = package.to_str().unwrap();
    let code = format!(
        "require('{package}').request(process.argv.at(-1)).then((a) => a.body.text())
         .then((t) => process.stdout.write(t)).catch((e) => {{ console.error(e.message); process.exit(1); }})"
    );
    both(&client(&code).flags(["--read", package]));
}

#[test]
fn a_lookup_by_c_ares_is_answered() {
    if !installed(&["node"]) {
        return;
    }
    let shop = Http::new();
    let mut net = Net::new();
    net.grant("api.shop.test", shop.address);
    net.names.lead("other.shop.test", shop.address.ip());
    let code = "const dns = require('dns').promises;
        (async () => {
            const [address] = await dns.resolve4('api.shop.test');
            const answer = await fetch(`http://${address}:${process.argv.at(-1)}/hello`);
            process.stdout.write(await answer.text());
            console.log(await dns.resolve4('other.shop.test').catch((error) => error.code));
        })()";
    let ran = outcome(
        net.run("minimal")
            .command(["node", "-e", code, "--", &shop.port().to_string()]),
    );
    ran.prints(&format!("{}ENOTFOUND\n", Http::HELLO));
    ran.was_refused("resolve", "other.shop.test", &["--host", "other.shop.test"]);
    net.names.were_never_asked("other");
}

#[test]
fn node_lists_the_interfaces() {
    if installed(&["node"]) {
        let mut net = Net::new();
        net.host("api.shop.test");
        let code = "console.log(Object.keys(require('os').networkInterfaces()).includes('lo'))";
        outcome(net.run("minimal").command(["node", "-e", code])).prints("true\n");
    }
}
