/**
 * One run in the foreground: a supervisor in this process, a view or lines while it goes on, a summary at its end.
 *
 * Invariant: however it ends, the supervisor is closed (nothing of the run is left running), the lock is given back and
 * the cursor is visible.
 */
import {
  askedInput,
  createRun,
  diffOf,
  failedFinalGate,
  forgetRun,
  lastOutputs,
  outputPath,
  type RunView,
  readMail,
  readSettings,
  viewRun,
  type Workspace,
} from '../control/index.ts';
import { EXIT, type ExitCode } from '../kernel/errors.ts';
import type { Logger, LogLevel, SandboxReport } from '../kernel/ports.ts';
import type { RunRow, TaskRow } from '../protocol/shapes.ts';
import type { Budget, RunFile } from '../protocol/team.ts';
import { type Supervisor, taskRows } from '../supervisor/index.ts';
import type { Context } from './context.ts';
import type { Io } from './io.ts';
import { safeLine, safeText } from './text/safe.ts';
import { exitOf, renderSummary } from './view/summary.ts';
import { openWatch, type Watch } from './view/watch.ts';

export interface RunToHost {
  readonly workspace: Workspace;
  readonly file: RunFile;
  /** Told when the lock is held and the run begins. */
  readonly notes: readonly string[];
  readonly mode: 'start' | 'resume';
  /** More files of a new run's folder, by name. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Takes part in the run once it goes on, until it is called back; tells its end in place of the summary. */
  readonly attend?: Attendance;
  /** Of a run that is resumed: what it may spend from now on. */
  readonly budget?: Partial<Budget> | undefined;
}

export interface Attendance {
  begin(supervisor: Supervisor): () => void;
  tell(row: RunRow): Promise<ExitCode>;
}

export async function hostRun(context: Context, what: RunToHost): Promise<ExitCode> {
  const { workspace, file } = what;
  const stop = listenForStop(context.io);
  const redactor = await workspace.redactor();
  let watch: Watch | null = null;
  const say = (text: string): void => {
    const shown = redactor.text(text);
    if (watch === null) context.io.err.write(shown);
    else watch.say(shown);
  };
  const { hosting } = await context.machine();
  const host = await hosting.open(workspace, await makeLogger(context, workspace, say));
  const { supervisor } = host;
  let over: Over;
  let leave: (() => void) | null = null;
  try {
    for (const note of what.notes) say(`troupe: ${safeText(note)}\n`);
    if (stop.asked() > 0) return tellNotBegun(context);
    watch = openWatch({
      context,
      supervisor,
      run: file.id,
      redactor,
      outputOf: (id) => outputPath(workspace.places, file.id, id),
      sandbox: sandboxText(host.sandbox, file),
      wholeInput: (row) => askedInput(workspace, row),
    });
    leave = what.attend?.begin(supervisor) ?? null;
    await begin(supervisor, what);
    stop.onAsk((now, signal) => askToStop({ supervisor, run: file.id, watch, now, signal }));
    const row = await supervisor.finished(file.id);
    over = redactor.data({ row, tasks: tasksAtEnd(supervisor, file.id) });
  } finally {
    leave?.();
    watch?.close();
    await host.close();
  }
  if (what.attend !== undefined) return what.attend.tell(over.row);
  await tellEnd(context, workspace, over);
  return exitOf(over.row.state);
}

function sandboxText(report: SandboxReport, file: RunFile): string {
  if (file.team.sandbox?.mode === 'off') return 'sandbox off: commands run with your rights';
  return report.level === 0
    ? 'no sandbox: commands run with your rights'
    : `sandbox: ${report.detail}${hostsText(file.team.sandbox?.network?.allow ?? [])}`;
}

function hostsText(hosts: readonly string[]): string {
  if (hosts.length === 0) return '';
  const more = hosts.length > 3 ? ` and ${hosts.length - 3} more` : '';
  return ` but ${hosts.slice(0, 3).join(', ')}${more}`;
}

interface Over {
  readonly row: RunRow;
  readonly tasks: readonly TaskRow[];
}

function tellNotBegun(context: Context): ExitCode {
  if (context.json) {
    const message = 'interrupted before the run began; nothing was made';
    context.printJson({ error: { code: 'cli/interrupted', message, hint: null } });
  } else {
    context.io.err.write('troupe: interrupted before the run began; nothing was made\n');
  }
  return EXIT.interrupted;
}

