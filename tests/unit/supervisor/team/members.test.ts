/** Members that come and go while a run goes on: spawned, asked to shut down, dead; and what others hear of it, once. */
import { describe, expect, it } from 'vitest';
import { endOf } from '../../../../src/actors/index.ts';
import { asActorName } from '../../../../src/kernel/index.ts';
import type { Limits } from '../../../../src/protocol/index.ts';
import { SHUTDOWN_ANSWER_MS, SHUTDOWN_WORK_MS } from '../../../../src/supervisor/limits.ts';
import { runFile, type TaskParts, task, team } from '../../../support/team.ts';
import { TeamWorld, TIP } from '../../../support/team-world.ts';

function world(
  parts: { limits?: Partial<Limits>; tasks?: readonly TaskParts[]; lead?: boolean } = {},
): TeamWorld {
  const { tasks = [], limits, lead = true } = parts;
  const made = team({ lead, teammates: ['ada', 'bo'], tasks: tasks.map((one) => task(one)) });
  return new TeamWorld(
    runFile({
      id: 'r1',
      team: { ...made, limits: { ...made.limits, ...limits } },
      baseCommit: TIP,
      workspace: '/w',
      treesRoot: '/t',
    }),
  );
}

const spawn = (w: TeamWorld, name: string, more: object = {}, by = 'lead') =>
  w.act(by, 'spawn_teammate', { name, agent: 'implementer', ...more });
const end = (w: TeamWorld, name: string) => {
  const facts = w.state.actors.byName.get(asActorName(name));
  return facts === undefined ? null : endOf(facts);
};
const shutdown = (w: TeamWorld, name: string, by = 'lead') =>
  w.act(by, 'request_shutdown', { name, reason: 'no work' });

describe('spawn_teammate', () => {
  it('adds a member with its first letter; a restart keeps it', () => {
    const w = world();
    expect(spawn(w, 'cy', { prompt: 'Look at the tests.' }).ok).toBe(true);
    expect(w.letters('chat.message').at(-1)).toBe('cy: Look at the tests.');
    expect(w.live.actors.has(asActorName('cy'))).toBe(true);
    w.restart();
    expect(w.live.actors.get(asActorName('cy'))?.incarnation).toBe(2);
    expect(w.inboxes.get('cy')?.map((one) => one.body.text)).toEqual(['Look at the tests.']);
  });

  it('refuses unknown profiles, bad and reserved names, and names of who is there', () => {
    const w = world();
    expect(w.act('lead', 'spawn_teammate', { name: 'cy', agent: 'coder' }).text).toContain(
      'choose one of: implementer, lead',
    );
    expect(spawn(w, 'Cy Q').text).toContain('is not a name');
    for (const name of ['lead', 'user', 'supervisor', 'broker', 'system', 'all']) {
      expect(spawn(w, name).text, name).toContain('reserved');
    }
    expect(spawn(w, 'ada').text).toContain('in the team already');
    expect(spawn(w, 'cy').ok).toBe(true);
    expect(spawn(w, 'cy').text).toContain('in the team already');
  });

  it('keeps to fanout, parallel and depth, all the way down', () => {
    const wide = world({ limits: { fanout: 1 } });
    expect(spawn(wide, 'cy').ok).toBe(true);
    expect(spawn(wide, 'di').text).toContain('limits.fanout');
    const many = world({ limits: { parallel: 1, fanout: 9 } });
    spawn(many, 'cy');
    expect(spawn(many, 'di').text).toContain('limits.parallel');
    const deep = world({ limits: { depth: 1 } });
    spawn(deep, 'cy', { prompt: 'go' });
    expect(spawn(deep, 'di', {}, 'cy').text).toContain('limits.depth');
    expect(deep.act('cy', 'task', { prompt: 'x' }).text).toContain('limits.depth');
  });

  it('A4: a name has a new life only when its old one is over, and then nothing of the old one', () => {
    const w = world();
    spawn(w, 'cy', { prompt: 'one' });
    w.rest('cy');
    shutdown(w, 'cy');
    w.rest('cy');
    expect(end(w, 'cy')).toMatchObject({ kind: 'stopped' });
    expect(w.act('lead', 'send_message', { to: 'cy', text: 'late' }).text).toContain('dead letter');
    expect(spawn(w, 'cy', { prompt: 'two' }).ok).toBe(true);
    expect(w.live.actors.get(asActorName('cy'))?.incarnation).toBe(2);
    expect(w.inboxes.get('cy')?.map((one) => one.body.text)).toEqual(['two']);
    const added = w.state.actors.byName.get(asActorName('cy'))?.addedSeq ?? 0;
    const start = w.effects.find((one) => one.type === 'actor.start');
    expect(start?.type === 'actor.start' && start.start.fromSeq).toBe(added);
  });

  it('lives on when who brought it in dies', () => {
    const w = world();
    spawn(w, 'cy', { prompt: 'one' });
    w.die('lead');
    expect(w.live.actors.has(asActorName('cy'))).toBe(true);
    expect(w.state.deaths.has(asActorName('cy'))).toBe(false);
  });
});

