//! The frame of an attack: forms of Python code that each reach a witness unconfined and must not in a run.

use std::fmt::Write as _;

use crate::common::{Place, STOCKADE, finish, python, results, skipped};
use crate::network::net::Net;
use crate::network::servers::{Streams, Witness};

const PRELUDE: &str = include_str!("../../common/prelude.py");

/// What forms may use beside the prelude of all probes.
const TOOLS: &str = include_str!("tools.py");

/// What a run is refused with: at the making of a socket, its setting, its connecting, or at sending.
pub const REFUSED: &str = "EACCES|EPERM|EOPNOTSUPP|ENOPROTOOPT|EPIPE|ENOTCONN|EISCONN|EALREADY|EDESTADDRREQ|EINVAL|\
                           ENOTSUP|EAFNOSUPPORT";

/// A granted name with an echo behind it, and a witness.
pub struct Attack {
    pub net: Net,
    pub granted: Streams,
    pub witness: Witness,
    pub profile: &'static str,
}

/// The granted name.
pub const NAME: &str = "api.shop.test";

impl Attack {
    pub fn new() -> Attack {
        Attack::on(Witness::new())
    }

    pub fn on(witness: Witness) -> Attack {
        let granted = Streams::echo();
        let mut net = Net::new();
        net.grant(NAME, granted.address);
        Attack {
            net,
            granted,
            witness,
            profile: "minimal",
        }
    }

    /// Every form reaches the witness unconfined and answers one of these words in a run, where the witness sees
    /// no connection. A form that begins with `?` is skipped where the machine or the user can't do it.
    pub fn fails(&self, forms: &[&str], refusal: &str) {
        let free = self.unconfined(forms);
        let reaching = self.proved(forms, &free);
        self.witness.saw(reaching.len());
        self.witness.forget();
        let held = self.confined(forms);
        let faults: Vec<String> = reaching
            .iter()
            .filter(|index| !refusal.split('|').any(|word| word == held[**index]))
            .map(|index| format!("`{}`: {}, expected {refusal}", forms[*index], held[*index]))
            .collect();
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
        self.witness.saw_none();
    }

    /// Forms that are no attack work, in a run too.
    pub fn works(&self, forms: &[&str]) {
        let answers = self.confined(forms);
        for (form, answer) in std::iter::zip(forms, answers) {
            assert_eq!(answer, "ok", "`{form}`");
        }
    }

    fn proved(&self, forms: &[&str], free: &[String]) -> Vec<usize> {
        let mut proved = Vec::new();
        for (index, (form, answer)) in std::iter::zip(forms, free).enumerate() {
            match (answer.as_str(), form.starts_with('?')) {
                ("ok", _) => proved.push(index),
                (_, true) => skipped(&format!("unconfined `{form}` answers {answer} here")),
                (_, false) => panic!("unconfined `{form}`: {answer}, so this proves nothing"),
            }
        }
        proved
    }

    fn unconfined(&self, forms: &[&str]) -> Vec<String> {
        let place = Place::new();
        let script = self.script(&place, forms, &self.granted.address.ip().to_string());
        let mut command = place.command(python());
        command.args(["-I", "-c", &script]);
        results(&finish(&mut command, b""), forms.len())
    }

    fn confined(&self, forms: &[&str]) -> Vec<String> {
        let place = Place::new();
        let mut command = place.command(STOCKADE);
        command
            .args(["run", "--profile", self.profile, "--root"])
            .arg(&place.root);
        command.args(self.net.flags());
        command.args(["--", python(), "-I", "-c", &self.script(&place, forms, NAME)]);
        results(&finish(&mut command, b""), forms.len())
    }

    /// `GRANTED` and `W` are pairs of host and port: whom the run may reach, and the witness.
    fn script(&self, place: &Place, forms: &[&str], name: &str) -> String {
        let mut script = format!("{PRELUDE}\n{TOOLS}\n");
        let (granted, witness) = (self.granted.address, self.witness.address);
        let _ = writeln!(script, "GRANTED = ('{name}', {})", granted.port());
        let _ = writeln!(script, "LITERAL = ('{}', {})", granted.ip(), granted.port());
        let _ = writeln!(script, "W = HOST, PORT = ('{}', {})", witness.ip(), witness.port());
        for (index, form) in forms.iter().enumerate() {
            let code = place.fill(form.trim_start_matches('?').trim_start());
            let _ = writeln!(script, "attempt({index}, {})", serde_json::Value::from(code));
        }
        script
    }
}
