use super::*;

#[test]
fn secrets_in_command_lines_are_masked_and_the_rest_stays() {
    for (line, expected) in [
        (
            &["deploy", "--token", "abc", "now"][..],
            &["deploy", "--token", "***", "now"][..],
        ),
        (&["x", "--password=a b"], &["x", "--password=***"]),
        (&["x", "-api-key", "abc"], &["x", "-api-key", "***"]),
        (&["x", "--apiKey=abc"], &["x", "--apiKey=***"]),
        (&["x", "--password-file", "/run/p"], &["x", "--password-file", "/run/p"]),
        (
            &["mysql", "-u", "ada", "-psecret", "shop"],
            &["mysql", "-u", "***", "-p***", "***"],
        ),
        (&["mysql", "-p", "shop"], &["mysql", "-p", "***"]),
        (
            &["/usr/bin/sshpass", "-p", "secret", "ssh"],
            &["/usr/bin/sshpass", "-p", "***", "ssh"],
        ),
        (
            &["sudo", "redis-cli", "-a", "secret"],
            &["sudo", "redis-cli", "-a", "***"],
        ),
        (&["curl", "-sSu", "ada:secret", "x"], &["curl", "-s***", "***", "x"]),
        (&["curl", "-uada:secret"], &["curl", "-u***"]),
        (
            &["curl", "-o", "out", "-H", "X-Api-Key: abc"],
            &["curl", "-o", "***", "-H", "***"],
        ),
        (&["curl", "-HAuthorization: Bearer abc"], &["curl", "-H***"]),
        (&["docker", "login", "-p", "secret"], &["docker", "login", "-p", "***"]),
        (&["docker", "run", "-p", "80:80"], &["docker", "run", "-p", "80:80"]),
        (
            &["env", "AWS_SECRET_ACCESS_KEY=a/b c", "true"],
            &["env", "AWS_SECRET_ACCESS_KEY=***", "true"],
        ),
        (
            &["--env", "GITHUB_TOKEN=abc", "--read", "/etc/hosts"],
            &["--env", "GITHUB_TOKEN=***", "--read", "/etc/hosts"],
        ),
        (
            &["openssl", "rsa", "-passin", "pass:abc"],
            &["openssl", "rsa", "-p***", "***"],
        ),
        (
            &["sh", "-c", "mysql -psecret shop; x --token abc"],
            &["sh", "-c", "mysql -p*** ***; x --token ***"],
        ),
        (
            &["python3", "monkey.py", "-v", "PWD=/home/ada"],
            &["python3", "monkey.py", "-v", "PWD=/home/ada"],
        ),
    ] {
        let words: Vec<String> = line.iter().map(ToString::to_string).collect();
        assert_eq!(self::words(&words), expected, "{line:?}");
    }
}

#[test]
fn secrets_in_texts_are_masked_and_the_rest_stays() {
    let long = "0123456789abcdefghijklmnopqrstuvwxyz";
    for (given, expected) in [
        ("/home/ada/project/readme.md", "/home/ada/project/readme.md"),
        ("PermissionDenied: read /etc/hosts", "PermissionDenied: read /etc/hosts"),
        (
            "reading .env: secret pattern `**/.env`",
            "reading .env: secret pattern `**/.env`",
        ),
        ("https://ada:s3cret@host/x", "https://***@host/x"),
        ("postgres://ada:s/3@host:5432/x", "postgres://***@host:5432/x"),
        ("https://host:8080/react@18", "https://host:8080/react@18"),
        ("https://host/?key=abc&page=2", "https://host/?key=***&page=2"),
        (
            "https://host/?page=2&access_token=abc#x",
            "https://host/?page=2&access_token=***#x",
        ),
        ("Authorization: Bearer abc", "Authorization: ***"),
        (
            "curl -H 'Authorization: Basic abc' https://x",
            "curl -H '***' https://x",
        ),
        (
            "{\"password\": \"a\\\"b\", \"user\": \"ada\"}",
            "{\"password\": \"***\", \"user\": \"ada\"}",
        ),
        ("export API_KEY='a b'; run", "export API_KEY='***'; run"),
        ("TOKEN=abc run", "TOKEN=*** run"),
        ("crate::token::Token", "crate::token::Token"),
        ("registry/key:latest", "registry/key:latest"),
        (
            "before -----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY----- after",
            "before *** after",
        ),
        ("eyJhbGciOi.eyJzdWIi.c2ln!", "***!"),
        ("task-0123456789abcdefghijk", "task-0123456789abcdefghijk"),
        ("x AKIAIOSFODNN7EXAMPLE y", "x *** y"),
        ("ünï token=ü€ ü", "ünï token=*** ü"),
    ] {
        assert_eq!(text(given), expected);
    }
    for prefix in ["ghp_", "github_pat_", "sk-", "xoxb-", "glpat-", "sk-ant-"] {
        assert_eq!(text(&format!("/a/{prefix}{long}/b")), "/a/***/b");
    }
}

