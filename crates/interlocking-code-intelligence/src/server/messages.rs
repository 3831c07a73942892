//! The messages of a server, with only the fields of the protocol that are used.

use serde::Deserialize;
use serde_json::Value;

/// A message from a server: a response, a request, or a notification.
#[derive(Debug, Deserialize)]
pub(super) struct Incoming {
    pub(super) id: Option<Value>,
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
    #[serde(default)]
    pub(super) result: Value,
    pub(super) error: Option<ResponseError>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ResponseError {
    #[serde(default)]
    pub(super) code: i64,
    pub(super) message: String,
}

impl ResponseError {
    /// Whether the server asks for the same request again, because files have changed while it was answering (`ContentModified` and
    /// `ServerCancelled`).
    pub(super) fn is_for_now(&self) -> bool {
        matches!(self.code, -32801 | -32802)
    }
}

/// The answer to `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialized {
    pub(super) capabilities: Capabilities,
    pub(super) server_info: Option<ServerInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Capabilities {
    pub(super) position_encoding: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ServerInfo {
    pub(super) name: String,
    pub(super) version: Option<String>,
}

/// The status that rust-analyzer reports.
#[derive(Debug, Deserialize)]
pub(super) struct ServerStatus {
    pub(super) health: String,
    #[serde(default)]
    pub(super) quiescent: bool,
    pub(super) message: Option<String>,
}

/// A position of the protocol: counted from 0, in units of the negotiated encoding.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct WirePosition {
    pub(super) line: u32,
    pub(super) character: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct WireRange {
    pub(super) start: WirePosition,
    pub(super) end: WirePosition,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentSymbol {
    pub(super) name: String,
    pub(super) kind: u32,
    pub(super) range: WireRange,
    pub(super) selection_range: WireRange,
    #[serde(default)]
    pub(super) children: Vec<Self>,
}

/// Where a name is defined, in either form of the protocol.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Definition {
    #[serde(rename_all = "camelCase")]
    Link {
        target_uri: String,
        target_selection_range: WireRange,
    },
    Location {
        uri: String,
        range: WireRange,
    },
}

/// The definitions of a name: none, one, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Definitions {
    Several(Vec<Definition>),
    One(Definition),
    None(()),
}

/// A function in the call hierarchy. The server gets its item back unchanged, so the caller keeps the whole JSON value, too.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallHierarchyItem {
    pub(super) name: String,
    pub(super) uri: String,
    pub(super) selection_range: WireRange,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutgoingCall {
    pub(super) to: CallHierarchyItem,
    pub(super) from_ranges: Vec<WireRange>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Hover {
    pub(super) contents: HoverContents,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum HoverContents {
    Text(String),
    Marked { value: String },
    Several(Vec<Self>),
}

impl HoverContents {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) | Self::Marked { value: text } => text,
            Self::Several(parts) => parts.into_iter().map(Self::into_text).collect::<Vec<_>>().join("\n\n"),
        }
    }
}
