// Prints what is at a URL, by a connection that blocks and by one in the background.

import java.io.FileInputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

public class Fetch {
    public static void main(String[] arguments) throws Exception {
        URI uri = URI.create(arguments[0]);
        HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
        if (connection instanceof HttpsURLConnection https) {
            https.setSSLSocketFactory(trust().getSocketFactory());
        }
        try {
            System.out.write(connection.getInputStream().readAllBytes());
        } catch (UnknownHostException unknown) {
            System.err.println("not resolved: " + unknown);
            System.exit(1);
        }
        System.out.flush();
    }

    static SSLContext trust() throws Exception {
        String file = System.getenv("SSL_CERT_FILE");
        SSLContext context = SSLContext.getInstance("TLS");
        if (file == null) {
            return SSLContext.getDefault();
        }
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (FileInputStream stream = new FileInputStream(file)) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(stream));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        context.init(null, factory.getTrustManagers(), null);
        return context;
    }
}

class FetchInBackground {
    public static void main(String[] arguments) throws Exception {
        URI uri = URI.create(arguments[0]);
        HttpClient client = HttpClient.newBuilder().sslContext(Fetch.trust()).version(HttpClient.Version.HTTP_1_1).build();
        try {
            System.out.print(client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString()).body());
        } catch (java.net.ConnectException failed) {
            boolean unresolved = failed.getCause() != null && failed.getCause().getCause() instanceof UnresolvedAddressException
                || failed.getCause() instanceof UnresolvedAddressException || failed.toString().contains("Unresolved");
            System.err.println((unresolved ? "not resolved: " : "") + failed + " " + failed.getCause());
            System.exit(1);
        }
        System.exit(0);
    }
}
