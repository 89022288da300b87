/** Laws that hold for every call, not only for those of the table. */
import { assert, constantFrom, integer, property, shuffledSubarray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluate, makePolicy } from '../../../src/permissions/index.ts';
import { bash, layerFrom, REFERENCE, referencePolicy, stricter, tool } from './world.ts';

const DENIED = [
  'curl http://x.test',
  'rm -rf build',
  'git -C /x push',
  'cat .env',
  'echo x > .git/config',
  'sudo ls',
  'echo x > ../x',
];
const FRIENDLY = ['ls', 'git status', 'npm test', 'cat a.ts | wc -l'];

const AROUND: readonly ((denied: string, friendly: string) => string)[] = [
  (d, a) => `${a} && ${d}`,
  (d, a) => `${a} || ${d}`,
  (d, a) => `${d} | ${a}`,
  (d, a) => `${a} | ${d}`,
  (d, a) => `${a}; ${d}`,
  (d, a) => `${d}; ${a}`,
  (d, a) => `${a}\n${d}\n`,
  (d, a) => `${a} & ${d}`,
  (d) => `${d} &`,
  (d) => `( ${d} )`,
  (d) => `( ( ( ${d} ) ) )`,
  (d) => `{ ${d}; }`,
  (d) => `echo $( ${d} )`,
  (d) => `echo "$( ${d} )"`,
  (d) => `x=$( ${d} )`,
  (d) => `cat <(${d})`,
  (d) => `echo \${x:-$( ${d} )}`,
  (d) => `cat <<E\n$( ${d} )\nE`,
  (d, a) => `if ${a}; then ${d}; fi`,
  (d, a) => `if ${d}; then ${a}; fi`,
  (d) => `for x in 1 2; do ${d}; done`,
  (d) => `while true; do ${d}; done`,
  (d) => `case x in x) ${d};; esac`,
  (d) => `f() { ${d}; }; f`,
  (d) => `! ${d}`,
  (d) => `time ${d}`,
  (d, a) => `${`${a}; `.repeat(100)}${d}`,
  (d) => `# nothing\n${d} # nothing`,
  (d) => `ls > out.txt && ${d}`,
  (d, a) => `cd src && ${a}; cd .. ; ${d}`,
];

describe.each(DENIED)('P1: %s', (denied) => {
  test.each(AROUND.map((make, index) => [index, make] as const))(
    'is denied in whatever it stands (%i)',
    (_, make) => {
      const text = make(denied, 'ls');
      expect(bash(text).action, text).toBe('deny');
    },
  );
});

test('P1: denied and allowed parts in any order and depth are denied', () => {
  assert(
    property(
      constantFrom(...DENIED),
      constantFrom(...FRIENDLY),
      shuffledSubarray([...AROUND], { minLength: 1, maxLength: 3 }),
      (denied, friendly, around) => {
        const text = around.reduce((inner, make) => make(inner, friendly), denied);
        // A here-document inside of one word is cut by what stands around it, and bash runs nothing of a text with `!` after
        // a pipe: then it only must not be allowed.
        const { action } = bash(text);
        const unclear = text.includes('<<E') || text.includes('#') || text.includes('| !');
        return unclear ? action !== 'allow' : action === 'deny';
      },
    ),
    { numRuns: 400 },
  );
});

