//! The name-resolution files that the run sees instead of the machine's: every lookup goes to the run's own nameserver.

use std::fmt::Write;
use std::net::Ipv4Addr;

use super::machine::Machine;
use super::synthetic::NAMESERVER;
use crate::profile::Name;

/// The first line of each file.
const HEAD: &str = "# Written by Stockade for this run.\n";

/// Lookup order: `hosts`, then DNS. Nothing else could answer in a run.
const HOSTS_LINE: &str = "hosts: files dns";

/// resolv.conf(5). `use-vc` because a run's datagrams are never sent; timeout and attempts because the machine's may
/// be shorter than a lookup by Stockade.
pub fn resolv_conf(machine: &Machine) -> String {
    let mut text = format!("{HEAD}nameserver {NAMESERVER}\n");
    if !machine.search.is_empty() {
        let _ = writeln!(text, "search {}", machine.search.join(" "));
    }
    let _ = writeln!(text, "options use-vc ndots:{} timeout:5 attempts:2", machine.ndots);
    text
}

/// hosts(5): the local machine, and the names with their addresses, for programs that use UDP alone (musl).
pub fn hosts<'a>(names: impl Iterator<Item = (&'a Name, Ipv4Addr)>) -> String {
    let mut text = format!("{HEAD}127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n");
    for (name, address) in names {
        let _ = writeln!(text, "{address} {}", name.as_str());
    }
    text
}

/// nsswitch.conf(5) with its `hosts:` line replaced; all others (users, groups, services) are unchanged.
pub fn nsswitch(original: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in original.lines() {
        match is_hosts_line(line) {
            false => lines.push(line),
            true if lines.contains(&HOSTS_LINE) => {}
            true => lines.push(HOSTS_LINE),
        }
    }
    if !lines.contains(&HOSTS_LINE) {
        lines.push(HOSTS_LINE);
    }
    lines.join("\n") + "\n"
}

/// Finds the database as glibc does: after spaces, up to a space or a colon.
fn is_hosts_line(line: &str) -> bool {
    let database = line
        .trim_start()
        .split(|letter: char| letter.is_whitespace() || letter == ':')
        .next();
    database == Some("hosts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolv_conf_names_only_our_nameserver_and_keeps_the_search_list() {
        let machine = Machine::parse(
            "nameserver 10.0.0.1\nsearch corp.example b.example\noptions ndots:3",
            "",
        );
        assert_eq!(
            resolv_conf(&machine),
            "# Written by Stockade for this run.\nnameserver 198.18.0.1\nsearch corp.example b.example\n\
             options use-vc ndots:3 timeout:5 attempts:2\n"
        );
        let machine = Machine::parse("", "");
        assert_eq!(
            resolv_conf(&machine),
            "# Written by Stockade for this run.\nnameserver 198.18.0.1\noptions use-vc ndots:1 timeout:5 attempts:2\n"
        );
    }

    #[test]
    fn hosts_lists_the_local_machine_and_the_given_names() {
        let name = Name::parse("api.example.com").unwrap();
        let text = hosts([(&name, Ipv4Addr::new(198, 18, 1, 0))].into_iter());
        assert_eq!(
            text,
            "# Written by Stockade for this run.\n127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n\
             198.18.1.0 api.example.com\n"
        );
    }

    #[test]
    fn nsswitch_changes_the_hosts_line_and_no_other() {
        let original = "# hosts: here\npasswd: files systemd\nhosts:  files mymachines resolve [!UNAVAIL=return] dns\n\
                        ghosts: files\nnetworks: files";
        let expected = "# hosts: here\npasswd: files systemd\nhosts: files dns\nghosts: files\nnetworks: files\n";
        assert_eq!(nsswitch(original), expected);
    }

    #[test]
    fn nsswitch_has_one_hosts_line_whatever_it_had() {
        assert_eq!(nsswitch(""), "hosts: files dns\n");
        assert_eq!(nsswitch("passwd: files\n"), "passwd: files\nhosts: files dns\n");
        assert_eq!(
            nsswitch(" hosts : nis\nhosts:\nshadow: files\n"),
            "hosts: files dns\nshadow: files\n"
        );
    }
}
