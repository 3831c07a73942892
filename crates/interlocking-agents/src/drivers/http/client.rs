//! The connection to a provider: address, key, TLS; and the HTTP crate's to [what is between](Relay).

use std::sync::Arc;

use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use reqwest::Url;
use reqwest::redirect::Policy;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::failure::configuration;
use super::relay::Relay;
use super::settings::HttpSettings;
use crate::agent::error::AgentErrorKind;
use crate::program::{Redactor, Secret};
use crate::real_calls::is_loopback;

/// What is sent instead of a key to a server that wants none.
const NO_KEY: &str = "none";

/// A client of one provider.
#[derive(Clone)]
pub(super) struct Connection {
    provider: reqwest::Client,
    base_url: Url,
}

/// The key that the settings name, as it is now.
pub(super) fn key_of(settings: &HttpSettings) -> Result<Secret, AgentErrorKind> {
    let Some(name) = settings.key_variable() else { return Ok(Secret::new(NO_KEY)) };
    Secret::from_variable(name).ok_or_else(|| {
        configuration(format!(
            "there is no key for {}: set the environment variable {name}, or name another one in `api_key_variable`",
            settings.provider
        ))
    })
}

/// What takes the key out of a text: a provider may repeat it in an error.
pub(super) fn redactor(key: &Secret) -> Redactor {
    Redactor::new((key.expose() != NO_KEY).then_some(key))
}

impl Connection {
    /// A client as the settings say. Connects to nothing yet.
    pub(super) fn new(settings: &HttpSettings) -> Result<Self, AgentErrorKind> {
        let url = base_url(settings)?;
        let builder = plain(&url)?;
        // What is on this machine is not asked through a proxy.
        let builder = if is_loopback(url.as_str()) { builder.no_proxy() } else { builder };
        Ok(Self { provider: builder.build().map_err(no_client)?, base_url: url })
    }

    /// The way of one call.
    pub(super) async fn relay(&self, redactor: Redactor) -> Result<Relay<'_>, AgentErrorKind> {
        Relay::open(&self.provider, &self.base_url, redactor).await
    }

    /// The HTTP crate, which goes that way.
    pub(super) fn client(&self, relay: &Relay<'_>) -> Result<Client, AgentErrorKind> {
        let proxy = relay.proxy().map_err(no_client)?;
        let client = plain(&self.unencrypted())?.proxy(proxy).build().map_err(no_client)?;
        Client::builder().with_reqwest(client).build().map_err(no_client)
    }

    /// Where the HTTP crate asks: the relay, which it goes through, asks over TLS.
    fn unencrypted(&self) -> Url {
        let mut url = self.base_url.clone();
        // Between two schemes of the web it can always be changed.
        let _ = url.set_scheme("http");
        url
    }

    pub(super) fn target(&self, settings: &HttpSettings, key: &Secret, model: &str) -> ServiceTarget {
        ServiceTarget {
            endpoint: Endpoint::from_owned(self.unencrypted().as_str()),
            auth: AuthData::from_single(key.expose()),
            model: ModelIden::new(settings.provider.adapter(), model),
        }
    }
}

/// What both clients are.
fn plain(url: &Url) -> Result<reqwest::ClientBuilder, AgentErrorKind> {
    let builder = reqwest::Client::builder().tls_backend_preconfigured(tls(url)?).http1_only();
    // Little that came can then not be much that is held. Another crate may have switched these on.
    let builder = builder.no_gzip().no_brotli().no_zstd().no_deflate();
    // A redirect would take the key to wherever it leads: not every provider's header for it is known as one.
    Ok(builder.redirect(Policy::none()))
}

fn no_client(error: impl std::fmt::Display) -> AgentErrorKind {
    configuration(format!("no HTTP client can be made: {error}"))
}

/// With a slash at its end, as paths are put behind it.
pub(super) fn base_url(settings: &HttpSettings) -> Result<Url, AgentErrorKind> {
    let text = settings.address();
    let refused = |reason: &str| {
        configuration(format!("`base_url` {text:?} {reason}: write it like `{}`", settings.provider.base_url()))
    };
    let mut url = Url::parse(text).map_err(|error| refused(&format!("is no URL ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(refused("is no address of HTTP"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(configuration(
            "`base_url` has a user or a password in it: keys are named by `api_key_variable`".to_owned(),
        ));
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

/// Rustls on ring, with the roots that the system trusts. For plain HTTP none are needed, nor looked for.
pub(super) fn tls(url: &Url) -> Result<ClientConfig, AgentErrorKind> {
    let failed = |error: rustls::Error| {
        configuration(format!(
            "the certificates that this system trusts cannot be used: {error}; install ca-certificates"
        ))
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(failed)?;
    let builder = if url.scheme() == "https" {
        builder.with_platform_verifier().map_err(failed)?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}