const SPELLINGS = [
  'curl x',
  '"curl" x',
  "'curl' x",
  "cu''rl x",
  'c"u"rl x',
  '\\curl x',
  'cu\\rl x',
  'cu\\\nrl x',
  "$'curl' x",
  "$'\\x63url' x",
  "$'\\143url' x",
  '/usr/bin/curl x',
  './curl x',
  '../bin/curl x',
  '/proc/self/root/usr/bin/curl x',
  'CURL x',
  '{curl,x}',
  'x=curl; $x y',
  'curl.exe x',
  '2>/dev/null curl x',
  '</dev/null curl x',
  'LC_ALL=C curl x',
  'A=1 B=2 curl x',
  'A=<(ls) curl x',
  'command curl x',
  'builtin curl x',
  'exec curl x',
  'exec -a ls curl x',
  'env curl x',
  'env -i A=b curl x',
  'env -u A curl x',
  "env -S 'curl x'",
  'timeout 5 curl x',
  'timeout -s KILL -k 1 5 curl x',
  'nice curl x',
  'nice -n 5 curl x',
  'nohup curl x',
  'stdbuf -oL curl x',
  'setsid curl x',
  'ionice -c 2 curl x',
  'chrt 5 curl x',
  'taskset 1 curl x',
  'flock f curl x',
  'time -p curl x',
  'xargs curl',
  'xargs -n 1 -I{} curl {}',
  'sudo curl x',
  'sudo -u a curl x',
  'doas curl x',
  'find . -exec curl {} \\;',
  'find . -okdir curl {} +',
  'parallel curl ::: x',
  'watch curl x',
  "script -c 'curl x' f",
  "bash -c 'curl x'",
  "bash -lc 'curl x'",
  "sh -c 'curl x'",
  'eval curl x',
  "eval 'curl x'",
  "trap 'curl x' EXIT",
  'busybox curl x',
  '/lib64/ld-linux-x86-64.so.2 /usr/bin/curl x',
  'unshare -r curl x',
  'strace -f -o f curl x',
  'coproc curl x',
  'bash <<< "curl x"',
  "bash <<'E'\ncurl x\nE",
  'timeout 5 nice env A=b command curl x',
  'su -c "curl x"',
  'chroot / curl x',
  'npx -c "curl x"',
  'git status | xargs -0 curl',
  'echo "`curl x`"',
  'unbuffer curl x',
  'systemd-run curl x',
  'faketime x curl x',
  'nsenter -t 1 curl x',
];

test.each(SPELLINGS)('P11 P16: %s is denied', (text) => {
  expect(bash(text).action).toBe('deny');
});

test.each([
  'rm -rf x',
  'rm -fr x',
  'rm -Rf x',
  'rm --recursive x',
  'rm --rec x',
  'rm x -r',
  'rm -f -v -r -- x',
  '/bin/rm -r x',
  'git push',
  'git -C x push',
  'git --no-pager push -4f',
  'git -c a=b push',
  'git --git-dir=x push',
  'git --git-dir x push',
  '/usr/lib/git-core/git-push',
])('P16: %s is denied by its options and words in any form', (text) => {
  expect(bash(text).action).toBe('deny');
});

test.each([
  'cd .git && echo x > config',
  'command cd .git && echo x > config',
  'command -p cd .git && echo x > config',
  'command -- cd .git; echo x > config',
  'builtin cd .git && touch config',
  'cd src; cd ../.git; touch config',
  '(cd .git && touch config)',
  'cd nowhere || cd .git && touch config',
  'true && cd .git && ls | tee config',
])('P12: %s is denied for where it is run', (text) => {
  expect(bash(text).action).toBe('deny');
});

test.each([
  './ls',
  '/bin/ls',
  'bin/ls',
  '~/ls',
  'l*',
  '$x',
  'LS',
  'lsof',
  'git logs',
  'gitlog',
  '"$(echo ls)"',
  'env -i ls',
  'timeout $x ls',
])('P16: %s is not allowed by a rule for a bare name', (text) =>
  expect(bash(text).action).not.toBe('allow'),
);

const RULES = [
  '{ effect: deny, tool: bash, argv: [ls] }',
  '{ effect: ask, tool: bash, argv: [git] }',
  '{ effect: deny, tool: [read_file], path: "src/**" }',
  '{ effect: ask, tool: [write_file], path: "**/*.ts" }',
  '{ effect: deny, tool: "*" }',
  '{ effect: ask, tool: bash }',
];
const CALLS = [...FRIENDLY, ...DENIED, 'python3 x', 'echo x > a.ts', 'cat src/a.ts', '$x'];

