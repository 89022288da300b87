/** The doctor on what a supervisor leaves on the machine: its lock, its socket, its parent's note, its processes. */
import { counted } from '../kernel/counted.ts';
import { systemCode } from '../kernel/errors.ts';
import { markerOf } from '../supervisor/index.ts';
import type { LockRow, MachineLook } from './deps.ts';
import { fine, type Look, wrong } from './doctor-mend.ts';
import { listFolder, readJson } from './files.ts';
import type { LiveReport, RunView } from './queries.ts';
import type { Workspace } from './workspace.ts';

/** Before the doctor takes the lock itself: taking it clears the stale ones away. */
export async function lookAtLocks(workspace: Workspace, machine: MachineLook): Promise<Look[]> {
  const check = 'lock';
  const rows = await machine.locks(workspace.places);
  if (rows.length === 0) return [fine(check, 'nobody works in this repository')];
  return rows.map((row) => lockLook(workspace, row));
}

function lockLook({ deps }: Workspace, { path, pid, acquiredAt, state }: LockRow): Look {
  const check = 'lock';
  const name = path.slice(path.lastIndexOf('/') + 1);
  switch (state) {
    case 'alive':
      return fine(check, `held by process ${pid} since ${acquiredAt}`);
    case 'unseen': {
      const detail = `${name}: of process ${pid} of a container or another machine, which can't be seen from here`;
      return fine(check, detail, `If it is gone for good, remove ${path}.`);
    }
    case 'unreadable':
      return wrong(
        check,
        `${path} is damaged, so nobody can tell whether its holder is alive`,
        'Make sure that no supervisor runs on this repository, then remove the file.',
      );
    case 'dead': {
      const act = async (): Promise<string> => {
        await deps.files.remove(path);
        return 'removed';
      };
      const detail = `${name}: of process ${pid}, which is gone`;
      return { ...wrong(check, detail, ''), mend: { will: `remove ${name}`, act } };
    }
  }
}

/** `report`: who holds the repository, as the doctor found it. */
export async function lookAtSocket(workspace: Workspace, report: LiveReport): Promise<Look[]> {
  const check = 'socket';
  const { files, live } = workspace.deps;
  const { state, supervisorFile } = workspace.places;
  const { holder, status } = report;
  if (holder !== null && status !== null) return [fine(check, `${status.socket}: it answers`)];
  if (holder !== null) {
    return [
      wrong(
        check,
        `process ${holder.pid} holds the repository and does not answer`,
        'It may be starting, ending or very busy: look again. If it stays so: `troupe down`, or end the process.',
      ),
    ];
  }
  const told = await readJson(files, supervisorFile).catch(() => null);
  const named = (told as { readonly socket?: unknown } | null)?.socket;
  const paths = [await live.socketPath(workspace.places)];
  if (typeof named === 'string' && named.startsWith('/') && !paths.includes(named))
    paths.push(named);
  const dead: string[] = [];
  for (const path of [
    ...paths.filter((path) => path.endsWith('.sock')),
    supervisorFile,
    `${state}/token`,
    `${state}/token.viewer`,
  ]) {
    if ((await files.stat(path)) !== null) dead.push(path);
  }
  if (dead.length === 0) return [fine(check, 'there is none, as nobody listens')];
  const act = async (): Promise<string> => {
    for (const path of dead) await files.remove(path);
    return 'removed';
  };
  const detail = `left by a supervisor that is gone: ${dead.join(', ')}`;
  return [{ ...wrong(check, detail, ''), mend: { will: 'remove them', act } }];
}

export async function lookAtParent(
  workspace: Workspace,
  machine: MachineLook,
  report: LiveReport,
): Promise<Look[]> {
  const check = 'parent';
  const note = machine.parent(workspace.places);
  if (note === null) return [];
  const { pid, state, at, reason, alive } = note;
  if (state === 'gave-up') {
    return [
      wrong(
        check,
        `the supervisor was given up at ${at}: ${reason ?? 'it kept dying'}`,
        `See ${note.log}; \`troupe up\` starts it again.`,
      ),
    ];
  }
  if (alive) {
    const detail =
      state === 'waiting'
        ? `process ${pid} starts the supervisor again: ${reason ?? 'it died'}`
        : `process ${pid} keeps the supervisor`;
    return [fine(check, detail)];
  }
  if (report.holder !== null) {
    const detail = `process ${pid} is gone: nothing starts the supervisor again`;
    return [wrong(check, detail, '`troupe up` gives it a new one.')];
  }
  const path = `${workspace.places.state}/parent.json`;
  const act = async (): Promise<string> => {
    await workspace.deps.files.remove(path);
    return 'removed';
  };
  const detail = `process ${pid} and its supervisor were killed; nothing runs`;
  const next = '`troupe up` takes up what went on.';
  return [{ ...wrong(check, detail, next), mend: { will: 'remove parent.json', act } }];
}

