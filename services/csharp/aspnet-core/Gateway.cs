using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

namespace Tare
{
    /// <summary>Asks another server, and answers what it says with a member more.</summary>
    internal sealed class Gateway
    {
        private const string ClientName = "upstream";

        private readonly IHttpClientFactory clients;

        private Gateway(IHttpClientFactory clients)
        {
            this.clients = clients;
        }

        public static void AddClient(IServiceCollection services, Uri upstream)
        {
            services.AddHttpClient(ClientName, client => client.BaseAddress = upstream);
        }

        public static void Map(IEndpointRouteBuilder endpoints)
        {
            var gateway = new Gateway(endpoints.ServiceProvider.GetRequiredService<IHttpClientFactory>());
            endpoints.MapGet("/gateway/{id}", gateway.AnswerAsync);
        }

        private async Task AnswerAsync(HttpContext context)
        {
            string id = Uri.EscapeDataString((string)context.Request.RouteValues["id"]!);
            HttpClient client = clients.CreateClient(ClientName);
            using HttpResponseMessage response = await client.GetAsync(
                $"/items/{id}", HttpCompletionOption.ResponseHeadersRead, context.RequestAborted);
            if (!response.IsSuccessStatusCode)
            {
                context.Response.StatusCode = response.StatusCode == HttpStatusCode.NotFound
                    ? StatusCodes.Status404NotFound
                    : StatusCodes.Status502BadGateway;
                return;
            }
            using Stream body = await response.Content.ReadAsStreamAsync();
            var item = (await JsonSerializer.DeserializeAsync<Dictionary<string, object>?>(body))!;
            item["via"] = "gateway";
            await Answers.JsonAsync(context, item);
        }
    }
}
