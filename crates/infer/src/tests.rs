//! Whole scripts and their inferences.

use super::*;

#[test]
fn a_script_that_is_too_long_is_not_read() {
    let long = " ".repeat(MAX_LENGTH + 1);
    let answer = infer(&long, Language::Python, &Setting::default());
    assert_eq!((&*answer.profile, answer.confidence), ("trusted", 0.0));
}

#[test]
fn a_text_that_runs_as_code_is_read_as_code_where_it_stands() {
    let sees_all = [
        r#"exec("os.listdir(os.path.expanduser('~/.ssh'))")"#,
        "import os\nexec(\"os.listdir('/srv')\")",
        "import os as o\nexec(\"o.listdir('/srv')\")",
        "h = open\np = '/srv/x'\nexec('h(p)')",
        "import os\nexec(\"n.listdir('/srv')\", {'n': os})",
        "import os\ndef f():\n  from os import listdir as g\n  eval(\"g('/srv')\")\nf()",
        "import os\nexec('exec(\"os.listdir(\\'/srv\\')\")')",
        "import base64\nexec(base64.b64decode('b3MubGlzdGRpcignL3NydicpCg=='))",
        "exec(bytes.fromhex('6f732e6c6973746469722827 2f73727627 29'.replace(' ', '')))",
        "import codecs\nexec(codecs.decode(\"bf.yvfgqve('/fei')\", 'rot13'))",
        "import base64, importlib\nm = importlib.import_module(base64.b64decode('b3M=').decode())\nm.listdir('/srv')",
    ];
    for code in sees_all {
        let answer = infer(code, Language::Python, &Setting::default());
        assert_eq!(&*answer.profile, "mcp-standard", "{code}");
    }
    // Neither can be told.
    for code in [
        "from pathlib import Path\nd = Path('/srv')\nexec('list(d.iterdir())')",
        "exec(bytes(b ^ 1 for b in b'nr'))",
        "import zlib, base64\nexec(zlib.decompress(base64.b64decode('eJw')))",
    ] {
        let answer = infer(code, Language::Python, &Setting::default());
        assert!(!answer.is_sure(), "{code}: {}", answer.confidence);
    }
    let harmless = "x = 3\nprint(eval('x + 1'))\nexec('y = x * 2')\ndef f(n): return n\n\
                    import timeit\ntimeit.timeit('f(1)', globals=globals())";
    let answer = infer(harmless, Language::Python, &Setting::default());
    assert_eq!((&*answer.profile, answer.is_sure()), ("minimal", true));
}

#[test]
fn the_profile_that_writes_its_root_is_named_beside_the_six() {
    for (code, profile, other) in [
        ("open('out.csv', 'w')", "trusted", Some("workspace")),
        (
            "open('out.csv', 'w'); open('a.csv'); open('/tmp/b', 'w')",
            "trusted",
            Some("workspace"),
        ),
        ("open('out.csv', 'w'); open('/srv/a')", "trusted", None),
        (
            "import urllib.request as u; u.urlopen('https://example.com'); open('o', 'w')",
            "trusted",
            None,
        ),
        ("open('/srv/out.csv', 'w')", "trusted", None),
        ("open('/tmp/out.csv', 'w')", "filesystem", None),
    ] {
        let answer = infer(code, Language::Python, &Setting::default());
        assert_eq!(
            (&*answer.profile, answer.or_profile.as_deref()),
            (profile, other),
            "{code}"
        );
    }
}
