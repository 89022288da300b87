/**
 * What a supervisor that is up does for its clients besides what every supervisor does: it takes over runs, and goes
 * down when it is asked to.
 */
import { EXIT, TroupeError } from '../kernel/errors.ts';
import type { RunRow } from '../protocol/shapes.ts';
import { POLICY_MODES } from '../protocol/team.ts';
import type {
  DownParams,
  LeftRun,
  ResumeRunParams,
  StartRunParams,
  StartRunResult,
} from '../protocol/wire.ts';
import { markerOf, type Supervisor } from '../supervisor/index.ts';
import { beginRun, prepareResume, type RunToBegin } from './begin.ts';
import { prepareContinue } from './continue-merge.ts';
import { errors } from './errors.ts';
import type { LiveControl } from './live.ts';
import { readSettings } from './settings.ts';
import { prepareRun } from './start.ts';
import type { Workspace } from './workspace.ts';

/** Of the process of a supervisor that is up. */
export interface UpService {
  readonly log: string;
  /** Reads settings and keys as they are now: for the threads, and for what is redacted. */
  refresh(): Promise<void>;
  /** The process that starts it again; null when there is none. */
  parent(): number | null;
  left(): readonly LeftRun[];
  /** A person goes on with it. */
  forget(run: string): void;
  /** What holds the commands of a run, in words. */
  sandboxText(run: RunToBegin['file']): string;
  /** All runs have stopped: the process ends when the answer is out. */
  end(): void;
}

export type UpControl = Pick<LiveControl, 'startRun' | 'resumeRun' | 'down'>;

export function upControl(of: {
  readonly workspace: Workspace;
  readonly supervisor: Supervisor;
  readonly up: UpService;
}): UpControl {
  const { workspace, supervisor, up } = of;
  let goingDown = false;
  const admit = (): void => {
    if (goingDown) throw goesDown();
  };
  const begin = async (what: RunToBegin, notes: readonly string[]): Promise<StartRunResult> => {
    admit();
    const { id } = what.file;
    const { after } = await beginRun(workspace, supervisor, what);
    up.forget(id);
    letGo(supervisor, id);
    return { run: id, from: `${after}`, notes, sandbox: up.sandboxText(what.file) };
  };
  return {
    async startRun({ keys, mode, ...given }: StartRunParams) {
      admit();
      await up.refresh();
      const known = POLICY_MODES.find((one) => one === mode);
      if (mode !== undefined && known === undefined) throw errors.unknownMode(mode);
      const missing = await missingKeys(keys, workspace);
      const prepared = await prepareRun(workspace, { ...given, mode: known }).catch(
        withKeys(missing),
      );
      return begin({ ...prepared, mode: 'start' }, [...missing, ...prepared.notes]);
    },
    async resumeRun({ run, budget: more, keys, reopen }: ResumeRunParams) {
      admit();
      await up.refresh();
      if (isGoingOn(supervisor, run)) throw errors.running(run);
      const missing = await missingKeys(keys, workspace);
      const preparing =
        reopen === undefined
          ? prepareResume(workspace, run, more ?? {})
          : prepareContinue(workspace, { run, task: reopen });
      const { view, budget } = await preparing.catch(withKeys(missing));
      if (view.file.replay !== undefined) throw errors.replayNotHere(run);
      return begin({ file: view.file, mode: 'resume', budget, reopen }, missing);
    },
    async down(params) {
      goingDown = true;
      const going = supervisor.runs().filter((run) => isGoingOn(supervisor, run));
      const runs = await Promise.all(going.map((run) => stopWithin(of, run, params)));
      up.end();
      return { runs };
    },
  };
}

/** A run that is over is let go of, so that a supervisor that is up for months holds only what goes on. */
export function letGo(supervisor: Supervisor, run: string): void {
  const release = (): void => supervisor.release(run);
  supervisor.finished(run).then(release, release);
}

function isGoingOn(supervisor: Supervisor, run: string): boolean {
  const state = supervisor.state(run);
  return state !== null && state.run.ended === null && state.run.interrupted === null;
}

/** Gracefully until the deadline, then at once. */
async function stopWithin(
  { workspace, supervisor }: { readonly workspace: Workspace; readonly supervisor: Supervisor },
  run: string,
  { now, deadlineMs }: DownParams,
): Promise<RunRow> {
  const by = '`troupe down`';
  if (now) return supervisor.stop({ run, now: true, by });
  const stopped = supervisor.stop({ run, now: false, by });
  const over = new AbortController();
  const late = workspace.deps.clock.sleep(deadlineMs, over.signal).then(
    () => supervisor.stop({ run, now: true, by }),
    () => stopped,
  );
  try {
    return await Promise.race([stopped, late]);
  } finally {
    over.abort();
  }
}

/** Of the keys that the caller has in its environment, those that this process has not, as a note. */
async function missingKeys(
  keys: readonly string[] | undefined,
  { deps, places }: Workspace,
): Promise<string[]> {
  const { models } = await readSettings(deps, places);
  const known = Object.values(models.providers).filter(({ keyOrigin }) => keyOrigin !== null);
  const missing = (keys ?? []).filter(
    (name) =>
      (deps.env[name] ?? '') === '' && !known.some((one) => one.keyVariables.includes(name)),
  );
  if (missing.length === 0) return [];
  return [
    `note: the supervisor that is up was started without ${missing.join(', ')}, which you have set here; ` +
      'the run uses what the supervisor has. To change that put it into `.env`, or `troupe down` and `troupe up` from here',
  ];
}

/** A run that can't start for want of a key says where the key is missing. */
function withKeys(missing: readonly string[]): (thrown: unknown) => never {
  return (thrown) => {
    const [note] = missing;
    if (!(thrown instanceof TroupeError) || note === undefined) throw thrown;
    const { code, message, data, exit, hint } = thrown;
    const more = [hint, note].filter((text) => text !== undefined).join('\n');
    throw new TroupeError({ code, message, data, exit, hint: more, cause: thrown });
  };
}

/** For a supervisor that was started for one run, in the foreground. */
export function notUp(supervisor: { readonly pid: number; readonly startedAt: string }): UpControl {
  const refuse = (): Promise<never> => Promise.reject(errors.held(supervisor));
  return {
    startRun: refuse,
    resumeRun: refuse,
    down: () => Promise.reject(errors.notUp(supervisor.pid)),
  };
}

function goesDown(): TroupeError {
  return new TroupeError({
    code: 'control/going-down',
    message: 'the supervisor is going down',
    hint: 'Start it again with `troupe up` when it is gone.',
    exit: EXIT.noSupervisor,
  });
}

/** Processes of runs that are there though their supervisor is gone, once what can be ended was ended. */
export async function leftOf(workspace: Workspace, runs: readonly string[]): Promise<number[]> {
  const { hash: scope } = workspace.repository;
  const left = await Promise.all(
    runs.map((run) => workspace.deps.exec.sweep(markerOf({ scope, run }))),
  );
  return left.flat();
}
