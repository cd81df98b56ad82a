/* A libssl.so.1.1 for .NET Core 3.1 where the system has OpenSSL 3.
 *
 * It does not start a build without that library, and asks it by name for each function that it might ever call. All but
 * these three it finds in the libraries of OpenSSL 3, with which this one is linked. It is only enough for what is really
 * called: hashing by a build without packages, and TLS by a service. A service over plain HTTP calls nothing of it. */

typedef struct evp_md_st EVP_MD;
typedef struct ssl_st SSL;
typedef struct x509_st X509;

int EVP_MD_get_size(const EVP_MD *md);
X509 *SSL_get1_peer_certificate(const SSL *ssl);

/* Renamed in OpenSSL 3. */
int EVP_MD_size(const EVP_MD *md) { return EVP_MD_get_size(md); }
X509 *SSL_get_peer_certificate(const SSL *ssl) { return SSL_get1_peer_certificate(ssl); }

/* Gone from OpenSSL 3: it kept an error for whoever would ask for it. */
void ERR_put_error(int library, int function, int reason, const char *file, int line) {
    (void)library, (void)function, (void)reason, (void)file, (void)line;
}
