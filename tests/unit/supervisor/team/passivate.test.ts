/** A10: threads of idle actors are given back, and mail wakes them; what is open keeps them. */
import { describe, expect, it } from 'vitest';
import { asActorName } from '../../../../src/kernel/index.ts';
import { actorRows } from '../../../../src/supervisor/index.ts';
import { PASSIVATE_MS } from '../../../../src/supervisor/limits.ts';
import { runFile, task, team } from '../../../support/team.ts';
import { TeamWorld, TIP } from '../../../support/team-world.ts';

const ADA = asActorName('ada');

/** The lead rests; ada holds a task, so that the run goes on. */
function world(tasks = [task({ id: 'a', timeoutMs: 10 * PASSIVATE_MS })]): TeamWorld {
  const made = new TeamWorld(
    runFile({
      id: 'r1',
      team: team({ lead: true, teammates: ['ada', 'bo'], tasks }),
      baseCommit: TIP,
      workspace: '/w',
      treesRoot: '/t',
    }),
  );
  made.rest('lead');
  return made;
}

const write = (w: TeamWorld, to: string, text: string) =>
  w.step({ type: 'send', token: 1, to, text, lane: 'normal', id: null });
const has = (w: TeamWorld, name: string) => w.live.actors.has(asActorName(name));
const facts = (w: TeamWorld, name: string) => w.state.actors.byName.get(asActorName(name));
const stateOf = (w: TeamWorld, name: string) =>
  actorRows(w.state, { alive: true, phases: {} }).find((row) => row.name === name)?.state;

describe('A10: an idle actor', () => {
  it('gives its thread back after a while and is told so; mail wakes it in a higher epoch', () => {
    const w = world();
    w.pass(PASSIVATE_MS - 1);
    expect(has(w, 'lead')).toBe(true);
    w.pass(1);
    expect(has(w, 'lead')).toBe(false);
    expect(stateOf(w, 'lead')).toBe('passivated');
    expect(w.records.flatMap((one) => one.actors ?? [])).toContainEqual({
      type: 'actor.passivated',
      name: 'lead',
      epoch: 1,
    });
    // Nobody is told of a death, and nothing is counted as one.
    expect(w.letters('actor.died')).toEqual([]);
    expect(w.state.deaths.get(asActorName('lead'))).toBeUndefined();
    write(w, 'lead', 'Hello');
    expect(has(w, 'lead')).toBe(true);
    expect(facts(w, 'lead')).toMatchObject({
      incarnation: 1,
      epoch: 2,
      phase: { kind: 'started' },
    });
    expect(w.inboxes.get('lead')?.map((one) => one.body.text)).toEqual(['Hello']);
    expect(w.replayed().actors).toEqual(w.state.actors);
  });

  it('keeps its thread while it hears or says something', () => {
    const w = world();
    for (let times = 0; times < 5; times += 1) {
      w.pass(PASSIVATE_MS - 1);
      write(w, 'lead', 'Still there?');
      w.rest('lead');
    }
    expect(facts(w, 'lead')?.epoch).toBe(1);
    expect(has(w, 'lead')).toBe(true);
  });

  it('mail that comes while the thread ends is not handed to it: it waits, then wakes the actor', () => {
    const w = world();
    w.endsWait = true;
    w.pass(PASSIVATE_MS);
    expect(w.live.actors.get(asActorName('lead'))?.doom?.kind).toBe('passivated');
    write(w, 'lead', 'One');
    write(w, 'lead', 'Two');
    w.pass(5_000);
    expect(w.inboxes.get('lead')).toEqual([]);
    expect(facts(w, 'lead')?.epoch).toBe(1);
    w.gone('lead');
    expect(facts(w, 'lead')).toMatchObject({ incarnation: 1, epoch: 2 });
    expect(w.inboxes.get('lead')?.map((one) => one.body.text)).toEqual(['One', 'Two']);
  });

  it('is not a crash, however its thread ends; a stop on the way makes it a stop', () => {
    const w = world();
    w.endsWait = true;
    w.pass(PASSIVATE_MS);
    w.die('lead');
    expect(facts(w, 'lead')?.phase).toEqual({ kind: 'passivated' });
    write(w, 'lead', 'Hello');
    w.rest('lead');
    w.pass(PASSIVATE_MS);
    w.step({ type: 'stop.actor', token: 2, name: 'lead', now: true, by: 'me' });
    w.gone('lead');
    expect(facts(w, 'lead')?.phase).toMatchObject({ kind: 'ended', end: { kind: 'stopped' } });
  });

  it('stays asleep over a restart, and mail that waits wakes it in the next term', () => {
    const w = world();
    w.pass(PASSIVATE_MS);
    w.restart();
    expect(has(w, 'lead')).toBe(false);
    expect(has(w, 'ada')).toBe(true);
    write(w, 'lead', 'Hello');
    expect(facts(w, 'lead')).toMatchObject({ incarnation: 1, epoch: 2 });
    w.rest('lead');
    w.endsWait = true;
    w.pass(PASSIVATE_MS);
    write(w, 'lead', 'Again');
    w.endsWait = false;
    // The supervisor is killed before the thread has ended: the lead starts anew, with its letter.
    w.restart();
    expect(w.inboxes.get('lead')?.map((one) => one.body.text)).toEqual(['Again']);
  });
});

describe('A10: what keeps a thread', () => {
  const keeps = (w: TeamWorld, name: string): void => {
    w.pass(PASSIVATE_MS);
    w.pass(PASSIVATE_MS);
    expect(has(w, name)).toBe(true);
    expect(w.live.actors.get(asActorName(name))?.doom).toBeNull();
  };

  it('a task in hand', () => {
    const w = world();
    w.answer('ada');
    w.request('ada', { type: 'idle', why: 'end' });
    expect(w.state.claims.has(ADA)).toBe(true);
    keeps(w, 'ada');
  });

  it('a command in the background, until it has ended', () => {
    const w = world();
    expect(w.act('lead', 'bash', { command: 'sleep 9', background: true }).ok).toBe(true);
    const [id] = [...w.state.background.keys()];
    w.rest('lead');
    keeps(w, 'lead');
    if (id === undefined) throw new Error('no command');
    w.step({
      type: 'command.ended',
      id,
      outcome: {
        code: 0,
        signal: null,
        why: 'exit',
        left: [],
        text: '',
        cut: false,
        durationMs: 1,
      },
    });
    w.rest('lead');
    w.pass(PASSIVATE_MS);
    expect(has(w, 'lead')).toBe(false);
  });

  it('a child at work', () => {
    const w = world();
    expect(w.act('lead', 'task', { prompt: 'Look', background: true }).ok).toBe(true);
    w.rest('lead');
    keeps(w, 'lead');
  });

  it('a plan that lies with it', () => {
    const w = world([task({ id: 'a', plan: 'required', timeoutMs: 10 * PASSIVATE_MS })]);
    expect(w.act('ada', 'submit_plan', { plan: 'First this.' }).ok).toBe(true);
    w.rest('lead');
    expect(w.state.team.open.size).toBe(1);
    keeps(w, 'lead');
  });

  it('mail that it was given and has not answered', () => {
    const w = world();
    write(w, 'lead', 'Hello');
    keeps(w, 'lead');
    w.rest('lead');
    w.pass(PASSIVATE_MS);
    expect(has(w, 'lead')).toBe(false);
  });
});
