//! Certificates generated for a run of the tests, of an untrusted authority.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, OnceLock};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Whom certificates are for.
const NAMES: [&str; 2] = ["127.0.0.1", "gateway.invalid"];

struct Authority {
    pem: String,
    leaf: CertificateDer<'static>,
    key: Vec<u8>,
}

fn authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(|| {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "an authority that nobody knows");
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().expect("a key");
        let leaf = CertificateParams::new(NAMES.map(str::to_owned)).expect("they are names");
        let leaf = leaf.signed_by(&key, &issuer).expect("a certificate");
        Authority { pem, leaf: leaf.der().clone(), key: key.serialize_der() }
    })
}

/// How `openssl req -x509` makes a certificate: signed by its own key, that of an authority, for these names.
pub(crate) struct OwnCertificate {
    pub(crate) pem: String,
    pub(crate) config: Arc<ServerConfig>,
}

impl OwnCertificate {
    pub(crate) fn new(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("they are names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "localhost");
        let key = KeyPair::generate().expect("a key");
        let own = params.self_signed(&key).expect("a certificate");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Self { pem: own.pem(), config: serving(own.der().clone(), key, &[]) }
    }
}

/// Returns the file with the certificate of the authority.
pub(crate) fn file() -> PathBuf {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let name = format!("authority-{}.pem", process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, &authority().pem).expect("it can be written");
        path
    };
    FILE.get_or_init(make).clone()
}

/// Returns the TLS configuration of a server that supports these protocols, in order of preference.
pub(crate) fn config(protocols: &[&str]) -> Arc<ServerConfig> {
    let Authority { leaf, key, .. } = authority();
    serving(leaf.clone(), PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.clone())), protocols)
}

fn serving(
    leaf: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    protocols: &[&str],
) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("they fit together");
    let config = builder.with_no_client_auth().with_single_cert(vec![leaf], key);
    let mut config = config.expect("the key is that of the certificate");
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}
