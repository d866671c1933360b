//! Command lines with a secret that must be masked, and harmless ones that stay unchanged.

use super::{text, words};

/// In each line `S3` begins the secret, which extends to the end of its letters.
const SECRET: &[&[&str]] = &[
    &["curl", "-u", "ada:S3cret", "https://x"],
    &["curl", "-uada:S3cret"],
    &["curl", "-sSLu", "ada:S3cret"],
    &["curl", "--user=ada:S3cret"],
    &["curl", "--user", "ada:S3cret"],
    &["curl", "--proxy-user", "ada:S3cret"],
    &["curl", "--oauth2-bearer", "S3cret"],
    &["curl", "-b", "sid=S3cret"],
    &["curl", "--cookie", "sid=S3cret"],
    &["curl", "-H", "x-auth-token:S3cret"],
    &["curl", "-H", "X-Api-Key: S3cret"],
    &["curl", "-HX-Api-Key:S3cret"],
    &["curl", "--header=Authorization:S3cret"],
    &["curl", "--header", "PRIVATE-TOKEN:S3cret"],
    &["curl", "-H", "Cookie: sid=S3cret; other=S3too"],
    &["curl", "-d", "{\"api_key\":\"S3cret\"}"],
    &["curl", "-d", "{\"user\": \"ada\", \"password\" : \"S3cret, S3too\"}"],
    &["curl", "-d", "{\"auth\":{\"token\":S3cret}}"],
    &["curl", "-d", "user=ada&password=S3cret&x=1"],
    &["curl", "-F", "token=S3cret", "https://x"],
    &["curl", "https://ada:S3cret@host/x"],
    &["curl", "https://host/x?page=1&access_token=S3cret"],
    &["curl", "--proxy", "http://ada:S3cret@proxy:3128"],
    &["wget", "--http-password=S3cret", "x"],
    &["wget", "--header=X-Auth-Token: S3cret", "x"],
    &["http", "-a", "ada:S3cret", "x"],
    &["npm", "config", "set", "//registry.example.com/:_authToken", "S3cret"],
    &["npm", "config", "set", "//registry.example.com/:_authToken=S3cret"],
    &["npm", "publish", "--otp", "S3cret"],
    &["aws", "configure", "set", "aws_secret_access_key", "S3cret"],
    &[
        "aws",
        "configure",
        "set",
        "--profile",
        "x",
        "aws_secret_access_key",
        "S3cret",
    ],
    &["poetry", "config", "pypi-token.pypi", "S3cret"],
    &["redis-cli", "config", "set", "requirepass", "S3cret"],
    &["heroku", "config:set", "API_TOKEN=S3cret"],
    &["redis-cli", "-h", "host", "-a", "S3cret"],
    &["redis-cli", "-u", "redis://:S3cret@host"],
    &["mysql", "-pS3cret"],
    &["mysql", "-u", "root", "-pS3cret", "shop"],
    &["mysqldump", "--password=S3cret", "shop"],
    &["mariadb", "-uroot", "-pS3cret"],
    &["psql", "postgres://ada:S3cret@host/shop"],
    &["psql", "host=db user=ada password=S3cret"],
    &["env", "PGPASSWORD=S3cret", "psql"],
    &["mongosh", "-u", "ada", "-p", "S3cret"],
    &["mongodump", "--password", "S3cret"],
    &["sshpass", "-p", "S3cret", "ssh", "host"],
    &["sshpass", "-pS3cret", "ssh", "-p", "22", "host"],
    &["docker", "login", "-u", "ada", "-p", "S3cret"],
    &["docker", "run", "-e", "DB_PASSWORD=S3cret", "image"],
    &["docker", "build", "--build-arg", "NPM_TOKEN=S3cret", "."],
    &[
        "kubectl",
        "create",
        "secret",
        "generic",
        "x",
        "--from-literal=password=S3cret",
    ],
    &["kubectl", "--token=S3cret", "get", "pods"],
    &["helm", "install", "x", "--set", "db.password=S3cret"],
    &["ansible-playbook", "-e", "ansible_become_pass=S3cret", "x.yml"],
    &["ansible", "--extra-vars", "{\"ansible_password\": \"S3cret\"}", "all"],
    &["openssl", "enc", "-k", "S3cret"],
    &["openssl", "rsa", "-passin", "pass:S3cret"],
    &["gpg", "--batch", "--passphrase", "S3cret", "-d", "x"],
    &["ssh-keygen", "-N", "S3cret", "-f", "x"],
    &["keytool", "-storepass", "S3cret", "-list"],
    &["keytool", "-keypass", "S3cret"],
    &["java", "-Dspring.datasource.password=S3cret", "-jar", "x.jar"],
    &["java", "-Djavax.net.ssl.keyStorePassword=S3cret"],
    &["git", "-c", "http.extraHeader=Authorization: Basic S3cret", "fetch"],
    &["git", "clone", "https://oauth2:S3cret@host/x.git"],
    &["twine", "upload", "-u", "__token__", "-p", "S3cret"],
    &["ldapsearch", "-x", "-w", "S3cret"],
    &["ldapsearch", "-xw", "S3cret"],
    &["smbclient", "-U", "ada%S3cret", "//host/x"],
    &["lftp", "-u", "ada,S3cret", "host"],
    &["sqlcmd", "-S", "host", "-P", "S3cret"],
    &["ipmitool", "-U", "ada", "-P", "S3cret"],
    &["mosquitto_pub", "-u", "ada", "-P", "S3cret"],
    &["xfreerdp", "/u:ada", "/p:S3cret", "/v:host"],
    &["useradd", "-p", "S3cret", "ada"],
    &["zip", "-P", "S3cret", "x.zip", "a"],
    &["7z", "x", "-pS3cret", "x.7z"],
    &["x", "password", "=", "S3cret"],
    &["x", "--connection-string", "Server=x;Password=S3cret;"],
    &["x", "Server=x;User Id=ada;Password=S3cret;Timeout=3"],
    &["python3", "-c", "login(user='ada', password='S3cret')"],
    &["python3", "-c", "api_key = \"S3cret\"\nrun()"],
    &["python3", "-c", "headers={'Authorization': 'Bearer S3cret'}"],
    &["node", "-e", "fetch(u, {headers: {\"x-api-key\": \"S3cret\"}})"],
    &["plink", "-pw", "S3cret", "host"],
    &["x", "--pw", "S3cret"],
    &["nats", "--creds", "S3cret"],
    &["tailscale", "up", "--authkey", "S3cret"],
    &["xfreerdp", "/password:S3cret"],
    &["x", "password:S3cret"],
    &["x", "DB_PWD=S3cret"],
    &["x", "passwort=S3cret"],
    &["curl", "-x", "ada:S3cret@proxy:80"],
    &["curl", "-E", "cert:S3cret"],
    &["redis-cli", "AUTH", "S3cret"],
    &["mysqladmin", "-u", "root", "password", "S3cret"],
    &["ngrok", "authtoken", "S3cret"],
    &["nmcli", "dev", "wifi", "connect", "x", "password", "S3cret"],
    &["rclone", "config", "create", "a", "s3", "secret_access_key", "S3cret"],
    &["kubectl", "create", "secret", "generic", "x", "--from-literal=a=S3cret"],
    &["helm", "install", "x", "--set-string", "db.pw=S3cret"],
    &["gh", "secret", "set", "X", "--body", "S3cret"],
    &["aws", "ssm", "put-parameter", "--name", "x", "--value", "S3cret"],
    &["vault", "login", "S3cret"],
    &["cargo", "login", "S3cret"],
    &["glab", "auth", "login", "-t", "S3cret"],
    &["rar", "a", "-hpS3cret", "x.rar"],
    &["psql", "-c", "ALTER USER ada PASSWORD 'S3cret'"],
    &["mysql", "-e", "create user ada identified by 'S3cret'"],
    &["gh", "secret", "set", "X", "-b", "S3cret"],
    &["gh", "secret", "set", "X", "-bS3cret"],
    &["rpcclient", "-U", "ada%S3cret", "host"],
    &["smbget", "-U", "ada%S3cret", "smb://host/x"],
    &["fly", "secrets", "set", "A=S3cret", "B=S3too"],
    &["flyctl", "secrets", "set", "--app", "x", "A=S3cret"],
    &["vault", "kv", "put", "secret/x", "a=S3cret", "b=S3too"],
    &["mc", "alias", "set", "x", "https://host.example", "ada", "S3cret"],
    &["htpasswd", "-b", "users", "ada", "S3cret"],
    &["htpasswd", "-nbB", "ada", "S3cret"],
    &["sqlplus", "-S", "ada/S3cret@host"],
    &["/opt/oracle/bin/expdp", "ada/S3cret", "full=y"],
    &["pdftotext", "-upw", "S3cret", "x.pdf"],
    &["sh", "-c", "echo machine host login ada password S3cret >x"],
    &["x", "secret", "=", "S3cret"],
    &["mysql", "password", "=", "S3cret"],
    &["psql", "-c", "create role x login password 'S3cret'"],
    &["psql", "-c", "alter user a identified by 'S3cret'"],
    &["node", "-e", "const secret = `S3cret`"],
    // Nested commands.
    &["sh", "-c", "curl --user ada:\"S3cret\" x"],
    &["sh", "-c", "curl --user ada:'a b S3cret' x"],
    &["sh", "-c", "curl -u \"ada\":\"S3cret\" x"],
    &["sh", "-c", "curl --user 'ada:it'\\''sS3cret' x"],
    &["sh", "-c", "x --token a\"S3cret\""],
    &["sh", "-c", "curl -uu:S3cret https://x"],
    &["sh", "-c", "curl -H 'x-auth-token:S3cret' https://x"],
    &["sh", "-c", "curl -H \"X-Api-Key:S3cret\" https://x"],
    &["sh", "-c", "curl -d '{\"api_key\":\"S3cret\"}' https://x"],
    &["sh", "-c", "curl -d \"{\\\"api_key\\\":\\\"S3cret\\\"}\" https://x"],
    &["sh", "-c", "mysql -pS3cret"],
    &["sh", "-c", "cd x && mysql -u root -pS3cret shop < dump"],
    &["sh", "-c", "sshpass -p S3cret ssh host"],
    &["sh", "-c", "redis-cli -a S3cret ping"],
    &["sh", "-c", "x --password 'one two S3cret'"],
    &["sh", "-c", "x --password \"one two S3cret\" --verbose"],
    &["sh", "-c", "x --password='one two S3cret'"],
    &["sh", "-c", "PASSWORD='one two S3cret' run"],
    &["sh", "-c", "password = S3cret"],
    &["sh", "-c", "echo 'password = S3cret' > x.ini"],
    &["sh", "-c", "export TOKEN=S3cret; run"],
    &["sh", "-c", "(cd x; TOKEN=S3cret ./run) | tee log"],
    &["sh", "-c", "bash -c 'curl -u ada:S3cret https://x'"],
    &["sh", "-c", "bash -c \"sh -c 'mysql -pS3cret'\""],
    &[
        "sh",
        "-c",
        "npm config set //registry.example.com/:_authToken S3cret && npm ci",
    ],
    &["sh", "-c", "aws configure set aws_secret_access_key S3cret"],
    &["sh", "-c", "I don't know; sshpass -p S3cret ssh host"],
    &["bash", "-lc", "true; curl --oauth2-bearer S3cret x"],
    &["bash", "-c", "mysql -u ada \\\n  -pS3cret shop"],
    &["bash", "-c", "x --token one\\ S3cret y"],
    &["bash", "-c", "x --token \"one \\\" S3cret\" y"],
];

