/** A thread that holds nothing but the official SDK, and makes one streamed call for each word of its parent. */
import { parentPort, workerData } from 'node:worker_threads';

parentPort.on('message', async ({ body, baseURL }) => {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  const client = new Anthropic({ apiKey: 'none', baseURL, maxRetries: 0 });
  const stream = await client.messages.create({ ...body, stream: true });
  for await (const event of stream) {
    if (event.type === 'content_block_delta' && workerData?.live === true) {
      parentPort.postMessage({ live: event.delta.text });
    }
  }
  parentPort.postMessage({ done: true });
});
