using System;
using System.Threading;
using System.Threading.Tasks;

namespace Tare
{
    /// <summary>Simulated handling time: some wait for their timer at once, others for a slot.</summary>
    internal sealed class Delay
    {
        private readonly SemaphoreSlim slots;
        private readonly TimeSpan time;

        public Delay(int slots, TimeSpan time)
        {
            this.slots = new SemaphoreSlim(slots);
            this.time = time;
        }

        /// <summary>Waits; whoever has been cut off by their client or by the end of the service need not.</summary>
        public async Task PassAsync(CancellationToken aborted)
        {
            await slots.WaitAsync(aborted);
            try
            {
                await Task.Delay(time, aborted);
            }
            finally
            {
                slots.Release();
            }
        }
    }
}