const HARMLESS: &[&[&str]] = &[
    &["ls", "-p"],
    &["ls", "-la", "-p", "dir"],
    &["mkdir", "-p", "dir"],
    &["ssh", "-p", "22", "host"],
    &["cp", "-a", "x", "y"],
    &["sort", "-u", "x"],
    &["sort", "-k", "2", "x"],
    &["git", "show", "4b57192aa3f04bd1d2ac4a0e1ae13f0cd7d2f8a1"],
    &["git", "commit", "-m", "fix the parsing of tokens"],
    &["git", "log", "--author=ada", "-p"],
    &["git", "log", "--format=%H %an", "-n", "3"],
    &["git", "remote", "set-url", "origin", "git@host.example:x/y.git"],
    &["git", "config", "user.name", "Ada"],
    &["git", "config", "--global", "core.editor", "vi"],
    &["git", "clone", "https://host.example/x/y.git"],
    &["uuidgen", "550e8400-e29b-41d4-a716-446655440000"],
    &[
        "sha256sum",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ],
    &["echo", "aGVsbG8gd29ybGQ="],
    &["echo", "aGVsbG8="],
    &["cat", "/home/ada/project/secrets.md"],
    &["cat", "/etc/ssl/certs/ca-certificates.crt"],
    &["python3", "-m", "http.server", "8000"],
    &["python3", "-c", "print('hello')"],
    &["python3", "-c", "x = 3\nprint(x == 3)"],
    &["python3", "monkey.py", "-v", "PWD=/home/ada"],
    &["node", "index.js", "--port", "3000"],
    &["npm", "install", "--save-dev", "typescript"],
    &["npm", "run", "build"],
    &["npm", "config", "set", "fund", "false"],
    &["cargo", "test", "--lib", "-p", "stockade"],
    &["cargo", "build", "--release"],
    &["pdftotext", "-layout", "x.pdf", "x.txt"],
    &["docker", "run", "-p", "8080:80", "nginx:latest"],
    &["docker", "run", "--user", "1000:1000", "image"],
    &["docker", "run", "-u", "1000:1000", "image"],
    &["docker", "pull", "registry.example.com/api-key:latest"],
    &["psql", "-U", "ada", "-d", "shop", "-p", "5432"],
    &["find", ".", "-name", "*.key", "-print"],
    &["grep", "-rn", "password", "src"],
    &["grep", "-c", "token", "x"],
    &["chmod", "600", "id_rsa"],
    &["tar", "-czf", "x.tar.gz", "-p", "dir"],
    &["rsync", "-avz", "--password-file=/run/p", "a", "b"],
    &["x", "--password-file", "/run/p"],
    &["docker", "login", "--password-stdin"],
    &["x", "{\"name\":\"ada\",\"age\":3}"],
    &["curl", "https://host.example/x?page=2"],
    &["patch", "-p1"],
    &["ps", "-u", "ada"],
    &["test", "-p", "fifo"],
    &["kill", "-9", "4711"],
    &["jq", ".token", "x.json"],
    &["make", "-j4", "CFLAGS=-O2 -g"],
    &["sed", "-e", "s/a/b/", "-n", "x"],
    &["awk", "-F:", "{print $1}", "/etc/passwd"],
    &["rustc", "--edition=2024", "-C", "opt-level=3"],
    &["ffmpeg", "-i", "x.mp4", "-vf", "scale=640:-1"],
    &["date", "+%Y-%m-%dT%H:%M:%S"],
    &["rm", "-rf", "target/debug"],
    &["find", ".", "-path", "*/task-0123456789abcdefghijk/*"],
    &["sh", "-c", "cd src && ls -p | sort -u"],
    &["sh", "-c", "for f in *.rs; do wc -l \"$f\"; done"],
    &["sh", "-c", "ssh -p 22 host 'mkdir -p x'"],
    &["sh", "-c", "if [ \"$x\" = y ]; then echo it\\'s; fi"],
    &["sh", "-c", "echo \"I don't know\"; cp -a x y"],
    &["sh", "-c", "mkdir -p \"a b\"; git log -p -- \"a b\""],
];

