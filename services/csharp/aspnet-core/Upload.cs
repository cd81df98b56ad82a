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
            // A bad request is read to its end too: an earlier answer would reset a stream of HTTP/2.
            long? offset = ReadOffset(context.Request.Headers);
            context.Features.Get<IHttpMaxRequestBodySizeFeature>()!.MaxRequestBodySize = BodyMax;
            (long bytes, byte? value) = await ReadAsync(context.Request.Body, offset);
            if (value == null)
            {
                await Answers.BadRequestAsync(context);
                return;
            }
            await Answers.JsonAsync(context, new { bytes, @byte = value });
        }

        private static long? ReadOffset(IHeaderDictionary headers)
        {
            string text = headers["X-Offset"].ToString();
            return long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long offset)
                ? offset
                : (long?)null;
        }

        /// <summary>The length of a body and the byte at an offset, null where there is none.</summary>
        private static async Task<(long Bytes, byte? Value)> ReadAsync(Stream body, long? offset)
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
                        value = buffer[offset.Value - bytes];
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
