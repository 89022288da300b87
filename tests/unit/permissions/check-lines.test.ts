/** `policy check` as a stream: one answer a line, in order, whatever the lines contain. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkLines, judgeLine } from '../../../src/control/index.ts';
import { CORPUS, REFERENCE, referencePolicy } from './world.ts';

const judge = { policy: referencePolicy, context: REFERENCE };

async function answers(chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  let text = '';
  async function* input(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks)
      yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
  }
  const write = (piece: string): Promise<void> => {
    text += piece;
    return Promise.resolve();
  };
  await checkLines(input(), judge, { write, fresh: null });
  return text.split('\n').slice(0, -1);
}

const call = (command: string): string => JSON.stringify({ tool: 'bash', input: { command } });

test('P13: garbage gets a decision and a reason like everything else', async () => {
  const lines = [
    '',
    'no json',
    '[]',
    'null',
    '{}',
    '{"tool":5}',
    '{"tool":"bash"}',
    '{"tool":"bash","input":{"command":"ls"},"cwd":"x"}',
    '{"tool":"bash","input":{"command":"ls"},"actor":""}',
    '[['.repeat(100_000),
    `{"tool":"bash","input":${'['.repeat(200_000)}`,
    '{"__proto__":{"tool":"bash"}}',
  ];
  const out = await answers([`${lines.join('\n')}\n`]);
  expect(out).toHaveLength(lines.length);
  for (const line of out) {
    expect(JSON.parse(line)).toEqual({
      action: 'deny',
      rule: expect.stringMatching(/\S/),
      reason: expect.stringMatching(/\S/),
    });
  }
});

test('lines may be cut anywhere between two pieces, also within a character; the last needs no end', async () => {
  const bytes = new TextEncoder().encode(`${call('echo é')}\r\n${call('ls')}\n${call('curl x')}`);
  const pieces = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
  const actions = (await answers(pieces)).map(
    (line) => (JSON.parse(line) as { action: string }).action,
  );
  expect(actions).toEqual(['ask', 'allow', 'deny']);
});

test('bytes that are no UTF-8 are odd text, not a crash', async () => {
  const bad = Uint8Array.from([
    ...new TextEncoder().encode('{"tool":"bash","input":{"command":"ls '),
    0xff,
    0xfe,
    ...new TextEncoder().encode('"}}\n'),
  ]);
  expect(
    (await answers([bad])).map((line) => (JSON.parse(line) as { action: string }).action),
  ).toEqual(['ask']);
});

test('10 000 calls are decided at no more than 25 times what JSON.parse of them costs, once warm', async () => {
  const cases = JSON.parse(readFileSync(`${CORPUS}cases.json`, 'utf8')) as readonly {
    kind: string;
    input: string;
  }[];
  const texts = cases
    .filter((one) => one.kind === 'bash' && one.input.length < 300)
    .map((one) => one.input);
  const lines = Array.from({ length: 10_000 }, (_, at) => call(texts[at % texts.length] ?? ''));
  const piece = new TextEncoder().encode(`${lines.join('\n')}\n`);
  const ratios: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    let started = performance.now();
    for (const line of lines) JSON.parse(line);
    const parsed = performance.now() - started;
    started = performance.now();
    await answers([piece]);
    ratios.push((performance.now() - started) / parsed);
  }
  expect(Math.min(...ratios.slice(1))).toBeLessThan(25);
});

test('a decision is the same alone and in a stream', async () => {
  const lines = [
    call('git status && rm -rf build'),
    call('cat <<E\n$(curl x)\nE'),
    '{"tool":"Read","input":{"path":".env"}}',
  ];
  const alone = lines.map((line) => JSON.stringify(judgeLine(line, judge)));
  expect(await answers([`${lines.join('\n')}\n`])).toEqual(alone);
});