fn masked(line: &[&str]) -> Vec<String> {
    words(&line.iter().map(ToString::to_string).collect::<Vec<_>>())
}

#[test]
fn no_secret_of_a_command_line_is_kept() {
    assert!(SECRET.len() >= 80);
    let mut kept = String::new();
    for line in SECRET {
        let masked = masked(line);
        if masked.iter().any(|word| word.contains("S3")) {
            kept += &format!("{line:?}\n    {masked:?}\n");
        }
        // Other words stay, the program first of all.
        assert_eq!(masked[0], line[0]);
        // The same as one text, the form of `asked` and `reason`.
        if !line.iter().any(|word| word.contains(char::is_whitespace)) {
            let masked = text(&line.join(" "));
            if masked.contains("S3") && !line.concat().contains("\"") {
                kept += &format!("{:?}\n    {masked:?}\n", line.join(" "));
            }
        }
    }
    assert!(kept.is_empty(), "{kept}");
}

#[test]
fn harmless_command_lines_are_kept_as_they_are() {
    assert!(HARMLESS.len() >= 60);
    let mut changed = String::new();
    for line in HARMLESS {
        let masked = masked(line);
        if masked != *line {
            changed += &format!("{line:?}\n    {masked:?}\n");
        }
    }
    assert!(changed.is_empty(), "{changed}");
}

/// With any input, the time is linear in the text's length.
#[test]
fn masking_takes_a_time_in_proportion_to_the_text() {
    for part in [
        "://",
        "eyJ",
        "eyJ.",
        "a:",
        "a=",
        "'",
        "\"",
        "\\",
        "-",
        " -",
        "-----BEGIN",
        "ghp_",
        "token=",
        "token = ",
        "x' ",
        "x\" '",
        "--token ",
        "password: ",
        "{\"key\":",
        "set ",
        "SK0",
        "1:AA",
        "token",
        "sh -c \"",
        "(",
    ] {
        let text = part.repeat((1 << 16) / part.len());
        let start = std::time::Instant::now();
        let _ = super::text(&text);
        let _ = words(&[text]);
        assert!(start.elapsed().as_secs() < 30, "{part:?}");
    }
}
