//! Finds secrets in the settings of tools before a preset grants these files.
//!
//! The files belong to the user, so this finds secrets in their usual places, not secrets that are hidden on purpose.

use crate::regular_file::{self, Links};
use std::path::PathBuf;

/// The most bytes of a settings file that are read: 1 MiB.
const MOST: u64 = 1 << 20;

/// A settings file that a preset grants if it contains no secrets.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Format {
    Cargo,
    Git,
}

impl Settings {
    pub(crate) fn new(path: impl Into<PathBuf>, format: Format) -> Self {
        Self { path: path.into(), format }
    }

    /// The names of the settings that look secret, in order, never their values. Empty if the file does not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be read or parsed, is no regular file (a directory would be granted with all that is in it),
    /// or is larger than 1 MiB, and so may contain secrets.
    pub(crate) fn secrets(&self) -> Result<Vec<String>, String> {
        // A directory above a place may be writable for other users, so the file can be anything.
        let text = match regular_file::read(&self.path, Links::Followed, MOST) {
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            read => String::from_utf8_lossy(&read.map_err(|error| error.to_string())?).into_owned(),
        };
        match self.format {
            Format::Cargo => {
                let table = text.parse::<toml::Table>().map_err(|error| error.message().to_owned())?;
                let mut found = Vec::new();
                in_table(&table, "", &mut found);
                Ok(found)
            }
            Format::Git => Ok(in_git(&text)),
        }
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn in_table(table: &toml::Table, prefix: &str, found: &mut Vec<String>) {
    for (key, value) in table {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        let is_secret = match value {
            // In `[env]`, a variable can be a table with its value and options.
            toml::Value::Table(inner) if prefix == "env" => {
                inner.get("value").is_some_and(|value| is_text(value) && (is_secret_name(key) || has_password(value)))
            }
            toml::Value::Table(inner) => {
                in_table(inner, &name, found);
                false
            }
            value => has_password(value) || (is_text(value) && is_secret_name(key)),
        };
        if is_secret {
            found.push(name);
        }
    }
}

fn is_text(value: &toml::Value) -> bool {
    matches!(value, toml::Value::String(_) | toml::Value::Array(_))
}

fn has_password(value: &toml::Value) -> bool {
    match value {
        toml::Value::String(text) => has_login(text),
        toml::Value::Array(values) => values.iter().any(has_password),
        toml::Value::Table(table) => table.values().any(has_password),
        _ => false,
    }
}

/// Finds secrets line by line. Values that git joins over several lines are not joined.
fn in_git(text: &str) -> Vec<String> {
    let (mut section, mut found) = (String::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        let setting = match line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            Some((name, rest)) => {
                if has_login(name) {
                    // The section name itself contains the secret and must not be shown.
                    found.push(name.split_whitespace().next().unwrap_or_default().to_owned());
                    section = "…".to_owned();
                } else {
                    section = name.replace(" \"", ".").replace('"', "");
                }
                rest.trim()
            }
            None => line,
        };
        let Some((key, value)) = setting.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        let is_switch = ["true", "false", "yes", "no", "on", "off", "0", "1", ""].contains(&value);
        let helper_prints_it = key.eq_ignore_ascii_case("helper") && value.contains("password=");
        if has_login(value) || helper_prints_it || (is_secret_name(key) && !is_switch) {
            found.push(format!("{section}.{key}"));
        }
    }
    found
}

fn is_secret_name(name: &str) -> bool {
    const PARTS: [&str; 12] = [
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "smtppass",
        "api_key",
        "apikey",
        "access_key",
        "private_key",
        "authorization",
        "extraheader",
    ];
    let name = name.to_ascii_lowercase().replace('-', "_");
    PARTS.iter().any(|part| name.contains(part))
}

/// Whether the text contains a URL with a password, or a web URL with a user name, which may be a token.
fn has_login(text: &str) -> bool {
    text.match_indices("://").any(|(position, separator)| {
        let is_web = text[..position].ends_with("http") || text[..position].ends_with("https");
        let authority = text[position + separator.len()..].split(['/', '?', '#', '"', '\'']).next().unwrap_or_default();
        let login = authority.rsplit_once('@').map(|(login, _)| login);
        login.is_some_and(|login| is_web || login.contains(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, format: Format) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("settings");
        std::fs::write(&path, text).unwrap();
        Settings::new(path, format).secrets().unwrap()
    }

    #[test]
    fn what_looks_secret_in_cargos_settings_is_named() {
        let cargo = |text| found(text, Format::Cargo);
        assert_eq!(cargo("[registry]\ntoken = 'x'\n"), ["registry.token"]);
        assert_eq!(cargo("[registries.work]\nindex = 'sparse+https://x/'\ntoken = 'x'"), ["registries.work.token"]);
        assert_eq!(cargo("registries = { work = { secret-key = 'x' } }"), ["registries.work.secret-key"]);
        assert_eq!(cargo("[http]\nproxy = 'http://me:word@proxy:80'"), ["http.proxy"]);
        assert_eq!(cargo("[source.x]\nregistry = 'https://word@example.org/x'"), ["source.x.registry"]);
        assert_eq!(cargo("[env]\nWORK_TOKEN = 'x'\nA_SECRET = { value = 'x', force = true }\nCC = 'cc'").len(), 2);
        assert_eq!(cargo("[target.x]\nrustflags = ['--cfg', 'url=\"https://a:b@c\"']"), ["target.x.rustflags"]);
    }

    #[test]
    fn ordinary_settings_of_cargo_are_not_secret() {
        let text = r#"
            [registry]
            global-credential-providers = ["cargo:token"]
            [registries.work]
            index = "ssh://git@example.org/index.git"
            credential-provider = ["cargo:token-from-stdout", "get-token"]
            [build]
            rustc-wrapper = "sccache"
            [net]
            git-fetch-with-cli = true
            [source.crates-io]
            replace-with = "mirror"
            [source.mirror]
            registry = "sparse+https://example.org/a@b/"
        "#;
        assert_eq!(found(text, Format::Cargo), Vec::<String>::new());
    }

    #[test]
    fn what_looks_secret_in_gits_settings_is_named() {
        let git = |text| found(text, Format::Git);
        assert_eq!(
            git("[http \"https://example.org\"]\n\textraHeader = Authorization: Basic x\n"),
            ["http.https://example.org.extraHeader"]
        );
        // The address is not shown, as it contains the secret.
        assert_eq!(git("[url \"https://word@example.org/\"]\n\tinsteadOf = https://example.org/\n"), ["url"]);
        assert_eq!(git("[credential]\nhelper = \"!f() { echo password=x; }; f\"\n"), ["credential.helper"]);
        assert_eq!(git("[github] token = x\n[sendemail]\nsmtpPass=x"), ["github.token", "sendemail.smtpPass"]);
    }

    #[test]
    fn ordinary_settings_of_git_are_not_secret() {
        let text = "[user]\n\tname = Ada\n\temail = ada@example.org\n\tsigningKey = ABC\n[credential]\n\thelper = store\n\
                    [http]\n\tsslCertPasswordProtected = true\n# token = x\n[url \"ssh://git@example.org/\"]\n\tinsteadOf = x:\n";
        assert_eq!(found(text, Format::Git), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_is_not_there_has_no_secrets_and_one_that_cannot_be_understood_might() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        assert_eq!(Settings::new(&path, Format::Cargo).secrets(), Ok(Vec::new()));
        std::fs::write(&path, "token = ").unwrap();
        assert!(Settings::new(&path, Format::Cargo).secrets().is_err());
    }

    /// Another user may have put them into a directory above the place.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_a_device_and_a_huge_file_are_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", at("device")).unwrap();
        std::fs::File::create(at("huge")).unwrap().set_len(1 << 40).unwrap();
        std::fs::create_dir(at("directory")).unwrap();
        let refused = |name| Settings::new(at(name), Format::Cargo).secrets().unwrap_err();
        assert_eq!(refused("pipe"), "it is no regular file");
        assert_eq!(refused("device"), "it is no regular file");
        assert_eq!(refused("huge"), "it is larger than 1048576 bytes");
        assert_eq!(refused("directory"), "it is no regular file");
    }
}
