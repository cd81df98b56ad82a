using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Http;

namespace Tare
{
    /// <summary>How answers are written.</summary>
    internal static class Answers
    {
        public static Task TextAsync(HttpContext context, string text)
        {
            context.Response.ContentType = "text/plain; charset=utf-8";
            return context.Response.WriteAsync(text);
        }

        public static Task JsonAsync<T>(HttpContext context, T value, JsonSerializerOptions? options = null)
        {
            context.Response.ContentType = "application/json";
            return JsonSerializer.SerializeAsync(context.Response.Body, value, options);
        }

        public static Task BadRequestAsync(HttpContext context)
        {
            context.Response.StatusCode = StatusCodes.Status400BadRequest;
            return Task.CompletedTask;
        }
    }
}
