package tare;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Jetty takes a key store for TLS, and reads no PEM by itself. */
final class Tls {

  private static final char[] NO_PASSWORD = {};

  static SslContextFactory.Server contexts(Settings settings) {
    String name = "TLS_CERT";
    try {
      Certificate[] chain = chain(settings.certificates().toPath());
      name = "TLS_KEY";
      PrivateKey key = key(settings.key().toPath());
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, NO_PASSWORD);
      store.setKeyEntry("server", key, NO_PASSWORD, chain);
      SslContextFactory.Server contexts = new SslContextFactory.Server();
      contexts.setKeyStore(store);
      contexts.setKeyStorePassword("");
      return contexts;
    } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
      throw Settings.refuse(name + " cannot be used: " + e.getMessage());
    }
  }

  private static Certificate[] chain(Path file) throws IOException, CertificateException {
    var pem = new ByteArrayInputStream(Files.readAllBytes(file));
    return CertificateFactory.getInstance("X.509")
        .generateCertificates(pem)
        .toArray(new Certificate[0]);
  }

  private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
    String base64 = Files.readString(file).replaceAll("-----(BEGIN|END) PRIVATE KEY-----", "");
    byte[] der = Base64.getMimeDecoder().decode(base64);
    return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der));
  }

  private Tls() {}
}
