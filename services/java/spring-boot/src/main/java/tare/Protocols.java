package tare;

import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.ssl.pem.PemSslStore;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;

/** Which of the files {@code application-PROFILE.properties} the variables ask for. */
final class Protocols {

  static String[] profiles(Settings settings) {
    List<String> profiles = new ArrayList<>();
    if (settings.tls()) {
      check(settings);
      profiles.add("tls");
    }
    if (settings.http2()) {
      profiles.add("http2");
    }
    return profiles.toArray(String[]::new);
  }

  private static void check(Settings settings) {
    String certificates = settings.certificates().toURI().toString();
    String key = settings.key().toURI().toString();
    try {
      var store =
          PemSslStore.load(PemSslStoreDetails.forCertificate(certificates).withPrivateKey(key));
      store.certificates();
      store.privateKey();
    } catch (RuntimeException e) {
      throw Settings.refuse("TLS_CERT or TLS_KEY cannot be used: " + e.getMessage());
    }
  }

  private Protocols() {}
}