/** Those that carry the marker of a run that nobody works on. */
export async function lookAtProcesses(
  workspace: Workspace,
  machine: MachineLook,
  { views, report }: { readonly views: readonly RunView[]; readonly report: LiveReport },
): Promise<Look[]> {
  const check = 'processes';
  const { hash: scope } = workspace.repository;
  const all = await machine.marked(`${scope}/`);
  if (report.holder !== null) {
    return [
      fine(
        check,
        `${counted(all.length, 'process', 'processes')} of commands, of process ${report.holder.pid}`,
      ),
    ];
  }
  const looks: Look[] = [];
  const known = new Set<number>();
  // Runs whose folder is gone are found by the marker of the repository, below.
  for (const { run } of views) {
    const marker = `${markerOf({ scope, run })}/`;
    const pids = await machine.marked(marker);
    for (const pid of pids) known.add(pid);
    if (pids.length > 0) looks.push(strayLook(workspace, { marker, pids, of: `run ${run}` }));
  }
  const others = all.filter((pid) => !known.has(pid));
  if (others.length > 0) {
    const of = 'this repository';
    looks.push(strayLook(workspace, { marker: `${scope}/`, pids: others, of }));
  }
  return looks.length > 0 ? looks : [fine(check, 'none is left over')];
}

function strayLook(
  { deps }: Workspace,
  {
    marker,
    pids,
    of,
  }: { readonly marker: string; readonly pids: readonly number[]; readonly of: string },
): Look {
  const act = async (): Promise<string> => {
    const left = await deps.exec.sweep(marker);
    if (left.length > 0)
      throw new Error(`${counted(left.length, 'process', 'processes')} stayed: ${left.join(', ')}`);
    return 'ended';
  };
  const detail = `left over of ${of}, whose supervisor is gone: ${pids.join(', ')}`;
  return { ...wrong('processes', detail, ''), mend: { will: 'end them', act } };
}

/** Commands that the journal has as running, of runs that nobody works on. */
export async function lookAtCommands(
  { repository }: Workspace,
  machine: MachineLook,
  view: RunView,
): Promise<Look[]> {
  const { state, run, liveness } = view;
  const running = [...state.background.values()].filter(({ ended }) => ended === null);
  const check = `background commands of ${run}`;
  if (running.length === 0) return [];
  if (liveness.alive) return [fine(check, `${counted(running.length, 'command')} running`)];
  const looks: Look[] = [];
  for (const { id, actor, command } of running) {
    const pids = await machine.marked(`${markerOf({ scope: repository.hash, run })}/${id}`);
    const what = `${id} of ${actor} (\`${command.slice(0, SHOWN)}\`)`;
    const ended = state.run.ended !== null;
    const detail =
      pids.length > 0
        ? `${what} is still there without its supervisor: process ${pids.join(', ')}`
        : `${what} was lost with its supervisor`;
    const next = ended
      ? ''
      : `\`troupe resume ${run}\` tells its actor, and ends what is left of it.`;
    looks.push(pids.length > 0 ? wrong(check, detail, next) : fine(check, detail, next));
  }
  return looks;
}

const SHOWN = 80;

/** Files of a start or a write that was killed. */
export async function lookAtTemporaries(workspace: Workspace): Promise<Look[]> {
  const { files } = workspace.deps;
  const { runs, state } = workspace.places;
  const halves = (await listFolder(files, runs)).filter((name) => name.startsWith('.new-'));
  const news = (await listFolder(files, state)).filter((name) => /\.tmp$|^lock\.new-/.test(name));
  const paths = [
    ...halves.map((name) => `${runs}/${name}`),
    ...news.map((name) => `${state}/${name}`),
  ];
  if (paths.length === 0) return [];
  const act = async (): Promise<string> => {
    for (const path of paths) {
      await files.remove(path).catch((error: unknown) => {
        if (systemCode(error) !== 'ENOENT') throw error;
      });
    }
    return 'removed';
  };
  const detail = `files that were never finished: ${paths.join(', ')}`;
  return [{ ...fine('temporary files', detail), mend: { will: 'remove them', act } }];
}