describe('request_shutdown', () => {
  const busy = () => world({ tasks: [{ id: 'a', timeoutMs: 10 * SHUTDOWN_WORK_MS }] });

  it('only the lead or who brought it in may ask; nobody asks the lead', () => {
    const w = busy();
    expect(shutdown(w, 'bo', 'ada').text).toContain('only the lead');
    expect(shutdown(w, 'lead', 'ada').text).toContain('only the user');
    expect(shutdown(w, 'adda').text).toContain('did you mean ada');
    expect(shutdown(w, 'ada', 'ada').text).toContain('nobody asked you');
    expect(spawn(w, 'cy', { prompt: 'go' }, 'ada').ok).toBe(true);
    expect(shutdown(w, 'cy', 'ada').ok).toBe(true);
  });

  it('ready: it ends its turn, its task is given back, and its end is told once, also over a restart', () => {
    const w = busy();
    expect(shutdown(w, 'ada').ok).toBe(true);
    expect(w.letters('shutdown.request')[0]).toMatch(
      /^ada: lead asks you to shut down \(shutdown-1\): no work/,
    );
    expect(end(w, 'ada')).toBeNull();
    w.rest('ada');
    expect(end(w, 'ada')).toMatchObject({
      kind: 'stopped',
      text: expect.stringContaining('ready'),
    });
    expect(w.state.claims.get(asActorName('ada'))).toBeUndefined();
    expect(w.state.claims.get(asActorName('bo'))).toBe('a');
    w.restart();
    expect(w.live.actors.has(asActorName('ada'))).toBe(false);
    expect(w.letters('actor.died').filter((one) => one.includes('ada was shut down'))).toHaveLength(
      1,
    );
    expect(shutdown(w, 'ada').text).toContain('stopped already');
  });

  it('ready: by its own name', () => {
    const w = busy();
    shutdown(w, 'ada');
    expect(shutdown(w, 'ada', 'ada').ok).toBe(true);
    expect(end(w, 'ada')).toMatchObject({ kind: 'stopped' });
  });

  it('working: is told once and has its time, then it is ended by force', () => {
    const w = busy();
    shutdown(w, 'ada');
    w.answer('ada', ['read_file']);
    w.answer('ada', ['read_file']);
    expect(w.letters('shutdown.answer')).toEqual([
      expect.stringContaining('lead: ada is still at work'),
    ]);
    w.pass(SHUTDOWN_WORK_MS - 1);
    expect(end(w, 'ada')).toBeNull();
    w.pass(1);
    expect(end(w, 'ada')).toMatchObject({ text: expect.stringContaining('not done in time') });
  });

  it('refused with a reason: it lives on; asked again it can not refuse', () => {
    const w = busy();
    shutdown(w, 'ada');
    w.act('ada', 'send_message', { to: 'lead', text: 'Refused: the tests run.' });
    expect(w.letters('shutdown.answer')).toEqual(['lead: Refused: the tests run.']);
    w.pass(SHUTDOWN_ANSWER_MS * 10);
    expect(end(w, 'ada')).toBeNull();
    shutdown(w, 'ada');
    w.act('ada', 'send_message', { to: 'lead', text: 'refused: no!' });
    expect(w.letters('shutdown.answer')).toHaveLength(1);
    w.pass(SHUTDOWN_ANSWER_MS);
    expect(end(w, 'ada')).toMatchObject({ text: expect.stringContaining('did not answer') });
  });

  it('no word: ended by force at the deadline, which a restart neither shortens nor forgets', () => {
    const w = busy();
    shutdown(w, 'ada');
    w.pass(SHUTDOWN_ANSWER_MS - 1);
    w.restart(5);
    w.pass(0);
    expect(end(w, 'ada')).toBeNull();
    w.pass(SHUTDOWN_ANSWER_MS);
    expect(end(w, 'ada')).toMatchObject({ text: expect.stringContaining('did not answer') });
  });

  it('A9: a supervisor that dies between the answer and the end of the thread ends it in the next term', () => {
    const w = busy();
    shutdown(w, 'ada');
    w.rest('ada');
    // Up to the answer: what came after it is lost with the supervisor.
    const upTo = w.records.findIndex((one) =>
      one.team?.some((c) => c.type === 'shutdown.answered'),
    );
    w.records.length = upTo + 1;
    w.restart();
    expect(end(w, 'ada')).toMatchObject({ kind: 'stopped' });
    expect(w.live.actors.has(asActorName('ada'))).toBe(false);
  });

  it('who dies while it is asked is not started again', () => {
    const w = busy();
    shutdown(w, 'ada');
    w.die('ada');
    expect(end(w, 'ada')).toMatchObject({ kind: 'stopped', text: expect.stringContaining('died') });
    expect(w.letters('actor.died')).toHaveLength(1);
  });

  it('is given no new task', () => {
    const w = world({ tasks: [{ id: 'a' }, { id: 'b', needs: ['a'] }] });
    w.act('lead', 'send_message', { to: 'bo', text: 'hello' });
    shutdown(w, 'bo');
    expect(w.state.claims.get(asActorName('bo'))).toBeUndefined();
    w.act('ada', 'fail_task', { reason: 'no' });
    expect(w.state.claims.get(asActorName('bo'))).toBeUndefined();
  });
});

