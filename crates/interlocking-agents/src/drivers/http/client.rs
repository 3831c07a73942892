//! The connection to a provider (address, key, TLS), and the HTTP crate's connection to the [relay](Relay).

use std::sync::Arc;

use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use reqwest::Url;
use reqwest::redirect::Policy;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::relay::Relay;
use super::settings::HttpSettings;
use crate::agent::error::AgentErrorKind;
use crate::program::{Redactor, Secret};
use crate::real_calls::{is_loopback, without_secrets};

/// The text that is sent instead of a key to a server that needs no key.
const NO_KEY: &str = "none";

/// The HTTP client for one provider, and the provider's address.
#[derive(Clone)]
pub(super) struct Connection {
    provider: reqwest::Client,
    base_url: Url,
}

/// The key that the settings name, read from the environment.
pub(super) fn key_of(settings: &HttpSettings) -> Result<Secret, AgentErrorKind> {
    let Some(name) = settings.key_variable() else { return Ok(Secret::new(NO_KEY)) };
    Secret::from_variable(name).ok_or_else(|| {
        AgentErrorKind::configuration(format!(
            "there is no key for {}: set the environment variable {name}, or name another one in `api_key_variable`",
            settings.provider
        ))
    })
}

/// Removes the key from texts: a provider may repeat it in an error.
pub(super) fn redactor(key: &Secret) -> Redactor {
    Redactor::new((key.expose() != NO_KEY).then_some(key))
}

impl Connection {
    /// Makes a client with these settings. It does not connect yet.
    pub(super) fn new(settings: &HttpSettings) -> Result<Self, AgentErrorKind> {
        let url = base_url(settings)?;
        let builder = client_builder(&url)?;
        // A server on this machine is not contacted through a proxy.
        let builder = if is_loopback(url.as_str()) { builder.no_proxy() } else { builder };
        Ok(Self { provider: builder.build().map_err(no_client)?, base_url: url })
    }

    /// Opens the relay for one call.
    pub(super) async fn relay(&self, redactor: Redactor) -> Result<Relay<'_>, AgentErrorKind> {
        Relay::open(&self.provider, &self.base_url, redactor).await
    }

    /// The HTTP crate's client, which connects through the relay.
    pub(super) fn client(&self, relay: &Relay<'_>) -> Result<Client, AgentErrorKind> {
        let proxy = relay.proxy().map_err(no_client)?;
        let client = client_builder(&self.unencrypted())?.proxy(proxy).build().map_err(no_client)?;
        Client::builder().with_reqwest(client).build().map_err(no_client)
    }

    /// The URL for the HTTP crate. It uses plain HTTP to the relay, and the relay uses TLS to the provider.
    fn unencrypted(&self) -> Url {
        let mut url = self.base_url.clone();
        // Changing between `http` and `https` never fails.
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

/// The settings that both clients share.
fn client_builder(url: &Url) -> Result<reqwest::ClientBuilder, AgentErrorKind> {
    let builder = reqwest::Client::builder().tls_backend_preconfigured(tls(url)?).http1_only();
    // Without compression a small answer cannot expand to a large one. Another crate may have enabled these features.
    let builder = builder.no_gzip().no_brotli().no_zstd().no_deflate();
    // A redirect would send the key to another server: reqwest does not recognise every provider's key header as
    // sensitive.
    Ok(builder.redirect(Policy::none()))
}

fn no_client(error: impl std::fmt::Display) -> AgentErrorKind {
    AgentErrorKind::configuration(format!("no HTTP client can be made: {error}"))
}

/// The base URL with a slash at its end, because paths are appended to it.
pub(super) fn base_url(settings: &HttpSettings) -> Result<Url, AgentErrorKind> {
    let text = settings.address();
    let refused = |reason: &str| {
        let shown = without_secrets(text);
        AgentErrorKind::configuration(format!(
            "`base_url` {shown:?} {reason}: write it like `{}`",
            settings.provider.base_url()
        ))
    };
    let mut url = Url::parse(text).map_err(|error| refused(&format!("is no URL ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(refused("is no address of HTTP"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(AgentErrorKind::configuration(
            "`base_url` has a user or a password in it: keys are named by `api_key_variable`".to_owned(),
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused("has a query or a fragment, to which no path can be appended"));
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

/// Rustls with ring, and the system's root certificates. Plain HTTP needs no certificates, so none are loaded for it.
pub(super) fn tls(url: &Url) -> Result<ClientConfig, AgentErrorKind> {
    let failed = |error: rustls::Error| {
        AgentErrorKind::configuration(format!(
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
