using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace Tare
{
    /// <summary>What the service answers.</summary>
    internal sealed class Routes
    {
        private const int CountDefault = 10_000;
        private const int CountMax = 1_000_000;

        private readonly Delay? delay;

        /// <param name="delay">Null where handling a message takes no time.</param>
        public Routes(Delay? delay)
        {
            this.delay = delay;
        }

        public void Map(IEndpointRouteBuilder endpoints)
        {
            endpoints.MapGet("/", context => Answers.TextAsync(context, "Hello world!"));
            endpoints.MapGet("/api/test", context => Answers.TextAsync(context, "Hello, World!"));
            endpoints.MapPost("/test", EchoAsync);
            endpoints.MapGet("/test/status", context => Answers.TextAsync(context, "OK"));
            endpoints.MapGet("/test/labels/{label}", LabelAsync);
            endpoints.MapGet("/framework", context => Answers.JsonAsync(context, new { Hello = "world" }));
            endpoints.MapGet("/benchmark", BenchmarkAsync);
        }

        private async Task EchoAsync(HttpContext context)
        {
            Dictionary<string, object>? message = await ReadObjectAsync(context);
            if (message == null)
            {
                await Answers.BadRequestAsync(context);
                return;
            }
            if (delay != null)
            {
                await delay.PassAsync(context.RequestAborted);
            }
            message["text"] = "received";
            await Answers.JsonAsync(context, message);
        }

        private static Task LabelAsync(HttpContext context)
        {
            return Answers.TextAsync(context, (string)context.Request.RouteValues["label"]!);
        }

        private static Task BenchmarkAsync(HttpContext context)
        {
            if (!TryGetCount(context.Request.Query, out int count))
            {
                return Answers.BadRequestAsync(context);
            }
            string[] strings = Enumerable.Range(0, count).Select(i => $"Index {i}").ToArray();
            return Answers.JsonAsync(context, strings.Take(10));
        }

        private static bool TryGetCount(IQueryCollection query, out int count)
        {
            if (!query.TryGetValue("count", out var text))
            {
                count = CountDefault;
                return true;
            }
            return int.TryParse(text.ToString(), NumberStyles.None, CultureInfo.InvariantCulture, out count)
                && count <= CountMax;
        }

        /// <summary>Null where the body is no JSON object. Members keep the text that they were sent as.</summary>
        private static async Task<Dictionary<string, object>?> ReadObjectAsync(HttpContext context)
        {
            try
            {
                return await JsonSerializer.DeserializeAsync<Dictionary<string, object>?>(context.Request.Body);
            }
            catch (JsonException)
            {
                return null;
            }
        }
    }
}
