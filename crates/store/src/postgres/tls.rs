//! Encrypted connections, and the authorities whose certificates are trusted.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Result, StoreError};

/// Prepares encrypted connections. A server's certificate is checked against the authorities in a PEM file, or without one against
/// those that Mozilla trusts, and has to name the host.
///
/// # Errors
/// The file cannot be read, or holds no certificate.
pub(super) fn connector(authorities: Option<&Path>) -> Result<MakeRustlsConnect> {
    let roots = match authorities {
        Some(file) => read(file)?,
        None => RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() },
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = match ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions() {
        Ok(config) => config,
        // The provider above has these versions.
        Err(_) => unreachable!("the provider supports the default versions"),
    };
    Ok(MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth()))
}

fn read(file: &Path) -> Result<RootCertStore> {
    let refused = |reason: String| StoreError::Database {
        path: file.into(),
        reason: format!("sslrootcert: {reason}; it must be a PEM file with the certificate of an authority"),
    };
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| refused(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let added = certificate.map_err(|error| refused(error.to_string()));
        roots.add(added?).map_err(|error| refused(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(refused("no certificate is in it".to_owned()));
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_authority_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing.pem");
        let empty = directory.path().join("empty.pem");
        std::fs::write(&empty, "none\n").unwrap();
        for file in [missing, empty] {
            let Err(error) = connector(Some(&file)) else { panic!("{} has no certificate", file.display()) };
            let error = error.to_string();
            assert!(error.starts_with(&*file.to_string_lossy()) && error.contains("sslrootcert"), "{error}");
        }
    }
}
