//! Hostile input for the reader.

use super::super::super::finding::{Act, Opaque};
use super::super::super::setting::Setting;
use super::acts;

/// Calls the reader as the program does: on a separate stack.
fn roomy<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap()
}

#[test]
fn deep_texts_are_refused_or_read() {
    const MANY: usize = 100_000;
    for (begin, middle, end) in [
        ("(", "1", ")"),
        ("[", "", "]"),
        ("-", "1", ""),
        ("not ", "1", ""),
        ("lambda:", "1", ""),
        ("lambda a, b:", "1", ""),
        ("a", "", ".b"),
        ("1+", "1", ""),
        ("x if y else ", "1", ""),
        ("f(", "", ")"),
        ("{1:", "1", "}"),
        ("a", "", "()"),
        ("a", "", "[0]"),
        ("await ", "x", ""),
        ("1 < ", "2", ""),
        ("a = ", "1", ""),
        ("a ** ", "1", ""),
        ("'a' ", "'b'", ""),
        ("", "'%s'", "%1"),
        ("1 or ", "1", ""),
        ("(a := ", "1", ")"),
        ("f'{", "1", "}'"),
        ("*", "a", ""),
        ("", "a", ", b"),
    ] {
        let source = format!("{}{middle}{}", begin.repeat(MANY), end.repeat(MANY));
        roomy(move || super::super::read(&source, &Setting::default()));
    }
    let indented: String = (0..5000).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    assert_eq!(acts(&indented), ["TooMuch(\"its code nests too deep\")"]);
    let elif = format!("if a:\n  pass\n{}", "elif b:\n  pass\n".repeat(20_000));
    roomy(move || super::super::read(&elif, &Setting::default()));
}

#[test]
fn work_is_bounded() {
    for source in [
        "x = []\nwhile 1:\n  x = [x, x]\n".to_string() + &"x = [x, x]\n".repeat(5000) + "y = x or x\nopen(y)",
        "x = 'a' * 4000\n".to_string() + &"x = x + x\n".repeat(5000),
        (0..40).map(|at| format!("def f{at}():\n  f{}()\n  f{}()\n", at + 1, at + 1)).collect::<String>() + "f0()",
        "def f(g):\n  g(g)\n  g(g)\nf(f)".to_string(),
        "class A(A): pass\nclass B(A): pass\nA = B\nB().x".to_string(),
        "for a in range(9):\n for b in range(9):\n  for c in range(9):\n   for d in range(9):\n    for e in range(9):\n     open(a)".to_string(),
        "x = [1]\n".to_string() + &"x = [x]\n".repeat(20_000),
        "from functools import partial\np = print\n".to_string() + &"p = partial(p, 1)\n".repeat(5000) + "p()",
    ] {
        let started = std::time::Instant::now();
        let shown: String = source.chars().take(60).collect();
        roomy(move || super::super::read(&source, &Setting::default()));
        // Without a bound it would never end; the limit allows for a busy machine.
        assert!(started.elapsed().as_secs() < 120, "{shown}");
    }
}

#[test]
fn what_does_not_parse_is_said_so_alone() {
    let found = super::super::read("open('a')\nx = = 1\n", &Setting::default());
    assert_eq!(found.len(), 1);
    assert!(
        matches!(&found[0].act, Act::Opaque(Opaque::Unparsed(why)) if why.starts_with("2:5 ")),
        "{found:?}"
    );
}

#[test]
fn odd_texts_do_no_harm() {
    for source in [
        "",
        "\u{0}",
        "\u{feff}x",
        "é = 'é'[0]\nopen(é)",
        "'{'.format()",
        "'{0'.format()",
        "'%'% 1",
        "'%(a' % {}",
        "'é%é' % 1",
        "'a'[9]",
        "'a'[-9]",
        "[1][::0]",
        "[1][::-1][-9223372036854775808:]",
        "'x' * 9223372036854775807",
        "-9223372036854775808",
        "9223372036854775807 + 9",
        "chr(-1)",
        "bytes.fromhex('é')",
        "a, *b, c = 1",
        "*a, = [1]",
        "a, *b = []",
        "super().x()",
        "class A:\n  def f(self): return super().f()\nA().f()",
        "return 1",
        "del x",
        "x[0] = 1",
        "{**{}}",
        "getattr()",
        "open()",
        "import os\nos.path.join()",
        "f'{x!r:>{y}}'",
        "'é'.split('')",
        "from pathlib import Path\nPath().parents[99]",
        "import requests\nrequests.get()",
        "exec()",
        "print(*1, **2)",
        "global x\nx = 1",
        "nonlocal y",
    ] {
        acts(source);
    }
}
