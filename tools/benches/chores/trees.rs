//! The trees that the chores work on. Each is made anew in a directory of the bench's own.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// A file of 4 kB and a directory to change.
pub fn plain(place: &Path) -> io::Result<PathBuf> {
    let root = place.join("plain");
    fs::create_dir_all(root.join("changed"))?;
    fs::write(root.join("file"), [b'x'; 4096])?;
    Ok(root)
}

/// A repository of 1,600 files in 40 directories, about 2 kB each, all committed.
pub fn repository(place: &Path) -> io::Result<PathBuf> {
    const DIRECTORIES: usize = 40;
    const FILES: usize = 40;
    let root = place.join("repository");
    // Older than the index, or git would compare the contents each time.
    let then = SystemTime::now() - Duration::from_secs(3600);
    for directory in 0..DIRECTORIES {
        let directory = root.join(format!("part{directory}"));
        fs::create_dir_all(&directory)?;
        for number in 0..FILES {
            let path = directory.join(format!("file{number}.txt"));
            let line = format!("line of file {number}, where a needle may be looked for\n");
            fs::write(&path, line.repeat(38))?;
            File::options().write(true).open(&path)?.set_modified(then)?;
        }
    }
    for words in [
        "init --quiet",
        "add .",
        "-c user.name=bench -c user.email=bench@localhost commit --quiet --message made",
    ] {
        run("git", words, &root)?;
    }
    Ok(root)
}

/// 200,000 small files in 400 directories.
pub fn many(place: &Path) -> io::Result<PathBuf> {
    let root = place.join("many");
    for directory in 0..400 {
        let directory = root
            .join(format!("part{}", directory % 20))
            .join(format!("part{directory}"));
        fs::create_dir_all(&directory)?;
        for number in 0..500 {
            fs::write(directory.join(format!("file{number}")), "a line\n")?;
        }
    }
    Ok(root)
}

/// Forty C files with a makefile.
pub fn c_program(place: &Path) -> io::Result<PathBuf> {
    const FILES: usize = 40;
    let root = place.join("c");
    fs::create_dir_all(&root)?;
    let mut calls = String::new();
    let mut declarations = String::new();
    for number in 0..FILES {
        let mut text = String::from(
            "#include <errno.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"all.h\"\n",
        );
        for part in 0..20 {
            text += &format!(
                "static int part{part}(int n) {{ char s[64]; snprintf(s, sizeof s, \"%d\", n + {part}); \
                 return atoi(s) + (int)strlen(s); }}\n"
            );
        }
        let sum: Vec<String> = (0..20).map(|part| format!("part{part}(n)")).collect();
        text += &format!("int file{number}(int n) {{ return {}; }}\n", sum.join(" + "));
        fs::write(root.join(format!("file{number}.c")), text)?;
        declarations += &format!("int file{number}(int n);\n");
        calls += &format!(" + file{number}({number})");
    }
    fs::write(root.join("all.h"), declarations)?;
    let main = format!("#include \"all.h\"\nint main(void) {{ return (0{calls}) == 0; }}\n");
    fs::write(root.join("main.c"), main)?;
    let makefile = "objects = $(patsubst %.c,%.o,$(wildcard *.c))\n\
                    program: $(objects)\n\tcc -o $@ $^\n\
                    %.o: %.c all.h\n\tcc -O1 -c -o $@ $<\n";
    fs::write(root.join("Makefile"), makefile)?;
    Ok(root)
}

/// A crate of eight modules, without dependencies.
pub fn rust_crate(place: &Path) -> io::Result<PathBuf> {
    const MODULES: usize = 8;
    let root = place.join("crate");
    fs::create_dir_all(root.join("src"))?;
    let manifest = "[package]\nname = \"small\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(root.join("Cargo.toml"), manifest)?;
    let mut main = String::new();
    let mut sum = String::from("0");
    for number in 0..MODULES {
        let module = "use std::collections::BTreeMap;\npub fn count(text: &str) -> usize {\n    \
                      let mut seen = BTreeMap::new();\n    \
                      for word in text.split(' ') { *seen.entry(word.to_string()).or_insert(0_usize) += 1; }\n    \
                      seen.values().sum()\n}\n";
        fs::write(root.join(format!("src/module{number}.rs")), module)?;
        main += &format!("mod module{number};\n");
        sum += &format!(" + module{number}::count(\"a b c\")");
    }
    main += &format!("fn main() {{ println!(\"{{}}\", {sum}); }}\n");
    fs::write(root.join("src/main.rs"), main)?;
    Ok(root)
}

/// Removes what a build has made.
pub fn clean(root: &Path) {
    if let Err(error) = fs::remove_dir_all(root.join("target")) {
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "`target` can be removed");
    }
    for entry in fs::read_dir(root).expect("the tree is there").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "o") || path.ends_with("program") {
            fs::remove_file(path).expect("what was built can be removed");
        }
    }
}

fn run(program: &str, words: &str, directory: &Path) -> io::Result<()> {
    let mut command = Command::new(program);
    command
        .args(words.split(' '))
        .current_dir(directory)
        .stdin(Stdio::null());
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("`{program} {words}`: {status}")))
    }
}
