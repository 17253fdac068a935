//! Signed certificates: an in-toto statement in a DSSE envelope, as a bundle of Sigstore holds it.

use std::io::ErrorKind;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CERTIFICATE, Certificate, PAGE, SIGNATURE};
use crate::digest::hash;
use crate::evidence::{Evidence, REPORT, RUN};
use results::{ProfileReport, ProfileState};

/// The signed files, in addition to the exchanges, whose hashes are in `run.json`.
const SIGNED: [&str; 4] = [CERTIFICATE, PAGE, REPORT, RUN];
const PAYLOAD: &str = "application/vnd.in-toto+json";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The DER prefix of an Ed25519 public key.
const PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// A bundle of Sigstore with a public key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Bundle {
    media_type: String,
    verification_material: Material,
    dsse_envelope: Envelope,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Material {
    public_key: Hint,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hint {
    hint: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<Signature>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    keyid: String,
    sig: String,
}

/// Signs a statement about the files of a run with a private key: Ed25519, PKCS #8, PEM.
///
/// # Errors
///
/// When the key is another one, or the signature cannot be written.
pub fn sign(evidence: &Evidence, statement: &Value, key: &[u8]) -> Result<(), String> {
    let der = PrivatePkcs8KeyDer::from_pem_slice(key).map_err(|_| {
        if SubjectPublicKeyInfoDer::from_pem_slice(key).is_ok() {
            "this is a public key; a certificate is signed with the private key".to_owned()
        } else {
            "not a PKCS #8 private key in PEM, as `openssl genpkey -algorithm ed25519` makes it".to_owned()
        }
    })?;
    let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der())
        .map_err(|error| format!("not an Ed25519 private key: {error}"))?;
    let public = [&PREFIX, key.public_key().as_ref()].concat();
    let payload = statement.to_string();
    let sig = BASE64_STANDARD.encode(key.sign(&encoding(payload.as_bytes())));
    let keyid = hash(&public);
    let bundle = Bundle {
        media_type: BUNDLE.to_owned(),
        verification_material: Material { public_key: Hint { hint: keyid.clone() } },
        dsse_envelope: Envelope {
            payload: BASE64_STANDARD.encode(payload),
            payload_type: PAYLOAD.to_owned(),
            signatures: vec![Signature { keyid, sig }],
        },
    };
    let text = serde_json::to_string_pretty(&bundle).map_err(|error| error.to_string())? + "\n";
    evidence.write(SIGNATURE, &text).map_err(|error| error.to_string())
}

/// Whether the owner of a key has signed a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signed {
    /// Signed by the key with this SHA-256.
    By(String),
    /// There is no signature.
    Not,
    /// There is another signature, with the difference.
    Otherwise(String),
}

/// Returns whether a statement about the files of a run was signed by the owner of a public key: Ed25519, PEM.
///
/// # Errors
///
/// When the key is no such key.
pub fn signed(evidence: &Evidence, statement: Result<Value, String>, key: &[u8]) -> Result<Signed, String> {
    let der = SubjectPublicKeyInfoDer::from_pem_slice(key)
        .map_err(|_| "not a public key in PEM, as `openssl pkey -pubout` makes it".to_owned())?;
    let public = der.as_ref().strip_prefix(&PREFIX).ok_or("not an Ed25519 public key")?;
    if evidence.read(SIGNATURE).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Ok(Signed::Not);
    }
    Ok(match problem(evidence, statement, public) {
        Ok(()) => Signed::By(hash(der.as_ref())),
        Err(problem) => Signed::Otherwise(format!("{SIGNATURE}: {problem}")),
    })
}

fn problem(evidence: &Evidence, statement: Result<Value, String>, public: &[u8]) -> Result<(), String> {
    let text = evidence.read(SIGNATURE).map_err(|error| format!("cannot be read: {error}"))?;
    let bundle: Bundle =
        serde_json::from_slice(&text).map_err(|error| format!("not a bundle with a key: {error}"))?;
    let envelope = bundle.dsse_envelope;
    if bundle.media_type != BUNDLE || envelope.payload_type != PAYLOAD {
        return Err("does not contain an in-toto statement".to_owned());
    }
    let decode = |text: &str| BASE64_STANDARD.decode(text).map_err(|error| error.to_string());
    let payload = decode(&envelope.payload)?;
    let [signature] = envelope.signatures.as_slice() else {
        return Err("must have exactly one signature".to_owned());
    };
    UnparsedPublicKey::new(&ED25519, public)
        .verify(&encoding(&payload), &decode(&signature.sig)?)
        .map_err(|_| "the signature does not match this key and statement".to_owned())?;
    let signed: Value = serde_json::from_slice(&payload).map_err(|error| error.to_string())?;
    if signed == statement? { Ok(()) } else { Err("the signed files differ".to_owned()) }
}

/// Returns the in-toto statement that is signed: a test result about the files of a run. It has passed if all profiles
/// that the run was asked for, or exercised, have passed.
///
/// # Errors
///
/// When the certificate cannot be read.
pub fn statement(evidence: &Evidence) -> Result<Value, String> {
    let certificate = evidence.read(CERTIFICATE).map_err(|error| error.to_string())?;
    let certificate: Certificate = serde_json::from_slice(&certificate).map_err(|error| error.to_string())?;
    let claimed: Vec<ProfileState> = certificate.claimed().map(|profile| profile.state).collect();
    of_profiles(evidence, &SIGNED, RUN, &certificate.profiles, &claimed)
}

/// Returns an in-toto statement with the results of profiles. It has passed if all claimed ones have passed.
///
/// # Errors
///
/// As [`test_result`].
pub fn of_profiles(
    evidence: &Evidence,
    files: &[&str],
    configuration: &str,
    profiles: &[ProfileReport],
    states: &[ProfileState],
) -> Result<Value, String> {
    let of = |state: ProfileState| -> Vec<&str> {
        profiles.iter().filter(|it| it.state == state).map(|it| &*it.name).collect()
    };
    let result = if states.contains(&ProfileState::Failed) {
        "FAILED"
    } else if !states.is_empty() && states.iter().all(|state| *state == ProfileState::Passed) {
        "PASSED"
    } else {
        "WARNED"
    };
    let by_state = [ProfileState::Passed, ProfileState::Incomplete, ProfileState::Failed].map(of);
    test_result(evidence, files, configuration, result, by_state)
}

/// Returns an in-toto statement with a test result about files of a run, of which one has its configuration, and with the
/// profiles that passed, that are incomplete, and that failed.
///
/// # Errors
///
/// When a file cannot be read.
pub fn test_result(
    evidence: &Evidence,
    files: &[&str],
    configuration: &str,
    result: &str,
    [passed, incomplete, failed]: [Vec<&str>; 3],
) -> Result<Value, String> {
    let digest = |file: &str| -> Result<Value, String> {
        let bytes = evidence.read(file).map_err(|error| format!("{file}: {error}"))?;
        Ok(json!({"name": file, "digest": {"sha256": hash(&bytes)}}))
    };
    let subject = files.iter().map(|file| digest(file)).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subject,
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": {
            "result": result,
            "configuration": [digest(configuration)?],
            "passedTests": passed,
            "warnedTests": incomplete,
            "failedTests": failed,
        },
    }))
}

fn encoding(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {PAYLOAD} {} ", PAYLOAD.len(), payload.len());
    [head.as_bytes(), payload].concat()
}
