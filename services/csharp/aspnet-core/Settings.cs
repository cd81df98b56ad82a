using System;
using System.Globalization;

namespace Tare
{
    /// <summary>What the environment variables PORT, THREADS and DELAY_MS say.</summary>
    internal sealed class Settings
    {
        public int Port { get; } = Integer("PORT", "", 1, 65_535);

        public int Threads { get; } = Integer("THREADS", "1", 1, 1024);

        public TimeSpan Delay { get; } = TimeSpan.FromMilliseconds(Integer("DELAY_MS", "0", 0, 60_000));

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
    }
}
