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
    /// <summary>What DATA_PRODUCTS holds.</summary>
    internal class Product
    {
        public int Id { get; set; }

        public string Name { get; set; } = "";

        public string Category { get; set; } = "";

        public int Price { get; set; }

        public int Quantity { get; set; }

        public bool Active { get; set; }

        public string[] Tags { get; set; } = Array.Empty<string>();

        public Rating Rating { get; set; } = new Rating();
    }

    internal sealed class Rating
    {
        public int Score { get; set; }

        public int Count { get; set; }
    }

    internal sealed class PricedProduct : Product
    {
        public PricedProduct(Product product, long factor)
        {
            Id = product.Id;
            Name = product.Name;
            Category = product.Category;
            Price = product.Price;
            Quantity = product.Quantity;
            Active = product.Active;
            Tags = product.Tags;
            Rating = product.Rating;
            Total = Price * Quantity * factor;
        }

        public long Total { get; }
    }

    /// <summary>Products as JSON, with and without compression.</summary>
    internal sealed class Products
    {
        private const int FactorMax = 1_000_000;

        /// <summary>Names as ASP.NET Core has them in JSON by default.</summary>
        private static readonly JsonSerializerOptions CamelCase = new JsonSerializerOptions
        {
            PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        };

        private readonly IReadOnlyList<Product> products;

        public Products(IReadOnlyList<Product> products)
        {
            this.products = products;
        }

        /// <exception cref="JsonException">It is no array of products.</exception>
        public static Product[] Parse(string json)
        {
            return JsonSerializer.Deserialize<Product[]?>(json, CamelCase) ?? throw new JsonException("It is null.");
        }

        public void Map(IEndpointRouteBuilder endpoints)
        {
            endpoints.MapGet("/json/{count}", AnswerAsync);

            IApplicationBuilder compressed = endpoints.CreateApplicationBuilder();
            compressed.UseResponseCompression().Run(AnswerAsync);
            endpoints.MapGet("/compress/{count}", compressed.Build());
        }

        private Task AnswerAsync(HttpContext context)
        {
            object? count = context.Request.RouteValues["count"];
            if (!TryRead((string)count!, products.Count, out int length)
                || !TryRead(context.Request.Query["m"].ToString(), FactorMax, out int factor))
            {
                return Answers.BadRequestAsync(context);
            }
            PricedProduct[] items = products.Take(length).Select(p => new PricedProduct(p, factor)).ToArray();
            return Answers.JsonAsync(context, new { Items = items, Count = length }, CamelCase);
        }

        private static bool TryRead(string text, int max, out int value)
        {
            return int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value)
                && value >= 1 && value <= max;
        }
    }
}
