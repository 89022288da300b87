/** P13 through the built command: whatever comes on the standard input, a decision with a reason a line, and exit 0. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const bash = (command: string): string => JSON.stringify({ tool: 'bash', input: { command } });

const LINES: readonly (string | Uint8Array)[] = [
  'garbage',
  '',
  '{"tool":"no_such_tool","input":{}}',
  '{"tool":"bash","input":{"command":["ls"]}}',
  bash('x'.repeat(1 << 20)),
  bash(`curl x; ${'true; '.repeat(170_000)}`),
  bash(`${'('.repeat(200_000)}ls${')'.repeat(200_000)}`),
  bash('$('.repeat(200_000)),
  bash(`${'echo $('.repeat(3_000)}ls${')'.repeat(3_000)}`),
  `{"tool":"bash","input":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
  `{"tool":"bash","input":${'{"a":'.repeat(200_000)}`,
  Uint8Array.from([0xff, 0xfe, 0x00, 0xc3]),
  Buffer.concat([
    Buffer.from('{"tool":"bash","input":{"command":"ls '),
    Buffer.from([0xc3, 0x28, 0xed, 0xa0, 0x80]),
    Buffer.from('"}}'),
  ]),
  bash('ls'),
];

test('P13: each line of bad input gets a decision and a reason, in bounded time', () => {
  const input = Buffer.concat(
    LINES.flatMap((line) => [
      typeof line === 'string' ? Buffer.from(line) : line,
      Buffer.from('\n'),
    ]),
  );
  const done = spawnSync(
    process.execPath,
    [
      path('bin/troupe.js'),
      'policy',
      'check',
      '--policy',
      path('tests/corpus/permissions/policy.yaml'),
    ],
    { input, encoding: 'utf8', timeout: 20_000, maxBuffer: 1 << 26 },
  );
  expect(done.stderr).toBe('');
  expect(done.status).toBe(0);
  const answers = done.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(answers).toHaveLength(LINES.length);
  for (const answer of answers.slice(0, -1)) {
    expect(answer).toMatchObject({
      action: expect.stringMatching(/^(?:ask|deny)$/),
      rule: expect.stringMatching(/\S/),
      reason: expect.stringMatching(/\S/),
    });
  }
  expect(answers[5]).toMatchObject({ action: 'deny' });
  expect(answers.at(-1)).toMatchObject({ action: 'allow' });
});
