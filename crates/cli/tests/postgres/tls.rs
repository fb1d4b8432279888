//! Encryption before a server that has none: a front that answers a client's wish for TLS, and carries what it decrypts.

use std::path::Path;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub struct Front {
    pub port: u16,
    _runtime: tokio::runtime::Runtime,
}

impl Front {
    /// A front with this certificate.
    pub fn before(port: u16, certificate: &Path, key: &Path) -> Front {
        let certificate = CertificateDer::from_pem_file(certificate).expect("a certificate");
        let key = PrivateKeyDer::from_pem_file(key).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("they belong together");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("made");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let own = listener.local_addr().expect("bound").port();
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, acceptor.clone(), port));
            }
        });
        Front { port: own, _runtime: runtime }
    }
}

async fn carry(mut client: TcpStream, acceptor: TlsAcceptor, port: u16) -> std::io::Result<()> {
    // PostgreSQL documentation, "SSL Session Encryption": a request of eight bytes, and the letter S.
    let mut request = [0; 8];
    client.read_exact(&mut request).await?;
    assert_eq!(request, [0, 0, 0, 8, 4, 210, 22, 47], "the client asks for encryption first");
    client.write_all(b"S").await?;
    let mut client = acceptor.accept(client).await?;
    let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
