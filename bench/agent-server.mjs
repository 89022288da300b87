/** The model of the agent benches: the Messages API as a stream of text deltas, in a process of its own. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/** What is asked of it by the path: `/<deltas>/<ms between them>/v1/messages`. */
const PATH = /^\/(\d+)\/(\d+)\/v1\/messages/;
const WORDS = 'and then it reads on, '.repeat(2);
let last = '';

const frame = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const now = () => performance.timeOrigin + performance.now();

async function answer(request, response) {
  if (request.url === '/last') return response.end(last);
  last = await text(request);
  const [, count, ms] = PATH.exec(request.url ?? '').map(Number);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const usage = { input_tokens: 1000, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'm',
    usage,
  };
  response.write(
    frame({
      type: 'message_start',
      message: { ...message, stop_reason: null, stop_sequence: null },
    }) +
      frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  );
  const delta = (said) =>
    frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } });
  for (let sent = 0; sent < count; sent += 1) {
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    // The moment at which it was sent goes with each delta of a timed stream.
    response.write(delta(ms > 0 ? `${now().toFixed(3)} ` : WORDS));
  }
  response.end(
    frame({ type: 'content_block_stop', index: 0 }) +
      frame({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: count * 10 },
      }) +
      frame({ type: 'message_stop' }),
  );
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => response.destroy(error));
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
