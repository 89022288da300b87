/** What a decision costs: a stream of bash calls against `JSON.parse` of it, and the longest that one call takes. */
import { readFileSync } from 'node:fs';
import { parsePolicy } from '../dist/config/policy-file.js';
import { checkLines, judgeLine } from '../dist/control/policy.js';
import { checkPolicy } from '../dist/permissions/check-policy.js';
import { makePolicy } from '../dist/permissions/policy.js';

const CALLS = 10_000;
const ROUNDS = 6;
const LOOKS = 9;
const CORPUS = new URL('../tests/corpus/permissions/', import.meta.url);

export async function decisionRows() {
  const judge = referenceJudge();
  const texts = JSON.parse(readFileSync(new URL('cases.json', CORPUS), 'utf8'))
    .filter((one) => one.kind === 'bash' && one.input.length < 300)
    .map((one) => one.input);
  const asked = (at) => texts[at % texts.length];
  const mixed = await stream(judge, (at) => asked(at));
  const distinct = await stream(judge, (at) => `${asked(at)} ${at}`);
  const worst = longest(judge);
  const detail = ({ took, parsed }) => `${took.toFixed(0)} ms against ${parsed.toFixed(1)} ms`;
  return [
    {
      what: '10 000 mixed bash calls through policy check, against JSON.parse',
      ratio: mixed.ratio,
      bound: 25,
      detail: `${detail(mixed)}, warm; ${texts.length} different ones`,
    },
    {
      what: 'the same, no two of them alike',
      ratio: distinct.ratio,
      bound: null,
      detail: detail(distinct),
    },
    {
      what: 'the longest decision, against 5 ms',
      ratio: worst.ms / 5,
      bound: 1,
      detail: `${worst.ms.toFixed(1)} ms: ${worst.name}; ${worst.count} hard ones, least of ${LOOKS}`,
    },
  ];
}

function referenceJudge() {
  const text = readFileSync(new URL('policy.yaml', CORPUS), 'utf8');
  const parsed = parsePolicy(text, checkPolicy);
  const layer = { name: 'user', origin: 'bench', file: parsed.policy, trusted: true };
  return {
    policy: makePolicy([layer], 'bench'),
    context: { actor: 'a1', root: '/w/a1', home: '/home/u', attended: true },
  };
}

const lineOf = (command) => JSON.stringify({ tool: 'bash', input: { command } });

async function stream(judge, command) {
  const lines = Array.from({ length: CALLS }, (_, at) => lineOf(command(at)));
  const piece = new TextEncoder().encode(`${lines.join('\n')}\n`);
  const best = { took: Infinity, parsed: Infinity };
  for (let round = 0; round < ROUNDS; round += 1) {
    let began = performance.now();
    for (const line of lines) JSON.parse(line);
    const parsed = performance.now() - began;
    began = performance.now();
    await checkLines(
      (async function* () {
        yield piece;
      })(),
      judge,
      { write: () => Promise.resolve(), fresh: null },
    );
    const took = performance.now() - began;
    // The first round warms up.
    if (round === 0) continue;
    best.took = Math.min(best.took, took);
    best.parsed = Math.min(best.parsed, parsed);
  }
  return { ...best, ratio: best.took / best.parsed };
}

/** Each at the size where it costs most: below a cap, and far above all of them. */
const HARD = {
  'plain words': 'a '.repeat(480),
  'a long list': 'git status; '.repeat(400),
  'a list of denied': 'curl x; '.repeat(400),
  'a list of many': 'true; '.repeat(200_000),
  pipes: 'cat a | '.repeat(400),
  lists: `${'('.repeat(200_000)}ls${')'.repeat(200_000)}`,
  'nested lists': `${'('.repeat(60)}ls${')'.repeat(60)}`,
  substitutions: '$('.repeat(30_000),
  'nested substitutions': `${'echo $('.repeat(60)}ls${')'.repeat(60)}`,
  'quoted substitutions': '"$('.repeat(15_000),
  expansions: '${x:-'.repeat(10_000),
  'some expansions': `echo ${'${x:-'.repeat(60)}${'}'.repeat(60)}`,
  subscripts: 'a[$('.repeat(10_000),
  backquotes: '`'.repeat(60_000),
  'here-documents': 'cat <<E\n'.repeat(8_000),
  'some here-documents': 'cat <<E\nE\n'.repeat(400),
  wrappers: `${'env '.repeat(900)}ls`,
  scripts: "eval '".repeat(9_000),
  braces: '{a,'.repeat(10_000),
  'braces side by side': `cat ${'{a,b}'.repeat(200)}`,
  folders: 'cd a; '.repeat(10_000),
  'some folders': 'cd a; '.repeat(450),
  names: `cat ${'*a'.repeat(15_000)}`,
  climbing: `cat ${'../'.repeat(20_000)}x`,
  'many paths': `cat ${'../x '.repeat(900)}`,
  'written paths': `tee ${'.git/x '.repeat(900)}`,
  'a word of 64 KiB': 'x'.repeat(65_000),
  'a word of a mebibyte': 'x'.repeat(1 << 20),
  'a text of 64 KiB': `echo "${'word '.repeat(13_000)}"`,
  'quotes of 64 KiB': `echo ${'\'a\'"b"'.repeat(9_000)}`,
  assignments: `${'A=1 '.repeat(900)}ls`,
  redirects: `ls ${'>x '.repeat(900)}`,
  'a case of many': `case x in ${'a) ls;; '.repeat(400)} esac`,
};

function longest(judge) {
  const all = Object.entries(HARD).map(([name, command]) => {
    const line = lineOf(command);
    const times = Array.from({ length: LOOKS }, () => {
      const began = performance.now();
      judgeLine(line, judge);
      return performance.now() - began;
    });
    // The least of them: what the machine does besides is no part of a decision.
    return { name, ms: Math.min(...times) };
  });
  const sorted = all.toSorted((a, b) => b.ms - a.ms);
  if (process.env.TROUPE_BENCH_ALL !== undefined) console.error(sorted);
  return { ...sorted[0], count: all.length };
}
