import { expect, test } from 'vitest';
import type { TaskSpec } from '../../../src/protocol/team.ts';
import { validateTasks } from '../../../src/tasks/index.ts';
import { Run, spec } from './support.ts';

const check = (...tasks: readonly TaskSpec[]): string[] =>
  validateTasks(tasks).map(({ path, code, message }) => `${path} [${code}] ${message}`);

test('T8: a graph that can be worked has no problems', () => {
  expect(check(spec('b', { needs: ['a'] }), spec('a'), spec('c', { run: 'true' }))).toEqual([]);
});

test('T8: every problem is listed with its place, not only the first', () => {
  expect(
    check(
      spec('parser', { needs: ['lexr', 'lexer', 'lexer'] }),
      spec('lexer', { prompt: null }),
      spec('Parser', { prompt: 'x', run: 'true' }),
      spec('a b', { prompt: ' ', attempts: 0 }),
      spec('gates', {
        verify: [
          { kind: 'command', run: ' ', retries: 0, timeoutMs: 1 },
          { kind: 'review', profile: '' },
        ],
      }),
    ),
  ).toMatchInlineSnapshot(`
    [
      "tasks[2].id [bad-id] "Parser" is no task id: use a-z, 0-9, - and _, starting with a letter or digit, at most 48",
      "tasks[2].id [duplicate-id] task id "Parser" is used twice (also by tasks[0]; case does not count)",
      "tasks[3].id [bad-id] "a b" is no task id: use a-z, 0-9, - and _, starting with a letter or digit, at most 48",
      "tasks[0].needs[0] [unknown-need] task "parser" needs "lexr", which is no task (did you mean lexer?)",
      "tasks[0].needs[2] [repeated-need] task "parser" needs "lexer" twice",
      "tasks[1] [work] task "lexer" has neither \`prompt\` nor \`run\`: an agent task has a prompt, a command task has run",
      "tasks[2] [work] task "Parser" has both \`prompt\` and \`run\`: an agent task has a prompt, a command task has run",
      "tasks[3].prompt [work] \`prompt\` of task "a b" is empty",
      "tasks[3].attempts [attempts] attempts of task "a b" must be a whole number from 1",
      "tasks[4].verify[0] [gate] a gate of task "gates" names nothing to run",
      "tasks[4].verify[1] [gate] a gate of task "gates" names nothing to run",
    ]
  `);
});

test('T8: a cycle is printed whole, each one once', () => {
  expect(
    check(
      spec('a', { needs: ['b'] }),
      spec('b', { needs: ['c'] }),
      spec('c', { needs: ['free', 'a'] }),
      spec('free'),
      spec('self', { needs: ['self'] }),
      spec('behind', { needs: ['a'] }),
      spec('x', { needs: ['a', 'y'] }),
      spec('y', { needs: ['x'] }),
    ),
  ).toMatchInlineSnapshot(`
    [
      "tasks[2].needs[1] [cycle] these tasks wait for each other: a → b → c → a",
      "tasks[4].needs[0] [cycle] these tasks wait for each other: self → self",
      "tasks[7].needs[0] [cycle] these tasks wait for each other: x → y → x",
    ]
  `);
});

test('T8: additions are checked against what is there', () => {
  const run = new Run(spec('a'), spec('bad'));
  run.fail('bad');
  const added = [spec('a'), spec('b', { needs: ['a', 'bad', 'ad'] })];
  expect(
    validateTasks(added, run.graph).map(({ path, message }) => `${path} ${message}`),
  ).toMatchInlineSnapshot(`
    [
      "tasks[0].id there is a task "a" already",
      "tasks[1].needs[1] task "b" needs "bad", which failed",
      "tasks[1].needs[2] task "b" needs "ad", which is no task (did you mean a or bad?)",
    ]
  `);
});

test('T8: a profile that does not exist is refused with the choices, for tasks and review gates', () => {
  const tasks = [spec('a', { agent: 'ghost', verify: [{ kind: 'review', profile: 'nobody' }] })];
  expect(
    validateTasks(tasks, undefined, ['writer', 'lead']).map((p) => `${p.path} ${p.message}`),
  ).toMatchInlineSnapshot(`
    [
      "tasks[0].agent there is no agent profile "ghost"; there are: lead, writer",
      "tasks[0].verify[0] there is no agent profile "nobody"; there are: lead, writer",
    ]
  `);
});

test('T8: chains and cycles of any length are walked without recursion', () => {
  const chain = Array.from({ length: 10_000 }, (_, n) =>
    spec(`t${n}`, { needs: n === 0 ? [] : [`t${n - 1}`] }),
  );
  expect(validateTasks(chain)).toEqual([]);
  expect(validateTasks(chain.toReversed())).toEqual([]);
  const ring = [spec('t0', { needs: ['t9999'] }), ...chain.slice(1)];
  const problems = validateTasks(ring);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.message.split(' → ')).toHaveLength(10_001);
});

test('a graph has a bound', () => {
  const many = Array.from({ length: 50_001 }, (_, n) => spec(`t${n}`));
  expect(check(...many)).toEqual([
    'tasks [too-many] 50001 tasks are more than the 50000 that one graph may have',
  ]);
});
