/**
 * Random work of a team under plan gates, with kills of the supervisor between any two steps: nothing is let run without an
 * approval of its claim, and an approval that was given is never asked for again while that claim goes on.
 * `TROUPE_SEED=N` repeats a failure.
 */
import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { SeededRandom } from '../../../src/testing/index.ts';
import { runFile, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const SEED = Number(process.env['TROUPE_SEED'] ?? randomInt(2 ** 31));
const RUNS = 40;
const STEPS = 60;
const WORKERS = ['ada', 'bo'] as const;

function makeWorld(): TeamWorld {
  const tasks = ['a', 'b', 'c'].map((id) => task({ id, plan: 'required', attempts: 4 }));
  return new TeamWorld({
    ...runFile({
      id: 'r1',
      team: team({ lead: true, teammates: WORKERS, tasks }),
      baseCommit: TIP,
      workspace: '/w',
      treesRoot: '/t',
    }),
    attended: true,
  });
}

/** The model: which worker has an approval for the claim that it holds, by the words of the lead alone. */
class Approvals {
  readonly #given = new Map<string, string>();

  give(worker: string, claim: string): void {
    this.#given.set(worker, claim);
  }

  end(worker: string): void {
    this.#given.delete(worker);
  }

  has(worker: string, claim: string | undefined): boolean {
    return claim !== undefined && this.#given.get(worker) === claim;
  }
}

function play(random: SeededRandom): void {
  const world = makeWorld();
  const approvals = new Approvals();
  const claimOf = (name: string): string | undefined => world.state.claims.get(name as never);
  const isThere = (name: string): boolean => world.live.actors.has(name as never);
  for (let step = 0; step < STEPS && world.state.run.ended === null; step += 1) {
    const worker = WORKERS[random.below(WORKERS.length)] ?? 'ada';
    const open = [...world.state.team.open];
    const id = `plan-${1 + random.below(world.state.team.plans.size + 1)}`;
    const what = random.below(8);
    if (what === 0) world.restart(random.below(50));
    else if (what === 1 && isThere('lead')) {
      const plan = world.state.team.plans.get(id);
      const approve = random.below(3) > 0;
      const { ok } = world.act('lead', 'review_plan', { id, approve });
      expect(ok, `A7: ${id}`).toBe(open.includes(id));
      if (ok && approve && plan?.task != null) approvals.give(plan.by, plan.task);
    } else if (!isThere(worker)) continue;
    else if (what === 2) world.act(worker, 'submit_plan', { plan: `step ${step}` });
    else if (what === 3) {
      // Forged: a worker has no say, on its own plan or on the other's.
      expect(world.act(worker, 'review_plan', { id, approve: true }).ok).toBe(false);
    } else if (what === 4 && random.below(4) === 0) {
      world.now += 10 * 60_000;
      world.die(worker);
      approvals.end(worker);
    } else if (what === 5 && claimOf(worker) !== undefined && random.below(3) === 0) {
      const held = claimOf(worker);
      world.act(worker, 'fail_task', { reason: 'too hard' });
      if (claimOf(worker) !== held) approvals.end(worker);
    } else {
      const claim = claimOf(worker);
      const allowed = world.permit(worker) === 'permitted';
      expect(allowed, `${worker} on ${claim}`).toBe(approvals.has(worker, claim));
    }
    expect(world.replayed().team, 'S1').toEqual(world.state.team);
  }
}

test(`A6, A7, A8: no approval is skipped and none is needed twice, whatever is killed (TROUPE_SEED=${SEED})`, () => {
  for (let run = 0; run < RUNS; run += 1) play(new SeededRandom(SEED + run));
});
