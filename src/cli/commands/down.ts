/** `troupe down`: ends the supervisor that is up; returns when nothing of it is left. */
import { controlErrors, leftOf, type Workspace } from '../../control/index.ts';
import { EXIT, type ExitCode, isTroupeError, TroupeError } from '../../kernel/errors.ts';
import type { RunRow } from '../../protocol/shapes.ts';
import type { DownResult, StatusResult } from '../../protocol/wire.ts';
import type { OptionValues } from '../command.ts';
import type { Context, Machine } from '../context.ts';
import { DOWN_MS, DOWN_SLACK_MS, GONE_LOOK_MS, GONE_MS } from '../limits.ts';
import { flag, time } from '../options.ts';
import { findUp, noneUp, type Up } from '../up.ts';

export async function run(
  context: Context,
  _args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const now = flag(options, 'now');
  const deadlineMs = time(options, 'deadline', '--deadline') ?? DOWN_MS;
  const workspace = await context.workspace();
  const machine = await context.machine();
  const up = await findUp(workspace);
  if (up === null) return downWithoutSupervisor(context, workspace, machine);
  const asked = await ask(up, { now, deadlineMs });
  const forced = await makeSure({ workspace, machine, up, asked });
  const held = asked?.runs ?? up.status.runs;
  const left = await leftOf(
    workspace,
    held.map(({ id }) => id),
  );
  if (left.length > 0) throw stillThere(left);
  // Of a parent that was killed before.
  machine.forgetParent(workspace);
  tell(context, { pid: up.status.pid, runs: held, forced });
  return EXIT.ok;
}

/** Null: it did not answer in time, or ended before it could. */
async function ask(
  { client }: Up,
  params: { readonly now: boolean; readonly deadlineMs: number },
): Promise<DownResult | null> {
  const timeoutMs = (params.now ? 0 : params.deadlineMs) + DOWN_SLACK_MS;
  try {
    return await client.call('supervisor.down', params, { timeoutMs });
  } catch (error) {
    if (isTroupeError(error) && error.code.startsWith('client/')) return null;
    throw error;
  } finally {
    client.close();
  }
}

/** Whether force was needed. */
async function makeSure(of: {
  readonly workspace: Workspace;
  readonly machine: Machine;
  readonly up: Up;
  readonly asked: DownResult | null;
}): Promise<boolean> {
  const { workspace, machine, up, asked } = of;
  if (asked !== null && (await gone(workspace, machine, up.status))) return false;
  // The parent first: it would start the supervisor again.
  const parent = machine.parent(workspace);
  if (parent?.alive === true) signal(parent.pid, 'SIGKILL');
  const holder = await workspace.deps.live.holder(workspace.places);
  if (holder?.pid === up.status.pid) signal(holder.pid, 'SIGKILL');
  if (!(await gone(workspace, machine, up.status))) throw stillThere([up.status.pid]);
  return true;
}

/** Neither the lock is held, nor are the two processes there. */
async function gone(
  workspace: Workspace,
  machine: Machine,
  { pid }: StatusResult,
): Promise<boolean> {
  const { clock, live } = workspace.deps;
  const until = clock.monotonicMs() + GONE_MS;
  for (;;) {
    const holder = await live.holder(workspace.places);
    const parent = machine.parent(workspace);
    if (holder?.pid !== pid && parent?.alive !== true && !isThere(pid)) return true;
    if (clock.monotonicMs() > until) return false;
    await clock.sleep(GONE_LOOK_MS);
  }
}

async function downWithoutSupervisor(
  context: Context,
  workspace: Workspace,
  machine: Machine,
): Promise<ExitCode> {
  const holder = await workspace.deps.live.holder(workspace.places);
  if (holder !== null) throw controlErrors.notUp(holder.pid);
  const parent = machine.parent(workspace);
  if (parent?.alive !== true) {
    const error = noneUp(parent);
    // Whoever gave up is asked about once more at most.
    machine.forgetParent(workspace);
    throw error;
  }
  // It is about to start the supervisor again.
  signal(parent.pid, 'SIGTERM');
  const { clock } = workspace.deps;
  const until = clock.monotonicMs() + GONE_MS;
  while (machine.parent(workspace)?.alive === true) {
    if (clock.monotonicMs() > until) throw stillThere([parent.pid]);
    await clock.sleep(GONE_LOOK_MS);
  }
  tell(context, { pid: parent.pid, runs: [], forced: false });
  return EXIT.ok;
}

function tell(
  context: Context,
  down: { readonly pid: number; readonly runs: readonly RunRow[]; readonly forced: boolean },
): void {
  const { pid, runs, forced } = down;
  if (context.json) {
    context.printJson({ pid, forced, runs });
    return;
  }
  const how = forced ? 'It did not end in time and was killed' : 'Down';
  context.print(`${how}: process ${pid} and all that it started are gone.\n`);
  for (const { id, state } of runs) {
    if (state !== 'interrupted' && state !== 'running') continue;
    context.print(
      `  ${id} is interrupted; go on with: ${context.command(`troupe resume ${id}`)}\n`,
    );
  }
}

function stillThere(pids: readonly number[]): TroupeError {
  return new TroupeError({
    code: 'cli/still-there',
    message: `not everything has ended: ${pids.join(', ')} still run${pids.length === 1 ? 's' : ''}`,
    hint: 'Look at these processes with `ps`, end them, and try again.',
    exit: EXIT.unfinished,
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, which is what was wanted.
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
