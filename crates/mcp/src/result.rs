//! Results of tool calls: what refusals have to do with them, and how they are changed then.
//!
//! A result changes only where a refusal is told in it; all else stays the text that it was.

use serde_json::value::RawValue;
use stockade_report::report::names_variable;

use crate::calls::Call;
use crate::message::{Object, quoted, text};
use crate::refusal::{self, Refusal};

/// Bytes of a result that are searched for names.
const SEARCHED: usize = 256 * 1024;

/// Errors by which the protocol tells something else than that a tool failed: what can't be read, isn't there or has wrong
/// parameters, and a client that is to do something first.
const OF_THE_PROTOCOL: [i32; 8] = [-32700, -32600, -32601, -32602, -32042, -32020, -32021, -32022];

/// How a call came back.
enum Outcome<'a> {
    /// With content: whether it is an error.
    Content(Object<'a>, bool),
    /// With an error that says why: the text, and how it is written.
    Error(String, &'a str),
    /// With something that is no result of a tool.
    Odd(&'a str),
}

impl<'a> Outcome<'a> {
    /// Of a response to a call; `None` where the call goes on, or failed for another reason than a tool's.
    fn of(response: &Object<'a>, call: &Call) -> Option<Outcome<'a>> {
        let Some(written) = response.get("result") else {
            return Outcome::of_error(response.get("error")?);
        };
        let odd = Some(Outcome::Odd(written.get()));
        let Some(result) = Object::read(written.get()) else {
            return odd;
        };
        let kind = result.get("resultType").filter(|_| call.is_modern);
        let kind = kind.map(|kind| text(kind).unwrap_or_default());
        match kind.as_deref() {
            Some("input_required" | "task") => return None,
            None if call.is_task && result.object("task").is_some_and(|task| task.text("taskId").is_some()) => {
                return None;
            }
            None | Some("complete") => {}
            Some(_) => return odd,
        }
        // Clients read a result without content as one with empty content.
        let is_list = |content: &RawValue| content.get().starts_with('[');
        if !result.get("content").is_none_or(is_list) {
            return odd;
        }
        let is_error = result.get("isError").is_some_and(|value| value.get() == "true");
        Some(Outcome::Content(result, is_error))
    }

    fn of_error(error: &'a RawValue) -> Option<Outcome<'a>> {
        let error = Object::read(error.get()).unwrap_or_default();
        // Readers in JavaScript take `-32602.0` for the same number.
        let code: Option<f64> = error.get("code").and_then(|code| code.get().parse().ok());
        if code.is_some_and(|code| OF_THE_PROTOCOL.map(f64::from).contains(&code)) {
            return None;
        }
        let message = error
            .get("message")
            .and_then(|written| Some((text(written)?, written.get())));
        let (message, written) = message.unwrap_or((String::new(), "\"\""));
        Some(Outcome::Error(message, written))
    }
}

/// The response with the refusals that explain it, or else with the variable that it names of those that the server lacks;
/// `None` where it stays as it is.
pub fn explained(response: &Object<'_>, call: &Call, server: &str, lacks: &[String]) -> Option<String> {
    if call.own.is_empty() && call.shared.is_empty() && lacks.is_empty() {
        return None;
    }
    let outcome = Outcome::of(response, call)?;
    let lacked = match &outcome {
        Outcome::Content(result, true) => named_variable(result.get("content").map_or("", RawValue::get), lacks),
        Outcome::Error(message, _) => named_variable(message, lacks),
        Outcome::Odd(_) | Outcome::Content(_, false) => None,
    };
    let mut refusals = match &outcome {
        Outcome::Content(result, true) => of_failure(call, result.get("content").map_or("", RawValue::get)),
        Outcome::Error(message, _) => of_failure(call, message),
        Outcome::Odd(written) => of_failure(call, written),
        Outcome::Content(_, false) => call.own.iter().filter(|refusal| refusal.is_loud()).collect(),
    };
    if refusals.is_empty() {
        refusals.push(lacked.as_ref()?);
    }
    let told = content(&refusal::text(&refusals, server));
    let id = response.get("id")?.get();
    match outcome {
        Outcome::Content(result, _) => {
            let kept = result.get("content").map_or("[]", RawValue::get);
            let begun = kept.trim_end().strip_suffix(']')?;
            let has_some = !begun.trim_start_matches('[').trim_start().is_empty();
            let content = [begun, if has_some { "," } else { "" }, &told, "]"];
            let result = result.parts(&[("content", &content), ("isError", &["true"])]);
            let result: Vec<&str> = result.iter().map(AsRef::as_ref).collect();
            Some(response.with(&[("result", &result)]))
        }
        Outcome::Error(_, written) => {
            let content = ["{\"type\":\"text\",\"text\":", written, "},", &told];
            Some(failure(id, &content, call.is_modern))
        }
        Outcome::Odd(_) => Some(failure(id, &[&told], call.is_modern)),
    }
}

fn named_variable(text: &str, lacks: &[String]) -> Option<Refusal> {
    let text = &text[..text.floor_char_boundary(SEARCHED)];
    let named = lacks.iter().find(|name| names_variable(text, name))?;
    Some(Refusal::of_variable(named))
}

/// The refusals that explain a call that failed: those that the error names, else those that matter by themselves.
fn of_failure<'c>(call: &'c Call, text: &str) -> Vec<&'c Refusal> {
    let text = &text[..text.floor_char_boundary(SEARCHED)];
    let all = || call.own.iter().chain(&call.shared);
    let named: Vec<&Refusal> = all().filter(|refusal| refusal.is_named_in(text)).collect();
    let loud = || all().filter(|refusal| refusal.is_loud());
    match named.iter().any(|refusal| refusal.is_loud()) {
        true => named.into_iter().filter(|refusal| refusal.is_loud()).collect(),
        false if loud().next().is_some() => loud().collect(),
        false => named,
    }
}

/// A text as content.
pub fn content(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text))
}

