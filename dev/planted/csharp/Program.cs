// A server that costs some percent more with PLANT=loop, allocate, json, regex or lock, TIMES times in each request.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text.Json;
using System.Text.RegularExpressions;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

public class Item
{
    public int Id { get; set; } = 1;
    public string[] Tags { get; set; } = Enumerable.Range(0, 20).Select(i => $"tag {i}").ToArray();
}

public static class Program
{
    private static readonly int Times = int.Parse(Environment.GetEnvironmentVariable("TIMES") ?? "0");
    private static readonly Regex Route = new Regex("^/items/([0-9]+)$");
    private static readonly object Lock = new object();
    private static readonly Item Item = new Item();
    private static volatile int sink;
    private static long count;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void PlantedLoop(string path)
    {
        var sum = 1;
        for (var i = 0; i < Times; i++) sum = (sum ^ path[i % path.Length]) * 16777619;
        sink = sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void PlantedAllocate(string path)
    {
        var copies = new List<string>();
        for (var i = 0; i < Times; i++) copies.Add(path + i);
        sink = copies.Count;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void PlantedJson()
    {
        for (var i = 0; i < Times; i++) sink = JsonSerializer.SerializeToUtf8Bytes(Item).Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void PlantedRegex(string path)
    {
        for (var i = 0; i < Times; i++) sink = Route.IsMatch(path) ? 1 : 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void PlantedLock()
    {
        for (var i = 0; i < Times; i++)
        {
            lock (Lock) count++;
        }
    }

    public static void Main()
    {
        var plant = Environment.GetEnvironmentVariable("PLANT");
        Host.CreateDefaultBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls($"http://127.0.0.1:{Environment.GetEnvironmentVariable("PORT")}")
                .Configure(app => app.Run(async context =>
                {
                    var path = context.Request.Path.Value;
                    switch (plant)
                    {
                        case "loop": PlantedLoop(path); break;
                        case "allocate": PlantedAllocate(path); break;
                        case "json": PlantedJson(); break;
                        case "regex": PlantedRegex(path); break;
                        case "lock": PlantedLock(); break;
                    }
                    context.Response.ContentType = "application/json";
                    var body = JsonSerializer.SerializeToUtf8Bytes(Item);
                    context.Response.ContentLength = body.Length;
                    await context.Response.Body.WriteAsync(body);
                })))
            .Build()
            .Run();
    }
}