#[test]
fn every_token_of_the_table_is_masked_and_what_is_too_short_stays() {
    let lines = include_str!("tokens.txt").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let fields: Vec<&str> = line.split(' ').collect();
        let letter = if fields[2] == "u" { "A" } else { "a" };
        let least: usize = fields[1].parse().unwrap();
        let token = |length| format!("{}{}", fields[0], letter.repeat(length));
        assert_eq!(text(&format!("x {} y", token(least))), "x *** y", "{line}");
        assert_eq!(text(&token(least + 9)), "***", "{line}");
        let short = token(least - 1);
        let is_shown = !fields[0].ends_with(':');
        assert!(!is_shown || text(&short) == short, "{line}");
        assert!(matches!(fields[2], "w" | "a" | "x" | "u" | "d") && fields.get(3).is_none_or(|word| *word == "start"));
    }
    let bot = "bot 123456789:AAabcdefghijklmnopqrstuvwxyz0123456";
    assert_eq!(text(bot), "bot 123456789:***");
}

#[test]
fn every_text_of_a_value_is_masked_wherever_it_stands() {
    let mut value = serde_json::json!({
        "command": ["x", "--token", "abc"],
        "requested": { "grants": [["--env", "API_KEY=abc"], ["--read", "/x"]] },
        "reason": "https://a:b@host/",
        "pid": 7,
    });
    json(&mut value);
    let expected = serde_json::json!({
        "command": ["x", "--token", "***"],
        "requested": { "grants": [["--env", "API_KEY=***"], ["--read", "/x"]] },
        "reason": "https://***@host/",
        "pid": 7,
    });
    assert_eq!(value, expected);
}

#[test]
fn masking_a_masked_text_changes_nothing() {
    for given in ["--token abc", "a://u:p@h?key=x", "Authorization: x", "curl -u a:b"] {
        let once = text(given);
        assert_eq!(text(&once), once);
    }
}

