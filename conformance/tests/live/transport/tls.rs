//! TLS endpoints, also with aborted handshakes and wrong certificates.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustls::ServerConfig;

use super::authority::{OwnCertificate, config, file};
use super::in_front;
use crate::program::{Outcome, command, expect, folder, outcome, path};
use crate::server::{Server, text};

/// Starts a good endpoint with TLS that closes the connections with these numbers during the handshake.
fn secure(closed: &'static [usize]) -> String {
    serving(config(&[]), closed)
}

fn serving(config: Arc<ServerConfig>, closed: &'static [usize]) -> String {
    in_front(config, closed).url()
}

/// Returns the command for the scenario of a short text, streaming and not, with the default certificate authorities
/// only.
fn hello(url: &str) -> Command {
    let mut command = command(&["--target", url, "--model", "m", "text/hello"]);
    command.env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR");
    command
}

fn trusting(url: &str) -> Outcome {
    outcome(hello(url).arg("--ca-file").arg(file()))
}

#[test]
fn a_certificate_is_taken_whose_authority_was_named() {
    let passed = ["test text/hello::answer", " 0 failed; 0 ignored"];
    expect(&trusting(&secure(&[])), 0, &passed);
    // Or that the system knows.
    expect(&outcome(hello(&secure(&[])).env("SSL_CERT_FILE", file())), 0, &passed);
    // Or where the system knows none.
    let mut bare = hello(&secure(&[]));
    bare.env("SSL_CERT_FILE", "/nonexistent").env("SSL_CERT_DIR", "/nonexistent");
    expect(&outcome(bare.arg("--ca-file").arg(file())), 0, &passed);
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let run = outcome(&mut hello(&secure(&[])));
    let told = "the certificate is self-signed, or its authority is unknown; pass the certificate, or that of its \
                authority, with --ca-file";
    expect(&run, 2, &["harness error: no connection to ", told, "error[network]: no connection to "]);
    let is_passed = |line: &str| line.contains("::answer") && line.ends_with("ok");
    assert!(!run.stdout.lines().any(is_passed), "{}", run.stdout);
}

#[test]
fn a_certificate_for_another_host_is_refused() {
    let run = trusting(&secure(&[]).replace("127.0.0.1", "localhost"));
    expect(&run, 2, &["harness error: no connection to ", "not valid for name \"localhost\""]);
    assert!(!run.stdout.contains("--ca-file"), "{}", run.stdout);
}

#[test]
fn a_self_signed_certificate_is_taken_that_was_named_itself() {
    let folder = folder("self-signed");
    fs::create_dir_all(&folder).expect("it can be made");
    let named = |name: &str, own: &OwnCertificate| {
        let file = folder.join(name);
        fs::write(&file, &own.pem).expect("it can be written");
        file
    };
    let trusting = |own: &OwnCertificate, file: &Path| {
        outcome(hello(&serving(Arc::clone(&own.config), &[])).arg("--ca-file").arg(file))
    };
    let passed = ["test text/hello::answer", " 0 failed; 0 ignored"];
    let (own, nameless) = (OwnCertificate::new(&["127.0.0.1"]), OwnCertificate::new(&[]));
    let (file, file_of_nameless) = (named("own.pem", &own), named("nameless.pem", &nameless));
    expect(&trusting(&own, &file), 0, &passed);
    // Without names, exactly this certificate is trusted.
    expect(&trusting(&nameless, &file_of_nameless), 0, &passed);
    // Another one is not, nor one for another host, nor any that was not named.
    let of_others = OwnCertificate::new(&["other.invalid"]);
    let refused = [
        (trusting(&nameless, &file), "the certificate is self-signed"),
        (trusting(&of_others, &named("other.pem", &of_others)), "not valid for name \"127.0.0.1\""),
        (
            outcome(&mut hello(&serving(own.config, &[]))),
            "the certificate is self-signed; pass the certificate, or that of its authority, with --ca-file",
        ),
    ];
    for (run, told) in refused {
        expect(&run, 2, &["harness error: no connection to ", told]);
        assert!(
            !run.stdout.contains("OtherError") && !run.stdout.contains("::answer ... ok"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn only_certificates_can_be_trusted() {
    let folder = folder("authorities");
    fs::create_dir_all(&folder).expect("it can be made");
    let empty = folder.join("empty.pem");
    fs::write(&empty, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n")
        .expect("it can be written");
    for (file, problem) in
        [(&empty, "contains no PEM certificate"), (&folder.join("none.pem"), "No such file")]
    {
        let run = outcome(hello("https://127.0.0.1:1").arg("--ca-file").arg(file));
        assert!(run.code == Some(2) && run.stderr.contains(problem), "{}", run.stderr);
        assert!(run.stderr.contains(path(file)) && !run.stderr.contains("c2VjcmV0"), "{}", run.stderr);
    }
}

#[test]
fn where_no_authority_is_known_there_is_http() {
    let server = Server::new(text);
    let bare = |url: &str| {
        let mut command = hello(url);
        outcome(command.env("SSL_CERT_FILE", "/nonexistent").env("SSL_CERT_DIR", "/nonexistent"))
    };
    expect(&bare(&server.url), 0, &[" 0 failed; 0 ignored"]);
    let run = bare(&secure(&[]));
    assert!(run.code == Some(2) && run.stderr.contains("--ca-file"), "{}", run.stderr);
}

#[test]
fn a_handshake_that_breaks_off_leaves_the_rest() {
    let run = trusting(&secure(&[0]));
    expect(&run, 2, &["harness error: no connection to ", "tls handshake eof"]);
    let is_passed = |line: &str| line.starts_with("test text/hello.json::answer ") && line.ends_with("ok");
    assert!(run.stdout.lines().any(is_passed), "{}", run.stdout);
}