async function begin(supervisor: Supervisor, what: RunToHost): Promise<void> {
  const { workspace, file, mode } = what;
  if (mode === 'resume') {
    await supervisor.resumeRun(file.id, what.budget);
    return;
  }
  await createRun(workspace, file, what.beside);
  try {
    await supervisor.startRun(file);
  } catch (error) {
    // Before its first record nothing of a run has happened; a run that never was is not left behind.
    if ((supervisor.state(file.id)?.run.startedAt ?? null) === null) {
      await forgetRun(workspace, file.id);
    }
    throw error;
  }
}

function tasksAtEnd(supervisor: Supervisor, run: string): TaskRow[] {
  const state = supervisor.state(run);
  return state === null ? [] : taskRows(state, { alive: false, phases: {} });
}

interface StopRequests {
  asked(): number;
  /** Called for each that came and each that comes. */
  onAsk(listener: (now: boolean, signal: string) => void): void;
}

/** From the first moment to the end of the process, so that no signal ends it while something of a run is there. */
function listenForStop(io: Io): StopRequests {
  const signals: string[] = [];
  let listener: ((now: boolean, signal: string) => void) | null = null;
  io.onSignal((name) => {
    signals.push(name);
    if (signals.length <= 2) listener?.(signals.length === 2, name);
  });
  return {
    asked: () => signals.length,
    onAsk(given) {
      listener = given;
      for (const [index, name] of signals.slice(0, 2).entries()) given(index === 1, name);
    },
  };
}

/** Once: what runs may end. Twice: at once. */
function askToStop(on: {
  readonly supervisor: Supervisor;
  readonly run: string;
  readonly watch: Watch | null;
  readonly now: boolean;
  readonly signal: string;
}): void {
  const { supervisor, run, watch, now, signal } = on;
  const text = now
    ? 'Stopping at once.\n'
    : `Stopping after ${signal}: running work may end. Once more stops at once.\n`;
  watch?.stopping(text);
  // The end is awaited by whoever waits for the run to finish; a failure shows there too.
  supervisor.stop({ run, now, by: 'user' }).catch(() => undefined);
}

async function tellEnd(context: Context, workspace: Workspace, over: Over): Promise<void> {
  const { row, tasks } = over;
  if (context.json) {
    context.printJson({ ...row, tasks });
    return;
  }
  const diff = await diffOf(workspace, { of: row.id, run: row.id, stat: true });
  const changes = diff.files.length === 0 ? null : { commit: diff.to, files: diff.files.length };
  const ended = row.endedAt === null ? workspace.deps.clock.now() : Date.parse(row.endedAt);
  const elapsedMs = ended - Date.parse(row.startedAt);
  const view = await viewRun(workspace, row.id, 'run');
  const word = await lastWord(workspace, view);
  const more = {
    word,
    finalGate: finalGateOf(workspace, view),
    outputs: await lastOutputs(workspace, view),
    command: (line: string) => context.command(line),
  };
  context.print(renderSummary({ run: row, tasks, changes, elapsedMs, ...more }, context.styles));
}

function finalGateOf(
  workspace: Workspace,
  view: RunView,
): { readonly gate: string; readonly output: string | null } | null {
  const failed = failedFinalGate(view.state);
  if (failed === null) return null;
  const { gate, output } = failed;
  const path = output === null ? null : outputPath(workspace.places, view.run, output);
  return { gate: view.redactor.text(gate), output: path };
}

/** What the team told the person last; nobody else would show it. */
async function lastWord(
  workspace: Workspace,
  view: RunView,
): Promise<{ readonly from: string; readonly text: string } | null> {
  const mail = await readMail(workspace, view, { actors: ['user'], from: 0 });
  const last = mail.findLast((row) => row.type === 'chat.message');
  return last === undefined ? null : { from: last.from, text: last.body.text };
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

async function makeLogger(
  context: Context,
  { deps, places }: Workspace,
  say: (text: string) => void,
): Promise<Logger> {
  const { log } = await readSettings(deps, places);
  const least = LEVELS.indexOf(context.io.env['TROUPE_DEBUG'] === '1' ? 'debug' : log.value);
  return {
    log(level, message, data) {
      if (LEVELS.indexOf(level) < least) return;
      const more = data === undefined ? '' : ` ${JSON.stringify(data)}`;
      say(`troupe: ${level}: ${safeLine(message + more)}\n`);
    },
  };
}