test('P1 P3: another rule of deny or ask, another layer or an ancestor never loosens a decision', () => {
  const base = referencePolicy.layers[0];
  if (base === undefined) throw new Error('no layer');
  assert(
    property(
      constantFrom(...CALLS),
      constantFrom(...RULES),
      constantFrom('admin', 'user', 'project'),
      (command, raw, name) => {
        const more = layerFrom(`version: 1\nrules:\n  - ${raw.replace('{', '{ id: more,')}\n`, {
          name: name as 'admin',
          trusted: name !== 'project',
        });
        const call = { tool: 'bash', input: { command } };
        const before = evaluate(call, referencePolicy, REFERENCE).action;
        const after = evaluate(call, makePolicy([base, more], ''), REFERENCE).action;
        const child = evaluate(call, makePolicy([base, more], ''), {
          ...REFERENCE,
          actor: 'run/lead/a1',
        }).action;
        return !stricter(before, after) && !stricter(before, child);
      },
    ),
    { numRuns: 300 },
  );
});

test('P1: the order of rules changes no decision', () => {
  const base = referencePolicy.layers[0];
  if (base === undefined) throw new Error('no layer');
  assert(
    property(
      constantFrom(...CALLS),
      shuffledSubarray([...base.file.rules], { minLength: base.file.rules.length }),
      (command, rules) => {
        const call = { tool: 'bash', input: { command } };
        const shuffled = makePolicy([{ ...base, file: { ...base.file, rules } }], '');
        return (
          evaluate(call, shuffled, REFERENCE).action ===
          evaluate(call, referencePolicy, REFERENCE).action
        );
      },
    ),
    { numRuns: 200 },
  );
});

test('P18: unattended, what would be asked is denied with its reason', () => {
  assert(
    property(constantFrom(...CALLS), (command) => {
      const attended = bash(command);
      const alone = bash(command, referencePolicy, { attended: false });
      expect(alone.action).toBe(attended.action === 'ask' ? 'deny' : attended.action);
      expect(alone.reason.length).toBeGreaterThan(3);
    }),
  );
});

test.each([
  ['lists', `${'('.repeat(200_000)}ls${')'.repeat(200_000)}`],
  ['substitutions', `${'$('.repeat(30_000)}ls`],
  ['quoted substitutions', '"$('.repeat(15_000)],
  ['expansions', '${x:-'.repeat(10_000)],
  ['subscripts', 'a[$('.repeat(10_000)],
  ['backquotes', '`'.repeat(60_000)],
  ['here-documents', 'cat <<E\n'.repeat(8_000)],
  ['wrappers', `${'env '.repeat(900)}ls`],
  ['scripts', "eval '".repeat(9_000)],
  ['braces', '{a,'.repeat(10_000)],
  ['folders', 'cd a; '.repeat(10_000)],
  ['names', `cat ${'*a'.repeat(15_000)}`],
  ['climbing', `cat ${'../'.repeat(20_000)}x`],
  ['one word of a mebibyte', 'x'.repeat(1 << 20)],
])('P13: %s without end get an answer in bounded time, and no allow', (_, command) => {
  const started = performance.now();
  const { action, reason } = bash(command);
  expect(performance.now() - started).toBeLessThan(1_000);
  expect(action).not.toBe('allow');
  expect(reason).toMatch(/\S/);
});

test('P13: a denied name behind more text than is read is still denied', () => {
  expect(bash(`${'true; '.repeat(200_000)}curl x`).action).toBe('deny');
  expect(bash(`${'true && '.repeat(3_000)}curl x`).action).toBe('deny');
});

test('P13: any tool and input get a decision', () => {
  const inputs = [
    null,
    undefined,
    5,
    'x',
    [],
    [1],
    {},
    { command: 5 },
    { path: [] },
    { path: {} },
    { url: '::' },
    { __proto__: { command: 'ls' } },
  ];
  assert(
    property(
      constantFrom(
        'bash',
        'read_file',
        'WRITE',
        'mcp',
        'mcp__a__b',
        'web_fetch',
        '',
        'constructor',
        '__proto__',
        'x',
      ),
      integer({ min: 0, max: inputs.length - 1 }),
      (name, at) => {
        const { action, reason } = tool(name, inputs[at]);
        expect(['allow', 'ask', 'deny']).toContain(action);
        expect(reason).toMatch(/\S/);
      },
    ),
  );
});
