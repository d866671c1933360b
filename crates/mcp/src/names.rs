//! Names of the protocol, and members that some readers take for them: `Content` for `content`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use stockade_text::json::{self, Ambiguity};

/// Members of the protocol's messages, in any of its versions, without those of JSON Schema.
const MEMBERS: &str = "jsonrpc id method params result error code message data
    name title version description websiteUrl icons src mimeType sizes theme
    protocolVersion capabilities clientInfo serverInfo instructions listChanged subscribe experimental extensions
    roots sampling elicitation form url logging completions prompts resources tools tasks requests
    cursor nextCursor total hasMore progress progressToken requestId reason level logger _meta
    inputSchema outputSchema annotations execution taskSupport readOnlyHint destructiveHint idempotentHint openWorldHint
    arguments argument value context ref required task taskId ttl ttlMs cacheScope pollInterval status statusMessage createdAt
    lastUpdatedAt content structuredContent isError resultType toolResult type text blob resource uri uriTemplate
    resourceTemplates contents audience priority lastModified size
    messages role systemPrompt includeContext maxTokens stopSequences temperature metadata modelPreferences hints model
    costPriority speedPriority intelligencePriority stopReason toolChoice mode toolUseId input
    requestedSchema elicitationId elicitations action inputRequests inputResponses requestState completion values";

/// Methods of the protocol, in any of its versions.
const METHODS: &str = "initialize ping tools/list tools/call prompts/list prompts/get resources/list resources/read
    resources/templates/list resources/subscribe resources/unsubscribe completion/complete logging/setLevel
    sampling/createMessage elicitation/create roots/list tasks/get tasks/result tasks/list tasks/cancel tasks/update
    server/discover subscriptions/listen messages/listen
    notifications/initialized notifications/cancelled notifications/progress notifications/message
    notifications/roots/list_changed notifications/tools/list_changed notifications/prompts/list_changed
    notifications/resources/list_changed notifications/resources/updated notifications/elicitation/complete
    notifications/tasks/status notifications/subscriptions/acknowledged";

/// Members whose insides are a server's or a client's own, or a JSON Schema's: names of any case mean something there.
const FREE: [&str; 11] = [
    "_meta",
    "data",
    "experimental",
    "extensions",
    "input",
    "inputResponses",
    "inputSchema",
    "metadata",
    "outputSchema",
    "requestedSchema",
    "structuredContent",
];

/// The same, only below these: `arguments` of a prompt's description are the protocol's.
const FREE_BELOW: [[&str; 2]; 2] = [["params", "arguments"], ["context", "arguments"]];

/// Known names by what all their spellings have in common.
struct Known(HashMap<String, &'static str>);

impl Known {
    fn of(names: &'static str) -> Known {
        Known(names.split_whitespace().map(|name| (folded(name), name)).collect())
    }

    /// Whether a name is one of these in other letters.
    fn is_alike(&self, name: &str) -> bool {
        self.0.get(&folded(name)).is_some_and(|known| *known != name)
    }
}

/// Upper case first: it also turns the long s into an s, and the sign of Kelvin into a k.
pub fn folded(name: &str) -> String {
    name.to_uppercase().to_lowercase()
}

/// Whether a method is one of the protocol in other letters.
pub fn is_like_a_method(method: &str) -> bool {
    static KNOWN: LazyLock<Known> = LazyLock::new(|| Known::of(METHODS));
    KNOWN.is_alike(method)
}

/// Why two readers may take a message differently.
pub fn ambiguity(message: &str) -> Option<&'static str> {
    static KNOWN: LazyLock<Known> = LazyLock::new(|| Known::of(MEMBERS));
    let found = json::ambiguity(message.as_bytes(), |path, name| KNOWN.is_alike(name) && !is_free(path));
    Some(match found? {
        Ambiguity::Twice(_) => "a member is there twice",
        Ambiguity::Odd(_) => "a member is called nearly as one of the protocol",
        Ambiguity::Name => "the name of a member can't be read",
        Ambiguity::Depth => "it nests too deep",
    })
}

fn is_free(path: &[Cow<'_, str>]) -> bool {
    // The fields of a form are its author's, and so are the names of requests within a result.
    let is_form = matches!(path, [first, second] if first == "result" && second == "content");
    is_form
        || path.last().is_some_and(|name| name == "inputRequests")
        || path.iter().any(|name| FREE.contains(&&**name))
        || path.windows(2).any(|pair| FREE_BELOW.iter().any(|free| pair == free))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_the_protocol_has_one_spelling_where_the_protocol_says_it() {
        for odd in [
            r#"{"ID":1}"#,
            r#"{"Params":{}}"#,
            r#"{"reſult":{}}"#,
            r#"{"result":{"Content":[]}}"#,
            r#"{"result":{"content":[{"type":"text","Text":""}]}}"#,
            r#"{"error":{"Message":""}}"#,
            r#"{"params":{"messages":[{"content":{"Text":""}}]}}"#,
            r#"{"params":{"Arguments":{}}}"#,
            r#"{"result":{"prompts":[{"arguments":[{"Name":""}]}]}}"#,
            r#"{"result":{"inputRequests":{"a":{"Method":""}}}}"#,
        ] {
            assert!(ambiguity(odd).is_some(), "{odd}");
        }
        for good in [
            r#"{"params":{"arguments":{"Name":"","URL":"","ID":[{"Text":1}]}}}"#,
            r#"{"result":{"structuredContent":{"Content":1}}}"#,
            r#"{"result":{"content":{"Name":"Ada"}}}"#,
            r#"{"result":{"tools":[{"inputSchema":{"properties":{"Content":{}}}}]}}"#,
            r#"{"result":{"inputRequests":{"Name":{"method":""}}}}"#,
            r#"{"params":{"_meta":{"ID":1}}}"#,
            r#"{"result":{"contentType":"","x":{"y":1}}}"#,
        ] {
            assert_eq!(ambiguity(good), None, "{good}");
        }
        assert!(is_like_a_method("Tools/call") && !is_like_a_method("tools/call") && !is_like_a_method("own"));
    }
}
