use super::{could_name, seen};

fn sees(text: &str, command: &[&str]) -> bool {
    seen(text).iter().any(|words| {
        words.len() >= command.len()
            && could_name(&words[0], command[0])
            && words.iter().zip(command).skip(1).all(|(a, b)| a == b || a == "*")
    })
}

#[test]
fn a_bracket_expression_may_be_any_one_character() {
    for (pattern, name) in [
        ("[a-z]m", "rm"),
        ("r[]m]", "rm"),
        ("[[a]m", "rm"),
        ("[m", "rm"),
        ("[a][b]", "rm"),
        ("]*[m]", "]rm"),
    ] {
        assert!(could_name(pattern, name), "{pattern}");
    }
    for (pattern, name) in [("[a]", "rm"), ("r[m]x", "rm"), ("[]", "rm")] {
        assert!(!could_name(pattern, name), "{pattern}");
    }
}

#[test]
fn a_command_is_seen_wherever_it_hides() {
    for text in [
        "rm x",
        "a; rm x",
        "a\nrm x",
        "a&rm x",
        "a|rm x",
        "a||rm x",
        "(rm x)",
        "{ rm x; }",
        "$(rm x)",
        "`rm x`",
        "a \"$(rm x)\"",
        "a \"`rm x`\"",
        "a <(rm x)",
        "a >(rm x)",
        "a $(b $(rm x))",
        "a `b \\`rm x\\``",
        "if a; then rm x; fi",
        "while rm x; do a; done",
        "for i in 1; do rm x; done",
        "case a in b) rm x;; esac",
        "f() { rm x; }",
        "function f { rm x; }",
        "! rm x",
        "time rm x",
        "A=b rm x",
        "A=b B+=c rm x",
        ">y rm x",
        "2>y rm x",
        "<y rm x",
        "&>y rm x",
        "r'm' x",
        "\"rm\" x",
        "r\\m x",
        "r\"\"m x",
        "$'\\x72m' x",
        "$'\\162\\155' x",
        "r$@m x",
        "r${u}m x",
        "rm${IFS}x",
        "{rm,x}",
        "/bin/rm x",
        "../rm x",
        "/bin/r? x",
        "/bin/r* x",
        "/bin/[r]m x",
        "a=rm; $a x",
        "a=r b=m; $a$b x",
        "c='rm x'; $c",
        "${u:-rm} x",
        "${u:-rm x}",
        "$(echo rm) x",
        "`printf rm` x",
        "env rm x",
        "env -i A=b rm x",
        "env -S 'rm x'",
        "timeout 5 rm x",
        "timeout -k 1 5 rm x",
        "nice -n 5 rm x",
        "nohup rm x",
        "sudo -u a rm x",
        "doas rm x",
        "xargs rm x",
        "a | xargs -n1 rm x",
        "exec rm x",
        "command rm x",
        "builtin rm x",
        "sh -c 'rm x'",
        "bash -lc \"rm x\"",
        "eval rm x",
        "eval 'rm x'",
        "eval 'r' 'm x'; rm x",
        "sudo sh -c 'env rm x'",
        "sh -c 'sh -c \"rm x\"'",
        "find . -exec rm x ;",
        "find . -execdir rm x \\;",
        "fd -x rm x",
        "git -c alias.a='!rm x' a",
        "git -c core.pager='rm x' log",
        "git bisect run rm x",
        "git submodule foreach 'rm x'",
        "git rebase -x 'rm x'",
        "echo 'rm x' | sh",
        "echo rm x | sh",
        "printf '%s\\n' 'rm x' | bash",
        "sh <<< 'rm x'",
        "sh <<E\nrm x\nE",
        "cat <<'E' | sh\nrm x\nE",
        "cat <<E\n$(rm x)\nE",
        "a <<E && rm x\nb\nE",
        "a <<E\nb\nE\nrm x",
        "cat <<-E | sh\n\trm x\n\tE",
        "trap 'rm x' EXIT",
        "alias a='rm x'",
        "PAGER='rm x' git log",
        "GIT_SSH_COMMAND='rm x' git fetch",
        "rg --pre='rm x' y",
        "tar -I 'rm x' -xf y",
        "tar --checkpoint-action=exec='rm x' y",
        "ssh a rm x",
        "ssh -oProxyCommand='rm x' y",
        "watch rm x",
        "parallel rm x",
        "python3 -c \"import os; os.system('rm x')\"",
        "python3 -c 'import subprocess; subprocess.run([\"rm\", \"x\"])'",
        "perl -e 'system(\"rm x\")'",
        "awk 'BEGIN{system(\"rm x\")}'",
        "sed '1e rm x' y",
        "vim -c ':!rm x' y",
        "busybox rm x",
        "script -c 'rm x' y",
        "docker exec a rm x",
        "uv run rm x",
        "npx rm x",
        "su a -c 'rm x'",
        "a # b\nrm x",
        "a 'b\nc'; rm x",
        "a \\\n; rm x",
        "r\\\nm x",
        "for c in rm; do $c x; done; rm x",
        "flock /x rm x",
        "setsid rm x",
        "coproc rm x",
        "a 'unterminated; b'; rm x",
        "export A='rm x'",
        "[[ -n $(rm x) ]]",
        "(( $(rm x) ))",
        "a $((1 + $(rm x)))",
        "a ${b:-$(rm x)}",
        "a \"${b:-`rm x`}\"",
        "stdbuf -o0 rm x",
        "sh -c \"$(echo rm x)\"",
        "a \"b $(c \"d\") $(rm x)\"",
    ] {
        assert!(sees(text, &["rm", "x"]), "{text}: {:?}", seen(text));
    }
}

