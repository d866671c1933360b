use super::{Fitness, fitness, subject};
use crate::judge::shell::{Line, read};

fn words(text: &str) -> Vec<String> {
    match read(text) {
        Line::Plain(mut plain) if plain.parts.len() == 1 => plain.parts.remove(0).words,
        other => panic!("{text:?}: {other:?}"),
    }
}

#[test]
fn options_from_the_tables_are_safe_in_every_form() {
    for text in [
        "ls",
        "ls -la src",
        "ls --color=auto",
        "grep -rn -A3 -e foo --include=x src",
        "grep -20 x y",
        "head -n5 x",
        "head -n 5 x",
        "head -5 x",
        "sort -t, -k2,2n x",
        "find . -maxdepth 2 -name '*.rs' -type f",
        "find . -not -name x -o -size +1k",
        "git status -sb",
        "git --no-pager log --oneline -20",
        "git log -n 5 --since=yesterday -- src",
        "git diff --stat HEAD~1 -- a",
        "git push origin main",
        "git commit -am 'x'",
        "date +%s",
        "date -u +%F",
        "cargo test --lib -- --nocapture --test-threads=1",
        "npm run build -- --mode=x",
        "python3 -m pytest -x -q --pdb",
        "python3 -c 'import os'",
        "python3 a.py --rm",
        "sed -n 1,5p x",
        "sed -E -e s/a/b/ x",
        "awk -F: '{print $1}' x",
        "tar xzf a.tgz",
        "tar -czf a.tgz src",
        "rm -rf target",
        "make -j4 all",
        "curl -sS -o /dev/null -w '%{http_code}' https://example.com",
        "echo --anything -e",
        "env",
        "test -f x",
        "uniq -c x",
        "go test ./... -run X -count=1",
        "docker run --rm -it alpine sh",
        "jq -r --arg a b .x f",
        "/bin/ls -l",
        "-x",
    ] {
        let words = if text == "-x" {
            vec!["ls".to_string(), "-".to_string()]
        } else {
            words(text)
        };
        assert_eq!(fitness(&words), Fitness::Safe, "{text}");
    }
}

#[test]
fn what_is_not_in_the_tables_is_unfit() {
    for text in [
        "find . -exec rm x",
        "find . -delete",
        "find . -fprintf x y",
        "find . -ok rm",
        "find . -fls x",
        "find . -files0-from x",
        "rg --pre=x y",
        "rg --pre x y",
        "rg -z x",
        "rg --hostname-bin=x y",
        "sort -o x y",
        "sort -ox y",
        "sort --output=x y",
        "sort --outp=x y",
        "sort --compress-program=x y",
        "sort -uo x",
        "sort x -o y",
        "sort -- -o y",
        "sort -T x",
        "git -c core.pager=x log",
        "git -C / status",
        "git --exec-path=x status",
        "git --git-dir=x log",
        "git -p log",
        "git diff --output=x",
        "git diff --ext-diff",
        "git diff --textconv",
        "git log --output x",
        "git grep -Ox y",
        "git grep --open-files-in-pager=x y",
        "git grep -nOx y",
        "git fetch --upload-pack=x y",
        "git fetch --upload-pac x",
        "git push --receive-pack=x",
        "git push --exec=x y",
        "git clone ext::x",
        "git clone -c a=b x",
        "git clone --config a=b x",
        "git rebase -x y",
        "git rebase --exec y",
        "git bisect run x",
        "git submodule foreach x",
        "git difftool",
        "git config core.pager x",
        "git nosuch",
        "git merge -s x",
        "git commit -t x",
        "date -s x",
        "date --set=x",
        "date 01010101",
        "uname x",
        "whoami x",
        "uniq a b",
        "env x",
        "env -i x",
        "xargs rm",
        "sudo ls",
        "timeout 5 ls",
        "nice ls",
        "nohup ls",
        "sh -c ls",
        "bash x",
        "eval ls",
        "exec ls",
        "ssh x",
        "watch ls",
        "parallel ls",
        "su x",
        "doas x",
        "busybox ls",
        "command ls",
        "builtin ls",
        ". x",
        "source x",
        "alias ls",
        "export PATH",
        "/usr/bin/env ls",
        "/bin/sh x",
        "cargo --config x build",
        "cargo build --config=x",
        "cargo +nightly build",
        "cargo -Z x build",
        "npm --script-shell=x run y",
        "npm run y --script-shell=x",
        "go test -exec x",
        "go build -toolexec x",
        "go build -toolexec=x",
        "go vet -vettool=x",
        "go env -w X",
        "make SHELL=x",
        "make -f x",
        "make --eval=x",
        "make -C x",
        "sed -i s/a/b/ x",
        "sed -n 1e x",
        "sed -e 1e x",
        "sed --expression=1e x",
        "sed -f x y",
        "sed -ne 1e x",
        "sed p x -e 1e",
        "awk 'BEGIN{system(1)}'",
        "awk -f x y",
        "awk -e x",
        "tar -xf a --checkpoint-action=exec",
        "tar -I x -xf a",
        "tar --to-command=x -xf a",
        "tar xIf x a",
        "tar -xf host:a",
        "tar -T x -cf a",
        "tar cf a --use-compress-prog=x b",
        "curl -o x y",
        "curl -K x",
        "curl -d @x y",
        "curl -T x y",
        "curl --data-binary @x y",
        "curl -so x y",
        "curl --unix-socket x y",
        "wget -O x y",
        "wget -e x y",
        "tree -o x",
        "test -v x",
        "printf -v x y",
        "ps --help=x",
        "npx -c x",
        "npx -p a b",
        "docker run -v x y",
        "docker run --privileged x",
        "docker -H x ps",
        "gh api x",
        "gh alias set x y",
        "kubectl --kubeconfig=x get y",
        "kubectl exec x",
        "pip install -i x y",
        "pip --python x install y",
        "pytest -p x",
        "pytest -c x",
        "pytest --rootdir=x",
        "ls --nosuch",
        "cat -Q",
        "file -C x",
        "file -m x",
        "wc --files0-from=x",
        "fd -x rm",
        "rustup run x y",
        "cmake -P x",
        "cmake -E x",
        "ninja -f x",
        "node -r x y",
        "man -P x y",
    ] {
        assert!(
            matches!(fitness(&words(text)), Fitness::Unfit(_)),
            "{text}: {:?}",
            fitness(&words(text))
        );
    }
}

#[test]
fn a_command_without_a_table_has_none() {
    assert_eq!(fitness(&words("mytool --exec x")), Fitness::NoTable);
    assert_eq!(fitness(&words("./gradlew build")), Fitness::NoTable);
}

#[test]
fn the_sub_command_is_found_behind_safe_options_alone() {
    let subjects = |text: &str| {
        let words = words(text);
        let (command, sub) = subject(&words).unwrap();
        (command.to_string(), sub.map(str::to_string))
    };
    assert_eq!(subjects("git --no-pager log -1"), ("git".into(), Some("log".into())));
    assert_eq!(subjects("git -c a=b log"), ("git".into(), None));
    assert_eq!(subjects("ls -l"), ("ls".into(), None));
    assert_eq!(
        subjects("kubectl -n x get pods"),
        ("kubectl".into(), Some("get".into()))
    );
}