describe('subagents', () => {
  it('in the background: the answer comes by mail, also to a parent whose thread is gone', () => {
    const w = world({ tasks: [{ id: 'a' }] });
    expect(w.act('ada', 'task', { prompt: 'look', background: true }).ok).toBe(true);
    expect(w.live.acts.size).toBe(0);
    const exit = { kind: 'finished', text: 'Found it.' } as const;
    w.step({
      type: 'actor.exited',
      name: asActorName('ada-sub-1'),
      incarnation: 1,
      epoch: 1,
      exit,
    });
    expect(w.letters('chat.message').at(-1)).toBe('ada: Found it.');
  });

  it('cut by a restart in the background: the parent is told, once', () => {
    const w = world({ tasks: [{ id: 'a' }] });
    w.act('ada', 'task', { prompt: 'look', background: true });
    w.restart();
    w.restart();
    expect(w.letters('actor.died').filter((one) => one.includes('ada-sub-1'))).toHaveLength(1);
  });

  it('end with their parent, the nested ones too, and with the call that waited', () => {
    const w = world({ tasks: [{ id: 'a' }] });
    w.begin('ada', 'task', { prompt: 'look' });
    w.begin('ada-sub-1', 'task', { prompt: 'look closer' });
    expect([...w.live.actors.keys()]).toContain('ada-sub-2');
    w.step({ type: 'send', token: 1, to: 'ada', text: 'stop', lane: 'interrupt', id: null });
    expect([...w.live.actors.keys()].filter((name) => name.includes('-sub-'))).toEqual([]);
    const ended = w.records
      .flatMap((one) => one.actors ?? [])
      .filter((one) => one.type === 'actor.ended');
    expect(ended.map((one) => one.name).toSorted()).toEqual(['ada-sub-1', 'ada-sub-2']);
  });

  it('the one who started it may end it', () => {
    const w = world({ tasks: [{ id: 'a' }] });
    w.act('ada', 'task', { prompt: 'look', background: true });
    expect(shutdown(w, 'ada-sub-1', 'lead').ok).toBe(false);
    expect(shutdown(w, 'ada-sub-1', 'ada').ok).toBe(true);
    expect(w.live.actors.has(asActorName('ada-sub-1'))).toBe(false);
    expect(w.letters('chat.message').at(-1)).toContain('ada-sub-1 was stopped');
  });
});

describe('L7: a turn that a restart cut', () => {
  it('goes on; but not when the task that it was about has ended', () => {
    const w = world({ tasks: [{ id: 'a', verify: ['true'] }] });
    w.answer('ada', ['complete_task']);
    expect(w.act('ada', 'complete_task', { summary: 'done' }).ok).toBe(true);
    w.step({ type: 'send', token: 1, to: 'bo', text: 'Look.', lane: 'normal', id: null });
    w.answer('bo', ['team_status']);
    expect(w.act('bo', 'team_status', {}).ok).toBe(true);
    w.restart();
    expect(w.live.actors.has(asActorName('bo'))).toBe(true);
    expect(w.live.actors.has(asActorName('ada'))).toBe(false);
    // A letter of its own is reason enough.
    w.step({ type: 'send', token: 2, to: 'ada', text: 'And you?', lane: 'normal', id: null });
    expect(w.inboxes.get('ada')?.map((one) => one.body.text)).toEqual(['And you?']);
  });
});

describe('notices', () => {
  it('S2: a death is told to the lead and to who brought it in, once each, and not again after a restart', () => {
    const w = world({ tasks: [{ id: 'a' }] });
    spawn(w, 'cy', { prompt: 'go' }, 'ada');
    w.die('cy');
    w.restart();
    const told = w.letters('actor.died').filter((one) => one.includes('cy died'));
    expect(told.map((one) => one.split(':')[0])).toEqual(['lead', 'ada']);
  });
});

describe('team_status', () => {
  it('shows members, tasks, mail, plans and requests in a bounded text', () => {
    const w = world({
      tasks: [{ id: 'a', plan: 'required' }],
      limits: { parallel: 500, fanout: 500 },
    });
    w.act('ada', 'submit_plan', { plan: 'x' });
    w.act('lead', 'request_plan', { from: 'bo', about: 'the parser' });
    const { text } = w.act('lead', 'team_status', {});
    expect(text).toContain('- lead (lead, lead) · tooling');
    expect(text).toMatch(/- ada \(teammate, implementer\) · .* · task a · plan gate shut/);
    expect(text).toContain('plan-1 for task a: by ada, waits for lead');
    expect(text).toContain('request-1: lead waits for bo: the parser');
    for (let index = 0; index < 200; index += 1) spawn(w, `m${index}`);
    expect(w.act('lead', 'team_status', {}).text.length).toBeLessThan(8_000);
  });
});
