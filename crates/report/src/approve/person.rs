//! Names the person who answers.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use crate::profile::visible;

/// The most of passwd(5) that is read: a name is a courtesy.
const MAX: u64 = 1 << 20;

/// `ada at the terminal`, or `uid 1000 at the terminal`, for this process's user. Reads `/etc/passwd` itself: the C
/// library's lookup loads modules, which a static program can't.
pub fn at(place: &str) -> String {
    let user = nix::unistd::getuid().as_raw();
    let name = File::open("/etc/passwd").ok().and_then(|file| name_of(user, file));
    match name {
        Some(name) => format!("{} at {place}", visible(&name)),
        None => format!("uid {user} at {place}"),
    }
}

fn name_of(user: u32, passwd: impl Read) -> Option<String> {
    let lines = BufReader::new(passwd.take(MAX)).lines();
    lines.map_while(Result::ok).find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)?.parse() == Ok(user)).then(|| name.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_has_the_name_that_passwd_gives() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\n\n:x:1:\nada:x:1000:1000::/home/ada:/bin/sh\neve:x:1000:1::/:/\n";
        assert_eq!(name_of(1000, passwd.as_bytes()).as_deref(), Some("ada"));
        assert_eq!(name_of(0, passwd.as_bytes()).as_deref(), Some("root"));
        assert_eq!(name_of(1, passwd.as_bytes()), None);
        assert!(at("the terminal").ends_with(" at the terminal"));
    }
}
