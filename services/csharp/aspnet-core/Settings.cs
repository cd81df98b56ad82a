using System;
using System.Globalization;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;

namespace Tare
{
    /// <summary>What the environment variables of Tare say.</summary>
    internal sealed class Settings
    {
        public Settings()
        {
            string? chain = Environment.GetEnvironmentVariable("TLS_CERT");
            string? key = Environment.GetEnvironmentVariable("TLS_KEY");
            if ((chain == null) != (key == null))
            {
                throw new FormatException("TLS_CERT and TLS_KEY must be set together");
            }
            string protocol = Environment.GetEnvironmentVariable("PROTOCOL") ?? "http/1.1";
            if (protocol != "http/1.1" && protocol != (chain == null ? "h2c" : "h2"))
            {
                throw new FormatException("PROTOCOL must be http/1.1, or h2 with TLS_CERT, or h2c without");
            }
            Http2WithoutTls = protocol == "h2c";
            Certificate = chain == null ? null : Load(chain, key!);
        }

        public int Port { get; } = Integer("PORT", "", 1, 65_535);

        public IPAddress ServeOn { get; } = IPv4("SERVE_ON", IPAddress.Loopback);

        public int Threads { get; } = Integer("THREADS", "1", 1, 1024);

        public TimeSpan Delay { get; } = TimeSpan.FromMilliseconds(Integer("DELAY_MS", "0", 0, 60_000));

        /// <summary>Null where the port does not speak TLS.</summary>
        public X509Certificate2? Certificate { get; }

        public bool Http2WithoutTls { get; }

        /// <summary>Null where there are no routes of it, as with the two after it.</summary>
        public Product[]? Products { get; } = ReadProducts("DATA_PRODUCTS");

        public string? StaticFolder { get; } = Folder("FOLDER_STATIC");

        public Uri? Upstream { get; } = HttpUrl("UPSTREAM_URL");

        private static int Integer(string name, string fallback, int min, int max)
        {
            string text = Environment.GetEnvironmentVariable(name) ?? fallback;
            if (int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int value)
                && value >= min && value <= max)
            {
                return value;
            }
            throw new FormatException($"{name} must be an integer from {min} to {max}");
        }

        /// <summary>Takes what it would write itself: TryParse also reads forms such as 127.1.</summary>
        private static IPAddress IPv4(string name, IPAddress fallback)
        {
            string? text = Environment.GetEnvironmentVariable(name);
            if (string.IsNullOrEmpty(text))
            {
                return fallback;
            }
            if (IPAddress.TryParse(text, out IPAddress? address)
                && address.AddressFamily == AddressFamily.InterNetwork && address.ToString() == text)
            {
                return address;
            }
            throw new FormatException($"{name} must be an IPv4 address, such as 0.0.0.0, not \"{text}\"");
        }

        private static Product[]? ReadProducts(string name)
        {
            string? file = Environment.GetEnvironmentVariable(name);
            if (file == null)
            {
                return null;
            }
            try
            {
                return Tare.Products.Parse(File.ReadAllText(file));
            }
            catch (Exception e) when (e is IOException || e is UnauthorizedAccessException || e is ArgumentException
                || e is JsonException)
            {
                throw new FormatException($"{name} cannot be used: {e.Message}");
            }
        }

        private static string? Folder(string name)
        {
            string? folder = Environment.GetEnvironmentVariable(name);
            if (folder != null && !Directory.Exists(folder))
            {
                throw new FormatException($"{name} must be a folder");
            }
            return folder == null ? null : Path.GetFullPath(folder);
        }

        private static Uri? HttpUrl(string name)
        {
            string? text = Environment.GetEnvironmentVariable(name);
            if (text == null)
            {
                return null;
            }
            if (Uri.TryCreate(text, UriKind.Absolute, out Uri? url) && url.Scheme == Uri.UriSchemeHttp)
            {
                return url;
            }
            throw new FormatException($"{name} must be a URL that begins with http://");
        }

        private static X509Certificate2 Load(string chainFile, string keyFile)
        {
            string name = "TLS_CERT";
            try
            {
                using var certificate = new X509Certificate2(chainFile);
                name = "TLS_KEY";
                using ECDsa key = ECDsa.Create();
                ImportPem(key, File.ReadAllText(keyFile));
                return certificate.CopyWithPrivateKey(key);
            }
            catch (Exception e) when (e is IOException || e is UnauthorizedAccessException || e is FormatException
                || e is ArgumentException || e is CryptographicException)
            {
                throw new FormatException($"{name} cannot be used: {e.Message}");
            }
        }

        private static void ImportPem(ECDsa key, string pem)
        {
#if NET5_0_OR_GREATER
            key.ImportFromPem(pem);
#else
            // .NET Core 3.1 reads the key, but not the text around it.
            string base64 = pem.Replace("-----BEGIN PRIVATE KEY-----", "").Replace("-----END PRIVATE KEY-----", "");
            key.ImportPkcs8PrivateKey(Convert.FromBase64String(base64), out _);
#endif
        }
    }
}
