/**
 * One run in the foreground: a supervisor in this process, a view or lines while it goes on, a summary at its end.
 *
 * Invariant: however it ends, the supervisor is closed (nothing of the run is left running), the lock is given back and
 * the cursor is visible.
 */
import { beginRun, type RunToBegin, readSettings, type Workspace } from '../control/index.ts';
import { EXIT, type ExitCode } from '../kernel/errors.ts';
import type { Logger, LogLevel } from '../kernel/ports.ts';
import type { RunRow } from '../protocol/shapes.ts';
import type { Supervisor } from '../supervisor/index.ts';
import type { Context } from './context.ts';
import { makeRunLink } from './run-link.ts';
import { listenForStop } from './stop-requests.ts';
import { safeLine, safeText } from './text/safe.ts';
import { openRunWatch, type RunWatch, tellEnd } from './watch-run.ts';

export interface RunToHost extends RunToBegin {
  readonly workspace: Workspace;
  /** Told when the lock is held and the run begins. */
  readonly notes: readonly string[];
  /** Takes part in the run once it goes on, until it is called back; tells its end in place of the summary. */
  readonly attend?: Attendance;
}

export interface Attendance {
  begin(supervisor: Supervisor): () => void;
  tell(row: RunRow): Promise<ExitCode>;
}

export async function hostRun(context: Context, what: RunToHost): Promise<ExitCode> {
  const { workspace, file } = what;
  const stop = listenForStop(context.io);
  const redactor = await workspace.redactor();
  const watch: { current: RunWatch | null } = { current: null };
  const say = (text: string): void => {
    const shown = redactor.text(text);
    if (watch.current === null) context.io.err.write(shown);
    else watch.current.say(shown);
  };
  const { hosting } = await context.machine();
  const host = await hosting.open(workspace, await makeLogger(context, workspace, say));
  const { supervisor, client } = host;
  let row: RunRow;
  let leave: (() => void) | null = null;
  try {
    for (const note of what.notes) say(`troupe: ${safeText(note)}\n`);
    if (stop.asked() > 0) return tellNotBegun(context);
    leave = what.attend?.begin(supervisor) ?? null;
    const { after } = await beginRun(workspace, supervisor, what);
    const { clock } = workspace.deps;
    const link = makeRunLink({ run: file.id, from: `${after}`, client, clock });
    watch.current = openRunWatch(context, {
      workspace,
      link,
      redactor,
      sandbox: host.sandboxText(file),
    });
    stop.onAsk((now, signal) => watch.current?.askToStop(now, signal));
    row = redactor.data(await link.finished());
  } finally {
    leave?.();
    watch.current?.close();
    await host.close();
  }
  if (what.attend !== undefined) return what.attend.tell(row);
  return tellEnd(context, workspace, row);
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
