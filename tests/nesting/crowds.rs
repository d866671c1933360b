//! Several inner runs, beside each other and one after the other.

use crate::nesting::inner::{inner, outer, shows};

#[test]
fn runs_beside_each_other_have_labels_of_their_own() {
    let paths = ["plain", "data/x"];
    let waiting = |name: &str| {
        format!(
            "sh -c \"echo >{name}; while ! test -e both; do sleep 0.05; done; cat plain data/x >{name}.out 2>/dev/null; true\""
        )
    };
    outer("workspace")
        .bash(&format!(
            "{} & {} & while ! test -e a -a -e b; do sleep 0.05; done; echo >both; wait; cat a.out; echo; cat b.out; {}",
            inner("workspace --deny ./plain", &waiting("a")),
            inner("workspace --deny ./data", &waiting("b")),
            shows(&paths)
        ))
        .stdout("x\n\nplain\nplain\nx\n")
        .ends();
}

#[test]
fn ended_runs_give_their_places_back() {
    let one = inner("minimal", "true");
    outer("workspace")
        .bash(&format!(
            "i=0; while test $i -lt 70; do {one} || exit 9; i=$((i+1)); done; echo all"
        ))
        .stdout("all\n")
        .ends();
}

#[test]
fn a_command_that_cannot_be_started_leaves_no_label() {
    outer("workspace")
        .program("broken", "#!/nonexistent/interpreter\n")
        .bash(&format!(
            "{} 2>/dev/null; {}",
            inner("workspace --exec ./broken", "./broken"),
            shows(&["plain"])
        ))
        .stdout("plain\n")
        .ends();
}
