import { expect, test } from 'vitest';
import { formatScriptProblem, parseScript } from '../../../src/providers/index.ts';

function check(text: string): string[] {
  const parsed = parseScript(text, 'demo.yaml');
  if (parsed.ok) return ['ok'];
  return parsed.problems.map((problem) => formatScriptProblem('demo.yaml', problem));
}

test('a script with all parts is read', () => {
  const text = `version: 1
pace: 5ms
sections:
  - actor: ada
    task: parser
    when: { mail: { contains: attempt 2 } }
    on:
      - when: { mail: { from: user } }
        once: true
        answer: { text: Yes., calls: [{ send_message: { to: user, text: hi } }] }
    turns:
      - text: Reading.
        delay: 2s
        usage: { input: 10, output: 2, usd: 0.004 }
        calls: [{ read_file: { path: a.js } }, { list_tasks: }]
      - any:
          - when: { result: { tool: bash, ok: false } }
            text: Failed.
          - text: Fine.
      - fail: { message: overloaded, retryable: true }
    otherwise: { text: Noted. }
  - turns: []
`;
  const parsed = parseScript(text, 'demo.yaml');
  expect(parsed).toMatchObject({
    ok: true,
    script: { path: 'demo.yaml', lines: [4, 22], pace: 5 },
  });
  if (!parsed.ok) return;
  expect(parsed.script.sections[0]?.turns[0]).toMatchObject({
    delay: 2000,
    calls: [
      { tool: 'read_file', input: { path: 'a.js' } },
      { tool: 'list_tasks', input: {} },
    ],
  });
});

test('each problem has its line and column', () => {
  const text = `version: 1
sections:
  - actor: ada
    tunrs: []
    turns:
      - txt: hi
      - text: ok
        delay: soon
      - calls: [{ a: {}, b: {} }]
      - any: [{ text: a }]
        text: b
      - {}
`;
  expect(check(text)).toMatchInlineSnapshot(`
    [
      "demo.yaml:4:5: sections[0].tunrs: unknown key "tunrs"",
      "demo.yaml:6:9: sections[0].turns[0].txt: unknown key "txt"",
      "demo.yaml:6:9: sections[0].turns[0]: an answer needs at least one of text, calls, fail",
      "demo.yaml:8:9: sections[0].turns[1].delay: expected a duration of at most 10m, such as 300ms, 2s or 1m",
      "demo.yaml:9:17: sections[0].turns[2].calls[0]: a call is one tool name with its parameters: { read_file: { path: a.js } }",
      "demo.yaml:10:9: sections[0].turns[3]: \`any\` stands alone in its turn: put text, calls and the rest into its alternatives",
      "demo.yaml:12:9: sections[0].turns[4]: an answer needs at least one of text, calls, fail",
    ]
  `);
});

test.each([
  ['', 'demo.yaml:1:1: the script is empty'],
  ['# nothing\n', 'demo.yaml:1:1: the script is empty'],
  ['a\0b', 'demo.yaml:1:1: this is a binary file, not a script'],
  [
    'version: 2\nsections: [{turns: []}]',
    'demo.yaml:1:1: version: this version of Troupe reads scripts',
  ],
  ['version: 1', 'demo.yaml:1:1: sections: "sections" is missing'],
  ['version: 1\nsections: []', 'demo.yaml:2:1: sections: Too small'],
  ['- 1', 'demo.yaml:1:1: Invalid input: expected object'],
  ['version: 1\nversion: 1\n', 'demo.yaml:2:1: Map keys must be unique'],
  ['version: [1\n', 'demo.yaml:2:1: '],
  ['['.repeat(50_000), 'demo.yaml:1:'],
  ['a: &a [*a]', 'demo.yaml:1:'],
  ['--- 1\n--- 2', 'demo.yaml:1:'],
])('%j is refused at its place', (text, start) => {
  expect(check(text)[0]?.startsWith(start), check(text).join('\n')).toBe(true);
});
