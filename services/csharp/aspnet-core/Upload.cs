using System.Buffers;
using System.Globalization;
using System.IO;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;

namespace Tare
{
    /// <summary>Counts a body as it comes.</summary>
    internal static class Upload
    {
        /// <summary>Bodies have up to 32 MiB; the limit counts what frames chunks too.</summary>
        private const long BodyMax = 64 << 20;
        private const int BufferLength = 64 << 10;

        public static void Map(IEndpointRouteBuilder endpoints)
        {
            endpoints.MapPost("/upload", AnswerAsync);
        }

        private static async Task AnswerAsync(HttpContext context)
        {
            if (!TryGetOffset(context.Request.Headers, out long offset))
            {
                await Answers.BadRequestAsync(context);
                return;
            }
            context.Features.Get<IHttpMaxRequestBodySizeFeature>()!.MaxRequestBodySize = BodyMax;
            (long bytes, byte? value) = await ReadAsync(context.Request.Body, offset);
            if (value == null)
            {
                await Answers.BadRequestAsync(context);
                return;
            }
            await Answers.JsonAsync(context, new { bytes, @byte = value });
        }

        private static bool TryGetOffset(IHeaderDictionary headers, out long offset)
        {
            string text = headers["X-Offset"].ToString();
            return long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out offset);
        }

        /// <summary>The length of a body and the byte at an offset, null where the body ends before it.</summary>
        private static async Task<(long Bytes, byte? Value)> ReadAsync(Stream body, long offset)
        {
            byte[] buffer = ArrayPool<byte>.Shared.Rent(BufferLength);
            try
            {
                long bytes = 0;
                byte? value = null;
                int read;
                while ((read = await body.ReadAsync(buffer)) > 0)
                {
                    if (offset >= bytes && offset - bytes < read)
                    {
                        value = buffer[offset - bytes];
                    }
                    bytes += read;
                }
                return (bytes, value);
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(buffer);
            }
        }
    }
}
