/**
 * Watching one run to its end, wherever it goes on: the view, what Ctrl-C does, and the summary, which is read from the
 * journal.
 */
import {
  askedInput,
  diffOf,
  failedFinalGate,
  lastOutputs,
  outputPath,
  type RunView,
  readMail,
  tasksOf,
  viewRun,
  type Workspace,
} from '../control/index.ts';
import type { Redactor } from '../events/index.ts';
import type { ExitCode } from '../kernel/errors.ts';
import type { RunRow } from '../protocol/shapes.ts';
import type { Context } from './context.ts';
import type { RunLink } from './run-link.ts';
import { exitOf, renderSummary } from './view/summary.ts';
import { openWatch } from './view/watch.ts';

export interface RunWatch {
  /** A text that stays. */
  say(text: string): void;
  /** Once: what runs may end. Twice: at once. */
  askToStop(now: boolean, signal: string): void;
  close(): void;
}

export interface ToWatch {
  readonly workspace: Workspace;
  readonly link: RunLink;
  readonly redactor: Redactor;
  readonly sandbox: string;
}

export function openRunWatch(
  context: Context,
  { workspace, link, redactor, sandbox }: ToWatch,
): RunWatch {
  const watch = openWatch({
    context,
    link,
    redactor,
    outputOf: (id) => outputPath(workspace.places, link.run, id),
    sandbox,
    wholeInput: (row) => askedInput(workspace, row),
  });
  return {
    say: (text) => watch.say(text),
    askToStop(now, signal) {
      watch.stopping(
        now
          ? 'Stopping at once.\n'
          : `Stopping after ${signal}: running work may end. Once more stops at once.\n`,
      );
      // The end is awaited by whoever waits for the run to finish; a failure shows there too.
      const stop = { run: link.run, now, by: 'user' };
      link.call('run.stop', stop, { timeoutMs: 0 }).catch(() => undefined);
    },
    close: () => {
      watch.close();
      link.close();
    },
  };
}

/** The summary, or with `--json` the row with its tasks; says how to exit. */
export async function tellEnd(
  context: Context,
  workspace: Workspace,
  row: RunRow,
): Promise<ExitCode> {
  const view = await viewRun(workspace, row.id, 'run');
  const tasks = tasksOf(view);
  if (context.json) {
    context.printJson({ ...row, tasks });
    return exitOf(row.state);
  }
  const diff = await diffOf(workspace, { of: row.id, run: row.id, stat: true });
  const changes = diff.files.length === 0 ? null : { commit: diff.to, files: diff.files.length };
  const ended = row.endedAt === null ? workspace.deps.clock.now() : Date.parse(row.endedAt);
  const elapsedMs = ended - Date.parse(row.startedAt);
  const word = await lastWord(workspace, view);
  const more = {
    word,
    finalGate: finalGateOf(workspace, view),
    outputs: await lastOutputs(workspace, view),
    command: (line: string) => context.command(line),
  };
  context.print(renderSummary({ run: row, tasks, changes, elapsedMs, ...more }, context.styles));
  return exitOf(row.state);
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
