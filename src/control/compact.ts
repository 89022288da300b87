/** The user's wish to have an actor's conversation compacted: for a supervisor that runs, since only that one can. */
import type { CompactParams, CompactResult } from '../protocol/wire.ts';
import { errors } from './errors.ts';
import { actorNames } from './mail.ts';
import { viewRun } from './queries.ts';
import type { Workspace } from './workspace.ts';

/** `deliver` gives null when no supervisor can be reached. */
export async function compactActor(
  workspace: Workspace,
  wish: CompactParams,
  deliver: (params: CompactParams) => Promise<CompactResult | null>,
): Promise<CompactResult> {
  const view = await viewRun(workspace, wish.run, 'compact');
  const known = actorNames(view);
  if (!known.includes(wish.name)) throw errors.unknownActor(wish.name, known);
  const { ended } = view.state.run;
  if (ended !== null || !view.liveness.alive) {
    throw errors.notLiveForCompact(view.run, ended?.state ?? null);
  }
  const done = await deliver({ ...wish, run: view.run });
  if (done !== null) return done;
  throw errors.silent();
}
