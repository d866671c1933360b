//! Recognises variables that hold secrets.

use std::ffi::OsStr;

/// Whether a variable's name marks its value as secret.
pub fn looks_secret(name: &OsStr) -> bool {
    const SECRET_WORDS: &[&str] = &[
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
        "KEY",
        "APIKEY",
        "AUTH",
        "COOKIE",
        "SESSION",
        "PRIVATE",
        "PAT",
        "DSN",
        "PASS",
        "PWDS",
        "JWT",
        "WEBHOOK",
        "CONNECTION",
        "KEYS",
        "AUTHKEY",
        "PW",
        "CRED",
        "CREDS",
        "COOKIES",
        "PASSCODE",
        "PASSPHRASES",
        "PSK",
        "AUTHORIZATION",
        "BEARER",
        "OTP",
        "TOTP",
        "MNEMONIC",
        "HMAC",
        "CONNSTR",
        "SAS",
        "SK",
        "PIN",
        "SALT",
    ];
    const SECRET_PARTS: &[&str] = &[
        "PASSWORD",
        "SECRET",
        "TOKEN",
        "APIKEY",
        "ACCESSKEY",
        "ACCOUNTKEY",
        "CREDENTIAL",
        "PRIVKEY",
        "PRIVATEKEY",
    ];
    // Words with `PASS` or `PHRASE` in them that mark no secret.
    const ORDINARY_PARTS: &[&str] = &[
        "ASKPASS",
        "BYPASS",
        "COMPASS",
        "OVERPASS",
        "PASSA",
        "PASSE",
        "PASSI",
        "PASSPORT",
        "PASSTHR",
        "PARAPHRAS",
    ];
    // Sockets that act for the user; access to them is a grant of its own.
    const SOCKETS: &[&str] = &[
        "SSH_AUTH_SOCK",
        "SSH_AGENT_PID",
        "GPG_AGENT_INFO",
        "DBUS_SESSION_BUS_ADDRESS",
        "DOCKER_HOST",
        "XAUTHORITY",
        "DATABASE_URL",
        "REDIS_URL",
        "MONGODB_URI",
        "SSHPASS",
        "POSTGRES_URL",
    ];
    // A log-in session's own variables (pam_systemd(8)).
    const HARMLESS: &[&str] = &[
        "XDG_SESSION_ID",
        "XDG_SESSION_TYPE",
        "XDG_SESSION_CLASS",
        "XDG_SESSION_DESKTOP",
        "DESKTOP_SESSION",
    ];
    let name = name.to_string_lossy().to_ascii_uppercase();
    if HARMLESS.contains(&name.as_str()) {
        return false;
    }
    // `PWD` is the working directory, `DB_PWD` a password.
    let is_secret = |word: &str| SECRET_WORDS.contains(&word) || word == "PWD" && name != "PWD";
    // A tokenizer's tokens are words.
    let without_words = name.replace("TOKENIZ", "");
    SOCKETS.contains(&name.as_str())
        || name.split('_').any(is_secret)
        || SECRET_PARTS.iter().any(|part| without_words.contains(part))
        || name.split('_').any(|word| {
            let is_ordinary = || ORDINARY_PARTS.iter().any(|part| word.contains(part));
            (word.contains("PASS") || word.contains("PHRASE")) && !is_ordinary()
        })
}
