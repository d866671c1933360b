//! What is remembered of a script, by the hash of its content.

use serde_json::json;

use crate::exec::place::Place;

/// Its text tells no name to write.
const WRITES: &str = "open(''.join(reversed('txt.tuo')), 'a').write('x')\n";

#[test]
fn what_a_person_approved_for_a_script_is_not_asked_again_until_it_changes() {
    let place = Place::new();
    place.file("write.py", WRITES);
    let always = r#"{"answer":"yes","lifetime":"always"}"#;
    assert_eq!(place.exec_with(always, &["write.py"]).code, 0);
    let known = place.json(&["script", "show", "--json", "write.py"]);
    assert_eq!(
        (&known["source"], &known["basis"]),
        (&json!("emergent"), &json!("approved"))
    );
    assert_eq!(known["approvals"].as_array().unwrap().len(), 1);
    // The same content, under another name too.
    let never = r#"{"answer":"no"}"#;
    std::fs::copy(place.root().join("write.py"), place.root().join("copy.py")).unwrap();
    for script in ["write.py", "copy.py"] {
        let called = place.exec_with(never, &[script]);
        assert_eq!(called.code, 0, "{}", called.stderr);
        called.says("(emergent, approved)");
    }
    assert_eq!(std::fs::read_to_string(place.root().join("out.txt")).unwrap(), "xxx");
    // In another root it isn't: there nothing was approved.
    let elsewhere = place.root().join("data");
    std::fs::copy(place.root().join("write.py"), elsewhere.join("write.py")).unwrap();
    let root = elsewhere.to_str().unwrap();
    let called = place.exec_with(never, &["--root", root, "data/write.py"]);
    assert_ne!(called.code, 0);
    called.says("and asks for the rest: writing …");
    // As a script of another language it is another program.
    std::fs::copy(place.root().join("write.py"), place.root().join("write.sh")).unwrap();
    assert_ne!(place.exec_with(never, &["write.sh"]).code, 0);
    // One byte more is another script.
    place.file("write.py", &format!("{WRITES}\n"));
    assert_eq!(place.exec_with(never, &["write.py"]).code, 1);
    // And what is forgotten isn't approved any more.
    let called = place.call(&["script", "remove", "copy.py"]);
    let told = format!(
        "removed --write {}/out.txt in {0}",
        place.root().canonicalize().unwrap().display()
    );
    assert!(called.stdout.contains(&told), "{}", called.stdout);
    assert_eq!(place.exec_with(never, &["copy.py"]).code, 1);
}

#[test]
fn a_profile_that_a_person_chose_stays_with_the_content() {
    let place = Place::new();
    place.file("write.py", WRITES);
    assert_eq!(place.exec(&["write.py"]).code, 1);
    let called = place.exec(&["--profile", "workspace", "write.py"]);
    assert_eq!(called.code, 0);
    called.says("runs under `workspace` from now on, by `--profile`");
    let called = place.exec(&["write.py"]);
    assert_eq!(called.code, 0);
    called.says("(manual, approved)");
    place.file("write.py", &format!("{WRITES}#"));
    assert_eq!(place.exec(&["write.py"]).code, 1);
}

#[test]
fn a_choice_counts_in_the_scripts_directory_alone() {
    let place = Place::new();
    for directory in ["mine", "hostile"] {
        std::fs::create_dir(place.root().join(directory)).unwrap();
        place.file(&format!("{directory}/manage.py"), WRITES);
    }
    assert_eq!(
        place
            .call(&["script", "set", "mine/manage.py", "--profile", "workspace"])
            .code,
        0
    );
    std::os::unix::fs::symlink("mine/manage.py", place.root().join("link.py")).unwrap();
    for (file, code) in [("mine/manage.py", 0), ("link.py", 0), ("hostile/manage.py", 1)] {
        assert_eq!(place.exec(&[file]).code, code, "{file}");
    }
    for (file, source) in [("mine/manage.py", "manual"), ("hostile/manage.py", "emergent")] {
        assert_eq!(place.json(&["script", "show", "--json", file])["source"], source);
    }
}

#[test]
fn nothing_is_kept_of_a_script_that_is_to_be_forgotten() {
    let place = Place::new();
    place.file("write.py", WRITES);
    assert_eq!(place.exec(&["--forget", "--profile", "workspace", "write.py"]).code, 0);
    assert_eq!(place.exec(&["--forget", "write.py"]).code, 1);
    assert_eq!(place.call(&["script", "list"]).stdout, "");
}

#[test]
fn a_profile_in_a_file_is_for_one_run() {
    let place = Place::new();
    place.file("write.py", WRITES);
    place.file(
        "wide.toml",
        "version = 1\nname = \"wide\"\ndescription = \"Writes\"\nextends = \"workspace\"\n",
    );
    assert_eq!(place.exec(&["--profile", "./wide.toml", "write.py"]).code, 0);
    assert_eq!(place.exec(&["write.py"]).code, 1);
    assert_eq!(
        place
            .call(&["script", "set", "write.py", "--profile", "./wide.toml"])
            .code,
        125
    );
}

#[test]
fn scripts_are_listed_shown_set_and_forgotten() {
    let place = Place::new();
    place.file("a.py", "print(1)\n");
    place.file("b.py", "print(2)\n");
    place.exec(&["a.py"]);
    assert_eq!(
        place
            .call(&["script", "set", "b.py", "--profile", "readonly", "--observed"])
            .code,
        0
    );
    let listed = place.call(&["script", "list"]).stdout;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    let listed = place.call(&["script", "list", "--profile", "readonly"]).stdout;
    assert!(
        listed.contains("manual, observed") && listed.contains("b.py"),
        "{listed}"
    );
    assert_eq!(listed.lines().count(), 1);
    let shown = place.json(&["script", "show", "--json", "a.py"]);
    assert_eq!(
        (
            &shown["permission_set"],
            &shown["permission_confidence"],
            &shown["runs"]
        ),
        (&json!("minimal"), &json!(0.95), &json!(1))
    );
    let hash = shown["hash"].as_str().unwrap()[..12].to_string();
    assert_eq!(place.call(&["script", "forget", &hash]).code, 0);
    let called = place.call(&["script", "show", "a.py"]);
    assert_eq!(called.code, 125);
    called.says("no script is known as `a.py`");
    for words in [
        &["script", "set", "a.py", "--profile", "none-such"][..],
        &["script", "list", "--profile", "none-such"],
        &["exec", "--profile", "none-such", "a.py"],
    ] {
        assert_eq!(place.call(words).code, 125);
    }
    assert_eq!(place.call(&["script", "show", "a.py"]).code, 125);
}