/// The response to a call that failed, with this content, given in parts.
pub fn failure(id: &str, content: &[&str], is_modern: bool) -> String {
    let kind = if is_modern { "\"resultType\":\"complete\"," } else { "" };
    let start = [
        "{\"jsonrpc\":\"2.0\",\"id\":",
        id,
        ",\"result\":{",
        kind,
        "\"content\":[",
    ];
    [&start, content, &["],\"isError\":true}}"]].concat().concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::tests::refusal;

    fn told(response: &str, own: Vec<Refusal>, shared: Vec<Refusal>) -> Option<String> {
        let mut call = Call::new("t".into(), "{}");
        (call.own, call.shared) = (own, shared);
        explained(&Object::read(response).unwrap(), &call, "s", &[])
    }

    /// The same for a call of which one thing is refused.
    fn told_of(call: Call, answer: &str) -> Option<String> {
        let call = Call {
            own: vec![refusal("/x/y", false)],
            ..call
        };
        let response = format!(r#"{{"jsonrpc":"2.0","id":1,{answer}}}"#);
        explained(&Object::read(&response).unwrap(), &call, "s", &[])
    }

    fn call(is_modern: bool, is_task: bool) -> Call {
        Call {
            is_modern,
            is_task,
            ..Call::new("t".into(), "{}")
        }
    }

    #[test]
    fn a_good_result_stays_unless_something_that_matters_was_refused_in_it() {
        let good = r#"{"jsonrpc":"2.0","id":1,"result":{"x":1.0,"content":[{"type":"text","text":"ok"}]}}"#;
        assert_eq!(told(good, vec![], vec![]), None);
        assert_eq!(told(good, vec![refusal("/etc/machine-id", true)], vec![]), None);
        assert_eq!(told(good, vec![], vec![refusal("/other", false)]), None);
        let text = told(good, vec![refusal("/home/ada/notes", false)], vec![]).unwrap();
        let start = r#"{"jsonrpc":"2.0","id":1,"result":{"x":1.0,"content":[{"type":"text","text":"ok"},{"type":"text","text":"Permission denied: reading /home/ada/notes: nothing grants it\nLeast grant: --read /home/ada/notes\n"#;
        assert!(text.starts_with(start), "{text}");
        assert!(text.ends_with(r#"],"isError":true}}"#), "{text}");
    }

    #[test]
    fn an_error_gets_the_refusal_that_it_names_also_a_quiet_one() {
        let bad = r#"{"id":1,"result":{"content":[{"type":"text","text":"EACCES: .git/index.lock"}],"isError":true}}"#;
        let lock = refusal("/p/.git/index.lock", true);
        assert!(
            told(bad, vec![refusal("/other", true), lock.clone()], vec![])
                .unwrap()
                .contains("/p/.git/index.lock")
        );
        assert_eq!(told(bad, vec![refusal("/other", true)], vec![]), None);
        assert!(
            told(bad, vec![], vec![refusal("/other", false)])
                .unwrap()
                .contains("/other")
        );
    }

    #[test]
    fn a_variable_that_the_server_lacks_is_told_where_a_failure_names_it_and_nothing_was_refused() {
        let told = |response: &str, own: Vec<Refusal>| {
            let call = Call {
                own,
                ..call(false, false)
            };
            let lacks = ["API_KEY".to_owned(), "DATA_HOME".to_owned()];
            explained(&Object::read(response).unwrap(), &call, "s", &lacks).unwrap_or_default()
        };
        let failed = |text: &str| {
            format!(r#"{{"id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":true}}}}"#)
        };
        let secret = told(&failed("KeyError: 'API_KEY'"), vec![]);
        assert!(
            secret.contains("`--env API_KEY` hands it over, if that is meant"),
            "{secret}"
        );
        let plain = told(&failed("set DATA_HOME"), vec![]);
        assert!(
            plain.contains("the variable DATA_HOME: nothing grants it\\nLeast grant: --env DATA_HOME"),
            "{plain}"
        );
        assert_eq!(told(&failed("set MY_DATA_HOME"), vec![]), "");
        assert_eq!(
            told(
                &failed("x").replace("true", "false").replace("\"x", "\"API_KEY"),
                vec![]
            ),
            ""
        );
        assert!(!told(&failed("API_KEY"), vec![refusal("/x/y", false)]).contains("--env"));
    }

    #[test]
    fn an_error_of_the_server_becomes_a_result_and_one_of_the_protocol_stays() {
        let error =
            |code: &str| format!(r#"{{"jsonrpc":"2.0","id":"a","error":{{"code":{code},"message":"no access"}}}}"#);
        let refusals = || vec![refusal("/x/y", false)];
        for code in [
            "-32603",
            "-32000.0",
            "-3.2e4",
            "1e400",
            "-32602.5",
            "null",
            "\"-32602\"",
        ] {
            let text = told(&error(code), refusals(), vec![]).unwrap();
            assert!(
                text.starts_with(
                    r#"{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"no access"},"#
                ),
                "{text}"
            );
        }
        for code in ["-32602", "-32602.0", "-3.2602e4"] {
            assert_eq!(told(&error(code), refusals(), vec![]), None);
        }
        for error in ["null", "[]", "\"no access\"", "{}"] {
            let text = told_of(call(false, false), &format!("\"error\":{error}")).unwrap();
            assert!(
                text.contains("reading /x/y") && text.ends_with("],\"isError\":true}}"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_end_of_a_call_stays() {
        for (result, call) in [
            (r#"{"task":{"taskId":"1"}}"#, call(false, true)),
            (r#"{"resultType":"input_required"}"#, call(true, false)),
            (r#"{"resultType":"task","taskId":"1"}"#, call(true, false)),
        ] {
            assert_eq!(told_of(call, &format!("\"result\":{result}")), None);
        }
    }

    #[test]
    fn what_is_no_result_of_a_tool_is_replaced() {
        for (result, is_modern) in [
            ("null", false),
            ("[1]", false),
            ("\"x\"", true),
            (r#"{"content":"odd"}"#, false),
            (r#"{"content":{"type":"text","text":"x"}}"#, false),
            (r#"{"content":null,"task":{}}"#, false),
            (r#"{"content":[],"resultType":"odd"}"#, true),
            (r#"{"content":[],"resultType":1}"#, true),
        ] {
            let text = told_of(call(is_modern, false), &format!("\"result\":{result}")).unwrap();
            let kind = if is_modern { "\"resultType\":\"complete\"," } else { "" };
            let start = format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{{kind}"content":[{{"type":"text","text":"Permission denied: reading /x/y"#
            );
            assert!(
                text.starts_with(&start) && text.ends_with("],\"isError\":true}}"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_result_without_content_is_explained_too() {
        for result in [
            "{}",
            r#"{"structuredContent":{"r":1}}"#,
            r#"{"toolResult":"x","task":{}}"#,
            r#"{"task":{"taskId":"1"}}"#,
            r#"{"resultType":"input_required"}"#,
        ] {
            let response = format!(r#"{{"id":1,"result":{result}}}"#);
            let text = told(&response, vec![refusal("/x/y", false)], vec![]).unwrap();
            assert!(
                text.contains(r#""content":[{"type":"text""#) && text.contains("/x/y"),
                "{text}"
            );
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        }
    }

    #[test]
    fn content_that_is_empty_gets_no_comma() {
        let text = told(
            r#"{"id":1,"result":{"content":[ ]}}"#,
            vec![refusal("/x/y", false)],
            vec![],
        )
        .unwrap();
        assert!(text.contains(r#""content":[ {"type""#), "{text}");
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }
}
