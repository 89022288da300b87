/** The supervisor that is up, as commands find, start and leave runs to it. */

import type { Client } from '../client/index.ts';
import { controlErrors, type Workspace } from '../control/index.ts';
import { EXIT, TroupeError } from '../kernel/errors.ts';
import type { StatusResult } from '../protocol/wire.ts';
import { connectTo } from './connect.ts';
import type { Context, ParentReport } from './context.ts';

export interface Up {
  readonly client: Client;
  readonly status: StatusResult;
}

/** Null when there is no supervisor, or only that of another run's foreground. */
export async function findUp(workspace: Workspace): Promise<Up | null> {
  const client = await connectTo(workspace);
  if (client === null) return null;
  try {
    const status = await client.call('status', {});
    if (status.mode === 'up') return { client, status };
  } catch (error) {
    client.close();
    throw error;
  }
  client.close();
  return null;
}

/** Starts one when none is up. Throws `control/held` when the repository is another one's. */
export async function ensureUp(context: Context, workspace: Workspace): Promise<Up> {
  const there = await findUp(workspace);
  if (there !== null) return there;
  const machine = await context.machine();
  const holder = await workspace.deps.live.holder(workspace.places);
  if (holder !== null) throw controlErrors.held(holder);
  const parent = machine.parent(workspace);
  if (parent?.alive === true && parent.state !== 'gave-up') throw restarting(parent);
  await machine.launch(workspace);
  const started = await findUp(workspace);
  if (started === null) throw controlErrors.silent();
  return started;
}

function restarting(parent: ParentReport): TroupeError {
  return new TroupeError({
    code: 'cli/restarting',
    message: `the supervisor died (${parent.reason ?? 'why is not known'}), and its parent, process ${parent.pid}, is starting it again`,
    hint: `Try again in a moment; the log is in ${parent.log}.`,
    exit: EXIT.noSupervisor,
    retryable: true,
  });
}

/** Why there is none, as far as anybody knows. */
export function noneUp(parent: ParentReport | null): TroupeError {
  if (parent !== null && parent.state === 'gave-up') {
    return new TroupeError({
      code: 'cli/gave-up',
      message: `no supervisor is up: it was given up at ${parent.at}, since ${parent.reason ?? 'it kept dying'}`,
      hint: `See ${parent.log}; start it again with \`troupe up\`.`,
      exit: EXIT.noSupervisor,
      data: { ...parent },
    });
  }
  if (parent?.alive === true) return restarting(parent);
  return new TroupeError({
    code: 'cli/no-supervisor',
    message: 'no supervisor is up in this repository',
    hint: 'Start one with `troupe up`, or a team in the foreground with `troupe run TEAM`.',
    exit: EXIT.noSupervisor,
  });
}
