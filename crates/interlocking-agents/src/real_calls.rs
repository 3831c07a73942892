//! A switch that forbids real calls, for tests: nothing is sent to a provider or spent by mistake.
//!
//! Agents that call a program or a provider ask [`permitted`] before each call, and before they check whether they are
//! [ready](crate::Agent::ready). Scripted and replaying agents make no real calls and do not ask.
//!
//! The environment variable [`SWITCH`] says what is permitted. Any unknown value means `forbid`, so that a misspelt
//! switch costs nothing:
//!
//! | | |
//! |---|---|
//! | `allow`, empty or unset | every call |
//! | `loopback` | calls that certainly go to this machine, such as to a model server that a test has started |
//! | `forbid` | no call |
//!
//! A call certainly goes to its base URL if no settings file and no variable of the agent's program can name another
//! provider.
//!
//! A program can [`restrict`] itself further, for the rest of its lifetime.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The environment variable that says which calls are permitted.
pub const SWITCH: &str = "INTERLOCKING_AGENTS";

/// Which calls of agents are permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RealCalls {
    /// Every call.
    #[default]
    Allow,
    /// Calls that certainly go to this machine.
    Loopback,
    /// No call.
    Forbid,
}

/// A real call is forbidden; nothing was started or sent.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error(
    "agent `{agent}` may not call {}: {switch}; play a script or replay a cassette instead, or {remedy}",
    target(base_url.as_deref())
)]
pub struct Forbidden {
    /// [`Agent::name`](crate::Agent::name).
    pub agent: String,
    /// Where the call would have gone. None if the agent's program decides where to send its calls.
    pub base_url: Option<String>,
    /// The environment variable or the restriction that forbids the call.
    pub switch: String,
    /// What to do if the call is intended.
    pub remedy: String,
}

/// Checks whether the agent named `agent` may start a program or send a request that calls a model. `base_url` is where
/// those requests certainly go; none if that is not known.
///
/// # Errors
///
/// [`Forbidden`] says what forbids the call.
pub fn permitted(agent: &str, base_url: Option<&str>) -> Result<(), Forbidden> {
    let said = std::env::var_os(SWITCH).map(|said| said.to_string_lossy().into_owned()).unwrap_or_default();
    decide(agent, base_url, &said, RESTRICTED.load(Ordering::Relaxed))
}

/// Restricts this process for the rest of its lifetime. A stricter restriction that is already in place is kept. For
/// the setup of tests and for programs that must not call a model.
pub fn restrict(calls: RealCalls) {
    RESTRICTED.fetch_max(calls as u8, Ordering::Relaxed);
}

/// The restriction of this process, as the number of a [`RealCalls`].
static RESTRICTED: AtomicU8 = AtomicU8::new(RealCalls::Allow as u8);

fn decide(agent: &str, base_url: Option<&str>, said: &str, restricted: u8) -> Result<(), Forbidden> {
    let is_local = base_url.is_some_and(is_loopback);
    let refuses = |calls| match calls {
        RealCalls::Allow => false,
        RealCalls::Loopback => !is_local,
        RealCalls::Forbid => true,
    };
    let (environment, known) = match said {
        "" | "allow" => (RealCalls::Allow, true),
        "loopback" => (RealCalls::Loopback, true),
        "forbid" => (RealCalls::Forbid, true),
        _ => (RealCalls::Forbid, false),
    };
    let own = match restricted {
        0 => RealCalls::Allow,
        1 => RealCalls::Loopback,
        _ => RealCalls::Forbid,
    };
    let (switch, remedy) = if refuses(environment) {
        let unknown = if known { "" } else { ", which is none of `allow`, `loopback` and `forbid`" };
        (format!("{SWITCH} is `{said}`{unknown}"), format!("set {SWITCH} to `allow`"))
    } else if refuses(own) {
        let what = if own == RealCalls::Loopback { "other than on this machine" } else { "at all" };
        (format!("this program has forbidden itself calls {what}"), "do not restrict it".to_owned())
    } else {
        return Ok(());
    };
    let remedy = match environment.max(own) {
        RealCalls::Loopback => format!("name a base URL on this machine, or {remedy}"),
        _ => remedy,
    };
    Err(Forbidden { agent: agent.to_owned(), base_url: base_url.map(without_secrets), switch, remedy })
}

