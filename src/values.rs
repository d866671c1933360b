//! Values of flags that several tasks read.

use stockade::NetworkChoice;

/// A name that can be shown in a line, and that a grant can be bound to.
pub fn parse_agent(text: &str) -> Result<String, String> {
    const MAX_LENGTH: usize = 100;
    let is_name = !text.trim().is_empty() && text.chars().count() <= MAX_LENGTH && !text.chars().any(char::is_control);
    let name = is_name.then(|| text.to_string());
    name.ok_or_else(|| format!("a name has 1 to {MAX_LENGTH} characters, none of them a control character"))
}

/// A value of `--net`.
pub fn parse_network(text: &str) -> Result<NetworkChoice, String> {
    match text {
        "none" => Ok(NetworkChoice::None),
        "all" => Ok(NetworkChoice::All),
        _ => Err("it is `none` or `all`; single hosts are named with `--host`".into()),
    }
}

/// A value of `explain --last`.
pub fn parse_last(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "it is a number from 1 on, which is the newest run".into())
}

/// A port on the loopback address.
pub fn parse_port(text: &str) -> Result<u16, String> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let port = text.parse().ok().filter(|_| is_number);
    port.ok_or_else(|| "a port is 1 to 65535, or 0 for one that the kernel chooses".into())
}

/// A name alone: a value would stand in every command that the agent sees.
pub fn parse_variable(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match is_name {
        true => Ok(text.to_string()),
        false => Err("it is the name of a variable".into()),
    }
}