/// A word may also contain a blank where quotes are ordinary letters: after a backslash.
#[test]
fn a_blank_behind_a_backslash_is_not_read_without_end() {
    for line in [
        "a b\\ c -p d",
        "x 'a\\\n b' -u\\ y",
        "-I -c 'for a in b: \\\n print(a)'",
        "a \\\n\\\n -H x\\ y: z",
    ] {
        text(line);
        words(&["sh".into(), "-c".into(), line.into()]);
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_masked_in_the_end(line in "[ab\\-'\"\\\\ \n=:;\u{a0}]{0,60}") {
        text(&line);
        words(&[line.clone(), "-c".into(), line]);
    }
}

/// The formats that the plug-ins of `detect-secrets` 1.5 recognise by shape.
#[test]
fn the_token_formats_of_a_well_kept_set_are_masked() {
    let letters = |count: usize| {
        "aB3dE5gH7jK9mN1pQ2sT4vX6"
            .chars()
            .cycle()
            .take(count)
            .collect::<String>()
    };
    let hexes = |count: usize| "3f9a0c7be1d84256".chars().cycle().take(count).collect::<String>();
    let capitals = |count: usize| "Q7ZK2M9XW4TB".chars().cycle().take(count).collect::<String>();
    let tokens = [
        format!("AKCp{}", letters(69)),
        format!("AKIA{}", capitals(16)),
        format!("ASIA{}", capitals(16)),
        format!("A3TX{}", capitals(16)),
        format!("M{}.{}.{}", letters(24), letters(6), letters(27)),
        format!("ghp_{}", letters(36)),
        format!("ghs_{}", letters(36)),
        format!("GR1348941{}", letters(20)),
        format!("glpat-{}", letters(20)),
        format!("glcbt-{}", letters(24)),
        format!("glimt-{}", letters(25)),
        format!("glptt-{}", letters(40)),
        format!("glagent-{}", letters(50)),
        format!("gloas-{}", letters(64)),
        format!("eyJ{}.eyJ{}.{}", letters(30), letters(40), letters(43)),
        format!("{}-us12", hexes(32)),
        format!("sk-{}T3BlbkFJ{}", letters(20), letters(20)),
        format!("pypi-AgEIcHlwaS5vcmc{}", letters(70)),
        format!("SG.{}.{}", letters(22), letters(43)),
        format!("xoxb-1234567890-1234567890-{}", hexes(24)),
        format!("sq0csp-{}", letters(43)),
        format!("rk_live_{}", letters(24)),
        format!("sk_live_{}", letters(24)),
        format!("123456789:AA{}", letters(33)),
        format!("AC{}", hexes(32)),
        format!("SK{}", hexes(32)),
        format!("nvapi-{}", letters(64)),
        format!("tvly-dev-{}", letters(32)),
        format!("fc-{}", hexes(32)),
        format!("phx_{}", letters(43)),
        format!("ops_eyJ{}", letters(60)),
        format!("vercel_blob_rw_{}", letters(40)),
    ];
    let shown: Vec<_> = tokens
        .iter()
        .filter(|token| text(&format!("send {token} now")).contains(&token[token.len() - 12..]))
        .collect();
    assert!(shown.is_empty(), "{shown:#?}");
    let account = format!("AccountName=x;AccountKey={}==", letters(86));
    assert!(!text(&account).contains(&letters(20)), "{}", text(&account));
}

#[test]
fn variables_that_hold_secrets_are_recognised_by_name() {
    for name in [
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "MYSQL_PWD_PASSWORD",
        "OPENAI_API_KEY",
        "SSH_AUTH_SOCK",
        "OPENAI_API_KEYS",
        "TS_AUTHKEY",
        "DB_PW",
        "AWS_CREDS",
        "WIFI_PSK",
        "NPM_OTP",
        "WALLET_MNEMONIC",
        "AZURE_SAS",
        "DBPASS",
        "PGPASSFILE",
        "SMTP_USERPASS",
        "BYPASS_PASS",
        "BYPASSTOKEN",
        "SEEDPHRASE",
        "BIP39_PHRASE",
        "ETH_PRIVKEY",
        "STRIPE_SK",
        "USER_PIN",
        "PASSWORD_SALT",
        "MYSQL_PWD",
        "DB_PWD",
        "TOKENIZER_API_KEY",
        "TOKENIZER_TOKEN",
    ] {
        assert!(looks_secret(name.as_ref()), "{name}");
    }
    for name in [
        "PATH",
        "HOME",
        "EDITOR",
        "KEYBOARD",
        "MONKEY",
        "AUTHOR",
        "XDG_SESSION_ID",
        "DESKTOP_SESSION",
        "PASSENGER_APP_ENV",
        "COMPASS_DIR",
        "GIT_ASKPASS",
        "TESTS_PASSED",
        "NO_PROXY_BYPASS",
        "PCI_PASSTHROUGH",
        "PARAPHRASES",
        "PWD",
        "OLDPWD",
        "TOKENIZERS_PARALLELISM",
    ] {
        assert!(!looks_secret(name.as_ref()), "{name}");
    }
}

#[test]
fn values_that_would_be_masked_are_recognised_whatever_their_name() {
    for value in [
        "--user x --password hunter22",
        "host=db user=x password=hunter22",
        "mysql -u root -phunter22 shop",
        "curl -u me:hunter22 https://example.com",
        "https://example.com/?api_key=hunter22",
        "{\"password\":\"hunter22\"}",
        "machine host.example\n  login ada\n  password hunter22",
        "-Djavax.net.ssl.keyStorePassword=hunter22",
        "ghp_0123456789abcdefghij0123456789abcdef",
    ] {
        assert!(holds_secret(value), "{value}");
    }
    for value in [
        "/usr/bin:/bin",
        "|/usr/bin/lesspipe %s",
        "less -R -F --mouse",
        "--color=auto --bind=ctrl-j:down --height 40%",
        "() {  local x=$1;\n eval \"$(/usr/bin/modulecmd bash \"$@\")\"\n}",
        "\\[\\e]0;\\u@\\h: \\w\\a\\]${debian_chroot:+($debian_chroot)}\\u@\\h:\\w\\$ ",
        "-Xmx2g -XX:+UseG1GC -Dfile.encoding=UTF-8",
        "ssh -p 2222 -i ~/.ssh/id",
        "tcp://10.96.0.1:443",
        "unix:path=/run/user/1000/bus",
        "{\"userLocale\":\"en\",\"osLocale\":\"en-us\",\"availableLanguages\":{}}",
        "-j8 --no-print-directory",
        "XFCE:GNOME",
        "/opt/sk-proj-tools-and-their-very-long-directory-name/bin:/usr/bin",
    ] {
        assert!(!holds_secret(value), "{value}");
    }
}

#[test]
fn values_that_hold_tokens_are_recognised_whatever_their_name() {
    for value in [
        "ghp_0123456789abcdefghij0123456789abcdef",
        "sk-proj-0123456789abcdef0123",
        "--user x --key AKIAIOSFODNN7EXAMPLE",
        "postgres://shop:secret@db/x",
        "-----BEGIN PRIVATE KEY-----\nMII",
        "Bearer 0123456789abcdef",
        "x-extra: basic dXNlcjpzZWNyZXQ5OTk=",
        "https://ghp_0123456789abcdefghij0123456789abcdef@github.com/x.git",
        "git+https://glpat-0123456789abcdefghij@gitlab.com/x",
        "https://hooks.slack.com/services/T00000000/B00000000/0123456789abcdefghijklmn",
        "https://discord.com/api/webhooks/0123456789012345678/0123456789abcdef0123456789abcdef0123456789abcdef",
    ] {
        assert!(holds_token(value), "{value}");
    }
    for value in [
        "/usr/bin:/bin",
        "ssh://git@example.com/x",
        "https://example.com:8080/a@b",
        "/opt/task-runner-for-everything",
        "fc-list --verbose 0123456789abcdef0123",
        "hf-internal-testing/tiny-random-gpt2",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "/opt/sk-proj-tools-and-their-very-long-directory-name/bin:/usr/bin",
        "-----BEGIN CERTIFICATE-----\nMIIB",
        "-----BEGIN PUBLIC KEY-----\nMIIB",
        "de_DE.UTF-8",
        "",
        "bearer internationalization",
        "basic auth",
        "Bearer $TOKEN",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ] {
        assert!(!holds_token(value), "{value}");
    }
}