/// Whether an `http` or `https` URL names this machine: `localhost`, or an address of 127.0.0.0/8 or ::1. False for a
/// URL that two parsers could read differently.
pub fn is_loopback(url: &str) -> bool {
    if url.chars().any(|character| character.is_control() || character.is_whitespace()) {
        return false;
    }
    let Some(authority) = authority(url) else { return false };
    let (host, rest) = match authority.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((address, rest)) => {
            return address.parse() == Ok(Ipv6Addr::LOCALHOST) && is_port(rest);
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_address = host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    (is_address || host.eq_ignore_ascii_case("localhost")) && is_port(rest)
}

/// The host and port of a URL; none if a user precedes them, or if there is no host.
fn authority(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let is_http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    (is_http && !authority.is_empty() && !authority.contains('@')).then_some(authority)
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}

/// The part of a URL that may be shown: a password can precede the host, and a key can follow it in the query.
pub(crate) fn without_secrets(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = &url[..end];
    match (url.split_once("://"), url.rfind('@')) {
        (Some((scheme, _)), Some(at)) => format!("{scheme}://{}", &url[at + 1..]),
        (None, Some(at)) => url[at + 1..].to_owned(),
        (_, None) => url.to_owned(),
    }
}

fn target(base_url: Option<&str>) -> String {
    match base_url {
        Some(url) => format!("the model at {url}"),
        None => "its model".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: &str = "http://127.0.0.1:4711/v1";
    const PROVIDER: &str = "https://api.example.com";

    #[test]
    fn only_what_is_surely_on_this_machine_is_loopback() {
        for url in [
            LOCAL,
            "http://127.0.0.1",
            "HTTP://LocalHost:80/",
            "http://127.9.9.9/x?y@z",
            "http://[::1]:80/",
            "https://localhost#a",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            PROVIDER,
            "127.0.0.1:80",
            "ftp://127.0.0.1",
            "http://127.0.0.1@example.com/",
            "http://user:key@127.0.0.1/",
            "http://127.0.0.1.example.com/",
            "http://localhost.example.com",
            "http://example.com/127.0.0.1",
            "http://example.com\\@127.0.0.1/",
            "http://127.0.0.1\t.example.com",
            "http://127.1/",
            "http://2130706433/",
            "http://0.0.0.0/",
            "http://[::1].example.com/",
            "http://[::1",
            "http://:80/",
            "http://127.0.0.1:80.example.com/",
            "http://",
            "",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }

    #[test]
    fn the_switch_and_the_program_each_can_only_forbid_more() {
        let allowed = |said: &str, own: RealCalls| {
            [None, Some(LOCAL), Some(PROVIDER)].map(|url| decide("claude", url, said, own as u8).is_ok())
        };
        for (said, own, expected) in [
            ("", RealCalls::Allow, [true; 3]),
            ("allow", RealCalls::Allow, [true; 3]),
            ("allow", RealCalls::Loopback, [false, true, false]),
            ("loopback", RealCalls::Allow, [false, true, false]),
            ("loopback", RealCalls::Forbid, [false; 3]),
            ("forbid", RealCalls::Allow, [false; 3]),
            ("forbit", RealCalls::Allow, [false; 3]),
            ("ALLOW", RealCalls::Allow, [false; 3]),
        ] {
            assert_eq!(allowed(said, own), expected, "{said:?} {own:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_switch_and_no_secret() {
        let refused = |url, said, own: RealCalls| decide("claude", url, said, own as u8).unwrap_err().to_string();
        assert_eq!(
            refused(None, "forbid", RealCalls::Allow),
            "agent `claude` may not call its model: INTERLOCKING_AGENTS is `forbid`; play a script or replay a cassette \
             instead, or set INTERLOCKING_AGENTS to `allow`"
        );
        assert_eq!(
            refused(Some("https://me:key@example.com/v1?key=key"), "loopback", RealCalls::Allow),
            "agent `claude` may not call the model at https://example.com/v1: INTERLOCKING_AGENTS is `loopback`; play a \
             script or replay a cassette instead, or name a base URL on this machine, or set INTERLOCKING_AGENTS to `allow`"
        );
        assert!(
            refused(None, "of", RealCalls::Allow).contains("`of`, which is none of `allow`, `loopback` and `forbid`")
        );
        assert!(refused(None, "", RealCalls::Forbid).contains("this program has forbidden itself calls at all"));
    }
}
