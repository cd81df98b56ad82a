using System;
using System.IO;
using System.Net.Sockets;
using System.Reflection;
using System.Security.Authentication;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.FileProviders;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Tare
{
    /// <summary>The contracts of Tare on ASP.NET Core: Kestrel and endpoint routing.</summary>
    public static class Program
    {
        /// <summary>How long requests in flight may take to end after SIGTERM.</summary>
        private static readonly TimeSpan Grace = TimeSpan.FromMilliseconds(250);

        public static async Task<int> Main(string[] args)
        {
            if (args.Length == 1 && args[0] == "--version")
            {
                Console.WriteLine(FrameworkVersion());
                return 0;
            }
            try
            {
                using IHost host = CreateHost(new Settings());
                await host.RunAsync();
                return 0;
            }
            catch (FormatException e)
            {
                return Fail(2, e);
            }
            catch (Exception e) when (e is IOException || e is SocketException) // the port cannot be bound
            {
                return Fail(1, e);
            }
            catch (OperationCanceledException) // requests were in flight for longer than the grace
            {
                return 0;
            }
        }

        private static IHost CreateHost(Settings settings)
        {
            return Host.CreateDefaultBuilder()
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureServices(services => AddServices(services, settings))
                .ConfigureWebHostDefaults(web => web
                    .ConfigureKestrel(kestrel => kestrel.Listen(
                        settings.ServeOn, settings.Port, endpoint => Configure(endpoint, settings)))
                    .Configure(app => Configure(app, settings)))
                .Build();
        }

        private static void AddServices(IServiceCollection services, Settings settings)
        {
            services.Configure<HostOptions>(o => o.ShutdownTimeout = Grace);
            if (settings.Products != null)
            {
                services.AddResponseCompression(o => o.EnableForHttps = true);
            }
            if (settings.Upstream != null)
            {
                Gateway.AddClient(services, settings.Upstream);
            }
        }

        private static void Configure(IApplicationBuilder app, Settings settings)
        {
            if (settings.StaticFolder != null)
            {
                app.UseStaticFiles(new StaticFileOptions
                {
                    FileProvider = new PhysicalFileProvider(settings.StaticFolder),
                    RequestPath = "/static",
                });
            }
            app.UseRouting().UseEndpoints(endpoints => Map(endpoints, settings));
        }

        private static void Map(IEndpointRouteBuilder endpoints, Settings settings)
        {
            Delay? delay = settings.Delay > TimeSpan.Zero ? new Delay(settings.Threads, settings.Delay) : null;
            new Routes(delay).Map(endpoints);
            Upload.Map(endpoints);
            if (settings.Products != null)
            {
                new Products(settings.Products).Map(endpoints);
            }
            if (settings.Upstream != null)
            {
                Gateway.Map(endpoints);
            }
        }

        /// <summary>By default an endpoint serves HTTP/1.1, and with TLS HTTP/2 too.</summary>
        private static void Configure(ListenOptions endpoint, Settings settings)
        {
            if (settings.Certificate != null)
            {
                // The default since .NET 5: what the system offers, hence TLS 1.3 too.
                endpoint.UseHttps(settings.Certificate, https => https.SslProtocols = SslProtocols.None);
            }
            else if (settings.Http2WithoutTls)
            {
                endpoint.Protocols = HttpProtocols.Http2;
            }
        }

        /// <summary>The version of the ASP.NET Core that runs this, without its build and commit.</summary>
        private static string FrameworkVersion()
        {
            var attribute = typeof(KestrelServer).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>();
            return attribute!.InformationalVersion.Split('+')[0].Split("-servicing")[0];
        }

        private static int Fail(int status, Exception e)
        {
            Console.Error.WriteLine(e.Message);
            return status;
        }
    }
}
