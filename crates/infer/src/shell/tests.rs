//! Small scripts, and the acts found in them.

use crate::{Language, Setting, infer};

fn setting() -> Setting {
    Setting {
        root: Some("/work/project".into()),
        script: Some("/work/project/job.sh".into()),
        home: Some("/home/ada".into()),
        ..Setting::default()
    }
}

/// The acts of a script, in one line: `read a; write b; …; profile`.
fn summary(source: &str) -> String {
    let answer = infer(source, Language::Shell, &setting());
    let mut parts = Vec::new();
    for (name, list) in [
        ("reads", &answer.reads),
        ("writes", &answer.writes),
        ("hosts", &answer.hosts),
        ("env", &answer.env),
        ("starts", &answer.commands),
        ("dynamic", &answer.dynamic),
    ] {
        if !list.is_empty() {
            parts.push(format!("{name} {}", list.join(" ")));
        }
    }
    if answer.listens {
        parts.push("listens".into());
    }
    parts.join("; ")
}

fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(source, expected)| (source, expected, summary(source)))
        .filter(|(_, expected, summary)| *expected != summary)
        .map(|(source, expected, summary)| format!("{source}\n  expected: {expected}\n  found:    {summary}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_do_what_their_words_say() {
    check(&[
        ("echo hello", ""),
        ("ls", "reads .; starts ls"),
        (
            "cat data/a.csv | sort -k 2 | uniq -c",
            "reads ./data/a.csv; starts cat sort uniq",
        ),
        (
            "sort -o out.txt data/a",
            "reads ./data/a; writes ./out.txt; starts sort",
        ),
        ("grep -rn TODO src | wc -l", "reads ./src; starts grep wc"),
        ("grep -r TODO", "reads .; starts grep"),
        ("grep TODO < data/x", "reads ./data/x; starts grep"),
        ("sed -i s/a/b/ /tmp/x", "reads /tmp/x; writes /tmp/x; starts sed"),
        ("awk -F, '{ print $1 }' data/a.csv", "reads ./data/a.csv; starts awk"),
        (
            "find data -name '*.csv' -delete",
            "reads ./data; writes ./data; starts find",
        ),
        (
            "find data -type f -exec rm {} +",
            "reads ./data; writes ./data/…; starts find rm",
        ),
        ("cp data/a /tmp/b", "reads ./data/a; writes /tmp/b; starts cp"),
        (
            "tar -czf /tmp/x.tgz -C data .",
            "reads ./data; writes /tmp/x.tgz; starts tar",
        ),
        (
            "tar xzf data/x.tgz -C /tmp",
            "reads ./data/x.tgz; writes /tmp; starts tar",
        ),
        ("git status --short", "reads .; starts git"),
        ("git commit -m x", "reads .; writes .; starts git"),
        (
            "curl -fsSL -o /tmp/x https://example.com/x",
            "writes /tmp/x; hosts example.com; starts curl",
        ),
        (
            "curl -s \"https://api.example.com/$1\" | jq .",
            "hosts api.example.com; starts curl jq",
        ),
        ("timeout 5 env A=b cat data/x", "reads ./data/x; starts cat env timeout"),
        (
            "frobnicate x",
            "starts frobnicate; dynamic starts `frobnicate`, which isn't known",
        ),
        ("make --version", "starts make"),
        ("env", "env *; starts env"),
        ("sh -c 'cat data/x'", "reads ./data/x; starts cat sh"),
        ("ps aux", "reads /proc; starts ps"),
        (
            "rsync -a data/ ada@backup.example.com:/srv",
            "reads ./data/ ~/.ssh; hosts backup.example.com; starts rsync",
        ),
        (
            "./build.sh",
            "reads ./build.sh; starts ./build.sh; dynamic runs the code of `./build.sh`",
        ),
        ("dd if=/dev/zero of=/tmp/x bs=1M count=1", "writes /tmp/x; starts dd"),
    ]);
}

#[test]
fn variables_are_followed() {
    check(&[
        ("D=data; cat \"$D/a\" ${D}/b", "reads ./data/a ./data/b; starts cat"),
        ("cat \"$FOO\"", "reads …; env FOO; starts cat"),
        ("X=${X:-data/x}; cat $X", "reads ./data/x …; env X; starts cat"),
        ("T=${TMPDIR:-/tmp}; echo a > $T/x", "writes /tmp/x"),
        (
            "f=data/a.csv; cat ${f%.csv}.txt ${f##*/}",
            "reads ./a.csv ./data/a.txt; starts cat",
        ),
        ("cat ~/x", "reads ~/x; env HOME; starts cat"),
        (
            "HERE=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"; cat \"$HERE/data/x\"",
            "reads ./data/x; starts cat dirname",
        ),
        (
            "t=$(mktemp -d); trap 'rm -rf \"$t\"' EXIT; cp data/a \"$t/b\"",
            "reads ./data/a; writes /tmp /tmp/… /tmp/…/b; starts cp mktemp rm",
        ),
        (
            "for f in data/a data/b; do cat $f; done",
            "reads ./data/a ./data/b; starts cat",
        ),
        (
            "for f in data/*.csv; do wc -l \"$f\"; done",
            "reads ./data ./data/….csv; starts wc",
        ),
        (
            "files=(data/a data/b); cat \"${files[@]}\"",
            "reads ./data/a ./data/b; starts cat",
        ),
        (
            "if [ -f data/x ]; then D=data; else D=/tmp; fi; ls $D",
            "reads ./data ./data/x /tmp; starts ls",
        ),
        ("o='-l data'; ls $o", "reads ./data; starts ls"),
        ("mkdir -p /tmp/{a,b}", "writes /tmp/a /tmp/b; starts mkdir"),
        ("n=0; for i in 1 2; do n=$((n + i)); done; echo $n $RANDOM $? $# $$", ""),
        (
            "while IFS=, read -r a b; do echo $a $b; done < data/x",
            "reads ./data/x",
        ),
        (
            "find data -name x | while read -r f; do cat \"$f\"; done",
            "reads ./data ./data/…; starts cat find",
        ),
        (
            "find data -print0 | xargs -0 wc -l",
            "reads ./data ./data/…; starts find wc xargs",
        ),
        (
            "mapfile -t all < <(find data -type f); cat \"${all[@]}\"",
            "reads ./data ./data/…; starts cat find",
        ),
        (
            "select f in data/a data/b; do cat \"$f\"; done",
            "reads ./data/a ./data/b; starts cat",
        ),
        ("case $1 in a) X=1 ;; *) X=2 ;; esac; echo $X", ""),
    ]);
}

#[test]
fn functions_and_directories_are_followed() {
    check(&[
        (
            "show() { cat \"data/$1\"; }; show a; show b",
            "reads ./data/a ./data/b; starts cat",
        ),
        ("unused() { rm -rf /; }; echo x", ""),
        ("f() { f; }; f", "dynamic calls too deep in one another"),
        ("cd data && cat x", "reads ./data/x; starts cat"),
        ("(cd src; ls); ls", "reads . ./src; starts ls"),
        ("cd /tmp || exit 1; touch x", "writes /tmp/x; starts touch"),
        ("cd data; python3 -c 'x'", "starts python3"),
        (
            "main() { local d=$1; ls \"$d\"; }; main data",
            "reads ./data; starts ls",
        ),
    ]);
}

#[test]
fn redirections_and_embedded_code_are_read() {
    check(&[
        (
            "echo a > /tmp/x; echo b >> out; cat < data/x",
            "reads ./data/x; writes ./out /tmp/x; starts cat",
        ),
        ("ls data >/dev/null 2>&1", "reads ./data; starts ls"),
        (
            "cat > /tmp/x <<EOF\n$HOME\nEOF\n",
            "writes /tmp/x; env HOME; starts cat",
        ),
        ("bash <<'EOF'\ncat data/x\nEOF\n", "reads ./data/x; starts bash cat"),
        (
            "curl -s https://example.com/i.sh | sh",
            "hosts example.com; starts curl sh; dynamic runs code that it fetches",
        ),
        (
            "bash <(curl -s https://example.com/i.sh)",
            "hosts example.com; starts bash curl; dynamic runs code that it fetches",
        ),
        ("eval 'cat data/x'", "reads ./data/x; starts cat"),
        ("eval \"$1\"", "dynamic runs code that it builds"),
        (
            "source lib.sh",
            "reads ./lib.sh; dynamic uses the code of `lib.sh`, which isn't read",
        ),
        (
            "source lib.sh; log hello; ls",
            "reads . ./lib.sh; starts ls; dynamic uses the code of `lib.sh`, which isn't read",
        ),
        (
            "source /etc/os-release; ledgerctl",
            "starts ledgerctl; dynamic starts `ledgerctl`, which isn't known",
        ),
        (
            "diff <(sort data/a) <(sort data/b)",
            "reads ./data/a ./data/b; starts diff sort",
        ),
        ("[[ -d src && -n \"$X\" ]]", "reads ./src; env X"),
        ("echo x > /dev/tcp/example.com/80", "hosts example.com:80"),
    ]);
}

#[test]
fn programs_of_sed_and_awk_are_read() {
    check(&[
        ("sed 'w out' data/x", "reads ./data/x; writes ./out; starts sed"),
        (
            "sed -n '/a\\/w/,$w /tmp/o' data/x",
            "reads ./data/x; writes /tmp/o; starts sed",
        ),
        ("sed 's/a\\' data/x", "reads ./data/x; starts sed"),
        ("sed 's/a/b/gw out' data/x", "reads ./data/x; writes ./out; starts sed"),
        (
            "sed -e 's|w x|/w y|;s/[/w]/w/' -e '$d;2,3p' data/x",
            "reads ./data/x; starts sed",
        ),
        (
            "sed 's/a/b/e' data/x",
            "reads ./data/x; starts sed; dynamic runs code that it builds",
        ),
        ("sed '1e cat src/a' data/x", "reads ./data/x ./src/a; starts cat sed"),
        ("sed --sandbox 'w out' data/x", "reads ./data/x; starts sed"),
        (
            "n=$(cat data/n); sed \"${n}p;s/a/$n/\" data/x",
            "reads ./data/n ./data/x; starts cat sed",
        ),
        (
            "sed \"$(cat data/n)\" data/x",
            "reads ./data/n ./data/x; starts cat sed; dynamic runs code that it builds",
        ),
        (
            "awk '{ print > \"out\" }' data/x",
            "reads ./data/x; writes ./out; starts awk",
        ),
        (
            "awk -v o=/tmp/q '$3 > 5 { print $1, ($2 > 3) >> o }' data/x",
            "reads ./data/x; writes /tmp/q; starts awk",
        ),
        (
            "awk '{ print > (\"/tmp/\" $1 \".csv\") }' data/x",
            "reads ./data/x; writes /tmp/….csv; starts awk",
        ),
        (
            "awk '{ print | \"sort -o data/y\" }' data/x",
            "reads ./data/x; writes ./data/y; starts awk sort",
        ),
        (
            "awk 'BEGIN { while ((getline l < \"src/y\") > 0) n++ }'",
            "reads ./src/y; starts awk",
        ),
        (
            "awk 'BEGIN { c = \"cat src/a\"; c | getline l }'",
            "reads ./src/a; starts awk cat",
        ),
        (
            "awk '{ print | $1 }' data/x",
            "reads ./data/x; starts awk; dynamic runs code that it builds",
        ),
        ("awk 'BEGIN { print ENVIRON[\"TOKEN\"] }'", "env TOKEN; starts awk"),
        (
            "awk '/a>b/ || $1 / 2 > 3 { print \"a > b\" > \"/dev/stderr\" }' data/x",
            "reads ./data/x; starts awk",
        ),
    ]);
}

#[test]
fn what_git_is_told_to_write_and_to_start_is_seen() {
    check(&[
        ("git diff --output=/tmp/x", "reads .; writes /tmp/x; starts git"),
        (
            "git archive -o /tmp/x.tgz HEAD",
            "reads .; writes /tmp/x.tgz; starts git",
        ),
        (
            "git format-patch -o /tmp/p HEAD~1",
            "reads .; writes /tmp/p; starts git",
        ),
        ("GIT_PAGER='rm x' git log", "reads .; writes ./x; starts git rm"),
        ("export PAGER=cat; git log", "reads .; starts cat git"),
        ("env GIT_PAGER='rm y' git log", "reads .; writes ./y; starts env git rm"),
        ("git -c core.pager='rm x' log", "reads .; writes ./x; starts git rm"),
        ("git -c alias.z='!rm x' z", "reads .; writes . ./x; starts git rm"),
        ("git -c user.name=x log", "reads .; starts git"),
        (
            "LD_PRELOAD=./x.so ls data",
            "reads ./data; starts ls; dynamic runs the code of `./x.so`",
        ),
    ]);
}

#[test]
fn lists_of_all_variables_are_seen() {
    check(&[
        ("export -p", "env *"),
        ("declare -p", "env *"),
        ("declare -x", "env *"),
        ("set", "env *"),
        ("declare -p TOKEN", "env TOKEN"),
        ("set -eu; export A; declare -x B=1; declare -A m; declare -f", ""),
    ]);
}

#[test]
fn what_does_not_parse_says_where() {
    let answer = infer("echo a\nif true; then\n", Language::Shell, &setting());
    assert_eq!(answer.dynamic.len(), 1);
    assert!(answer.confidence < 0.2);
}

#[test]
fn evidence_stands_at_the_command() {
    let answer = infer("echo ä\n  cat data/x\n", Language::Shell, &setting());
    let places: Vec<(usize, usize)> = answer
        .evidence
        .iter()
        .map(|evidence| (evidence.line, evidence.column))
        .collect();
    assert_eq!(places, [(2, 3), (2, 3)]);
}

#[test]
fn hostile_texts_end() {
    for (piece, count) in [
        ("$(", 100_000),
        ("((", 1000),
        ("`", 5000),
        ("{ ", 5000),
        ("if ", 5000),
        ("case x in x) ", 50),
        ("\"$(a ", 40),
        ("${a:-", 5000),
        ("f() { f; f; }; f\n", 200),
        ("for i in 1 2 3 4; do ", 20),
        ("x=$x$x$x; ", 1000),
        ("{a,b}", 40),
        ("'", 3),
        ("99999999999>x ", 2),
        ("<<a ", 50),
        ("\u{0}\u{7f}ä\\", 100),
    ] {
        let text = piece.repeat(count);
        infer(&text, Language::Shell, &setting());
        infer(&format!("echo {text}"), Language::Shell, &setting());
    }
    for piece in [
        "getline<x ",
        "print >a ",
        "a=",
        "b c ",
        "\"\\",
        "/",
        "[",
        "s/a\\",
        "/[",
        "w\\",
        "\\",
        "1,e",
        "y/\\/",
        "s;",
        "{",
    ] {
        for count in [1, 3, 30_000] {
            for program in ["awk", "sed"] {
                infer(
                    &format!("{program} '{}' x", piece.repeat(count)),
                    Language::Shell,
                    &setting(),
                );
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_program_of_awk_or_sed_breaks_the_reader(text in r#"[aesw/\\\[\]{};,!$~<>|@#"(0=\n \x01]{0,24}"#) {
        for program in ["awk", "sed"] {
            infer(&format!("{program} '{text}' x"), Language::Shell, &setting());
        }
    }
}
