/** Commands in the background, decided one by one: who may ask, who hears, and that they end with what they belong to. */
import { expect, test } from 'vitest';
import { asProcId } from '../../../src/kernel/index.ts';
import type { CommandOutcome } from '../../../src/supervisor/inbox.ts';
import { runFile, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const EXIT: CommandOutcome = {
  code: 0,
  signal: null,
  why: 'exit',
  left: [],
  text: 'ready\n',
  cut: false,
  durationMs: 10,
};

function world(): TeamWorld {
  const tasks = [task({ id: 'one' }), task({ id: 'two' })];
  return new TeamWorld(
    runFile({
      id: 'r1',
      team: team({ teammates: ['ada', 'bo'], tasks }),
      baseCommit: TIP,
      workspace: '/w',
      treesRoot: '/t',
    }),
  );
}

/** What the call was answered with; null: not yet. */
function result(at: TeamWorld, call: string): string | null {
  const entries = at.records.flatMap((record) => record.entries ?? []);
  const found = entries.find((entry) => entry.type === 'result' && entry.call === call);
  return found?.type === 'result' ? found.text : null;
}

function start(at: TeamWorld, name: string): string {
  const acted = at.act(name, 'bash', { command: 'serve', background: true });
  expect(acted).toMatchObject({ ok: true });
  const id = /^(prc-\d+) runs in the background/.exec(acted.text)?.[1];
  expect(at.effects).toContainEqual(
    expect.objectContaining({ type: 'command.start', id, background: true }),
  );
  return id ?? '';
}

function end(at: TeamWorld, id: string, outcome: Partial<CommandOutcome> = {}): void {
  at.step({ type: 'command.ended', id: asProcId(id), outcome: { ...EXIT, ...outcome } });
}

const letters = (at: TeamWorld): string[] => at.letters('command.finished');

test('it is started and answered in one record; its end by itself is a letter', () => {
  const at = world();
  const id = start(at, 'ada');
  const record = at.records.find((one) => one.procs?.some((proc) => proc.id === id));
  expect(record?.entries?.[0]).toMatchObject({ type: 'result', output: `outputs/${id}.log` });
  end(at, id, { code: 3 });
  expect(letters(at)).toEqual([
    `ada: The command ${id} (\`serve\`) ended with exit status 3 after 0.0 s.\nready`,
  ]);
});

test('its output is read by pages, and who waits hears of the end by the answer alone', () => {
  const at = world();
  const id = start(at, 'ada');
  const read = at.begin('ada', 'bash_output', { id });
  expect(at.effects).toContainEqual({ type: 'output.read', call: read, id, offset: 0 });
  at.step({
    type: 'output.read',
    call: read as never,
    page: { text: 'ready\n', from: 0, next: 6, size: 9 },
  });
  expect(result(at, read)).toContain('is running since');
  expect(result(at, read)).toContain('ready\n[3 more bytes; go on with offset 6]');
  const wait = at.begin('ada', 'bash_wait', { id, timeout_ms: 500 });
  expect(at.effects).toContainEqual({ type: 'wait.later', call: wait, ms: 500 });
  at.step({ type: 'wait.over', call: wait as never });
  expect(result(at, wait)).toContain('it goes on');
  const kill = at.begin('ada', 'bash_kill', { id });
  expect(at.effects).toContainEqual({ type: 'command.kill', id });
  end(at, id, { why: 'killed', code: null, signal: 'SIGTERM' });
  expect(at.effects).toContainEqual({ type: 'output.read', call: kill, id, offset: null });
  // The time of a wait that was answered by the end means nothing.
  at.step({ type: 'wait.over', call: kill as never });
  expect(result(at, kill)).toBe(null);
  at.step({
    type: 'output.read',
    call: kill as never,
    page: { text: 'bye', from: 6, next: 9, size: 9 },
  });
  expect(result(at, kill)).toMatch(/ was ended at .*\n\[from byte 6 on\]\nbye\n\[no more output/);
  expect(letters(at)).toEqual([]);
});

test('only its owner may ask; an unknown id lists near ones', () => {
  const at = world();
  const id = start(at, 'ada');
  expect(at.act('bo', 'bash_output', { id })).toEqual({
    ok: false,
    text: `there is no command "${id}": you have none in the background`,
  });
  expect(at.act('bo', 'bash_kill', { id }).ok).toBe(false);
  expect(at.act('ada', 'bash_wait', { id: `${id}x` }).text).toContain(`did you mean ${id}?`);
  expect(at.act('ada', 'bash_wait', { id: 'server' }).text).toContain(`there are ${id}`);
});

test('one actor has so many at once and no more', () => {
  const at = world();
  for (let count = 0; count < 8; count += 1) start(at, 'ada');
  const more = at.act('ada', 'bash', { command: 'serve', background: true });
  expect(more).toMatchObject({ ok: false });
  expect(more.text).toContain('8 commands in the background (prc-');
  start(at, 'bo');
});

test('S10: it ends with its claim and with its actor, and nobody is told of that', () => {
  const at = world();
  const mine = start(at, 'ada');
  const other = start(at, 'bo');
  at.act('ada', 'fail_task', { reason: 'no' });
  expect(at.effects).toContainEqual({ type: 'command.kill', id: mine });
  expect(at.effects).not.toContainEqual({ type: 'command.kill', id: other });
  end(at, mine, { why: 'killed' });
  at.die('bo');
  expect(at.effects).toContainEqual({ type: 'command.kill', id: other });
  end(at, other, { why: 'killed' });
  expect(letters(at)).toEqual([]);
});

test('after a restart of the supervisor it is lost, and its owner is told', () => {
  const at = world();
  const id = start(at, 'ada');
  expect(at.replayed().background).toEqual(at.state.background);
  at.restart();
  expect(at.state.background.get(asProcId(id))?.ended).toMatchObject({ why: 'lost' });
  expect(letters(at)).toHaveLength(1);
  expect(letters(at)[0]).toMatch(/^ada: The command .* was lost: /);
});
