//! Trust in the certificates of `--ca-file`.

use std::error::Error as _;
use std::io;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// Trusts the authorities of the system and these certificates.
///
/// # Errors
///
/// If a certificate cannot be parsed.
pub(super) fn config(named: &[CertificateDer<'static>], protocols: &[&str]) -> Result<ClientConfig, Error> {
    let default = || Arc::new(rustls::crypto::ring::default_provider());
    let provider = CryptoProvider::get_default().cloned().unwrap_or_else(default);
    let usual = Verifier::new_with_extra_roots(named.iter().cloned(), Arc::clone(&provider))?;
    let trust = Arc::new(Trust { named: named.to_vec(), usual });
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder.dangerous().with_custom_certificate_verifier(trust).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(config)
}

/// The usual verification, which also accepts exactly the named certificates. `openssl req -x509` makes certificates of
/// authorities, and often without a name of the host; the usual verification refuses both for servers.
#[derive(Debug)]
struct Trust {
    named: Vec<CertificateDer<'static>>,
    usual: Verifier,
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let refused = match self.usual.verify_server_cert(certificate, intermediates, name, response, now) {
            Ok(verified) => return Ok(verified),
            Err(refused) => refused,
        };
        if !self.named.contains(certificate) || is_final(&refused) {
            return Err(refused);
        }
        match verify_server_name(&ParsedCertificate::try_from(certificate)?, name) {
            Err(wrong) if !is_nameless(&wrong) => Err(wrong),
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

/// A certificate that is out of date, revoked or malformed is not trusted even if it is named.
const fn is_final(refused: &Error) -> bool {
    use CertificateError::{
        BadEncoding, BadSignature, Expired, ExpiredContext, NotValidYet, NotValidYetContext, Revoked,
    };
    !matches!(refused, Error::InvalidCertificate(_))
        || matches!(
            refused,
            Error::InvalidCertificate(
                BadEncoding
                    | BadSignature
                    | Expired
                    | ExpiredContext { .. }
                    | NotValidYet
                    | NotValidYetContext { .. }
                    | Revoked
            )
        )
}

/// If a certificate does not name any host, only the key shows its owner.
fn is_nameless(wrong: &Error) -> bool {
    matches!(
        wrong,
        Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. }) if presented.is_empty()
    )
}

/// `None` if no certificate caused the error.
pub(super) fn refusal(error: &reqwest::Error) -> Option<String> {
    let mut cause = error.source();
    while let Some(error) = cause {
        // Errors of I/O hide what they contain.
        let mut inner = error;
        while let Some(next) = inner.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            inner = next;
        }
        if let Some(Error::InvalidCertificate(refused)) = inner.downcast_ref() {
            return Some(in_words(refused));
        }
        cause = error.source();
    }
    None
}

fn in_words(refused: &CertificateError) -> String {
    match refused {
        CertificateError::UnknownIssuer => {
            "the certificate is self-signed, or its authority is unknown".to_owned()
        }
        // The crate with the type of the error is not a dependency.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "the certificate is self-signed".to_owned()
        }
        other => format!("invalid certificate: {other}"),
    }
}