#[test]
fn a_quoted_number_before_a_redirection_is_a_word() {
    assert_eq!(seen("ls 1\\2> x"), [["ls", "12"]]);
    assert_eq!(seen("ls '1'> x"), [["ls", "1"]]);
    assert_eq!(seen("ls 12> x"), [["ls"]]);
}

#[test]
fn nothing_is_seen_in_plain_text() {
    for text in [
        "echo 'rm x'",
        "git commit -m 'do not rm x'",
        "grep -rn 'rm x' src",
        "echo a rm x",
        "ls # rm x",
        "cat > f",
        "cat <<E\nrm x\nE",
    ] {
        assert!(!sees(text, &["rm"]), "{text}: {:?}", seen(text));
    }
}

#[test]
fn what_nests_too_deep_is_seen_as_words() {
    let deep = format!("{}rm x{}", "$(".repeat(500), ")".repeat(500));
    assert!(sees(&deep, &["rm", "x"]));
    let long = format!("{} rm x", "a;".repeat(40_000));
    assert!(sees(&long, &["rm", "x"]));
}

/// All that is found, in bytes and words.
fn size(text: &str) -> usize {
    let found = seen(text);
    found.iter().flatten().map(|word| word.len() + 1).sum()
}

#[test]
fn variables_that_hold_each_other_stay_small_and_could_be_anything() {
    for start in ["a=rm;", "a='rm;';", "a='$(b)';", "a='x y ';"] {
        let text = format!("{start}{}$a", "a=$a$a;".repeat(26));
        assert!(size(&text) < 4 << 20, "{start}: {}", size(&text));
        assert!(sees(&text, &["rm"]), "{start}");
    }
    let text = format!("a={};{}", "x".repeat(4000), "b $a$a;".repeat(9000));
    assert!(size(&text) < 4 << 20);
    assert!(sees(&text, &["rm"]));
}

#[test]
fn what_is_found_in_a_long_line_is_bounded() {
    for part in [
        "env ", "xargs ", "sh -c ", "* ", "x ", "git run ", "a,b ", "{a,b}", "${a", "\"$(", "e'x'", "x=$x ",
    ] {
        for length in [60 * 1024, 1024 * 1024] {
            let text = format!("{}rm x", part.repeat(length / part.len()));
            assert!(size(&text) < 4 << 20, "{part} {length}: {}", size(&text));
        }
    }
    let many: String = (0..150_000).map(|n| format!("{n:x} ")).collect();
    assert!(size(&many) < 4 << 20);
    for part in ["env ", "xargs ", "ssh h ", "watch ", "a;"] {
        let text = format!("{}rm x", part.repeat(60 * 1024 / part.len()));
        assert!(sees(&text, &["rm", "x"]), "{part}");
    }
}

#[test]
fn an_unknown_command_may_start_each_of_its_words() {
    for start in [
        "setarch x86_64",
        "linux32",
        "ip netns exec x",
        "tini --",
        "gosu a",
        "chpst -u a",
        "oc exec p --",
        "ccache",
        "mpirun -n 2",
        "pdm run",
        "op run --",
        "sshpass -p x",
        "eatmydata",
        "frobnicate",
        "frobnicate -x y",
        "./frob",
        "frob x,",
        "sh -c 'frob y' ; frob",
    ] {
        assert!(sees(&format!("{start} rm x"), &["rm", "x"]), "{start}");
    }
    assert!(sees("frob rm,-v x", &["rm", "-v"]));
    assert!(sees("frob --x git push", &["git", "push"]));
}

#[test]
fn a_command_is_seen_in_spellings_that_few_know() {
    for text in [
        "time -p rm x",
        "time -- rm x",
        "{fd}>f rm x",
        "env -S'rm x'",
        "env -iS'rm x'",
        "test -v 'a[$(rm x)]'",
        "[ -v 'a[$(rm x)]' ]",
        "unset 'a[$(rm x)]'",
        "read 'a[$(rm x)]'",
        "ls ${ rm x; }",
        "ls ${| rm x; }",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
        "bind -x '\"a\":rm x'",
    ] {
        assert!(sees(text, &["rm", "x"]), "{text}: {:?}", seen(text));
    }
    for text in ["git-push x", "/usr/lib/git-core/git-push x"] {
        assert!(sees(text, &["git", "push"]), "{text}: {:?}", seen(text));
    }
}
