/**
 * What a person sees while a run goes on in this process: the live view on a terminal, one line per important thing
 * elsewhere, nothing with `--json`.
 */

import type { Redactor } from '../../events/index.ts';
import type { AskRow } from '../../protocol/ask.ts';
import type { StoredRunRecord } from '../../protocol/record.ts';
import { actorRows, runRow, type Supervisor, taskRows } from '../../supervisor/index.ts';
import type { Context } from '../context.ts';
import { openPrompt, type Prompt } from '../prompt/prompt.ts';
import { drawView } from './draw.ts';
import { asksOnly, lastHooks, linesOf, type OutputOf } from './lines.ts';
import type { ViewModel } from './model.ts';
import { openScreen } from './screen.ts';

export interface Watch {
  /** A text that stays. */
  say(text: string): void;
  /** Says it, and what Ctrl-C would do is no longer shown. */
  stopping(text: string): void;
  close(): void;
}

export interface WatchOptions {
  readonly context: Context;
  readonly supervisor: Supervisor;
  readonly run: string;
  readonly outputOf: OutputOf;
  readonly redactor: Redactor;
  /** What holds the commands of this run, in words. */
  readonly sandbox: string;
  /** The input of an ask, however large. */
  readonly wholeInput: (row: AskRow) => Promise<unknown>;
}

export function openWatch(options: WatchOptions): Watch {
  const { context } = options;
  if (context.json) return openSilence(context);
  return context.io.out.isTerminal ? openView(options) : openLines(options);
}

/** `--json` keeps the standard output for its one document. */
function openSilence(context: Context): Watch {
  const say = (text: string): void => context.io.err.write(text);
  return { say, stopping: say, close: () => undefined };
}

function openLines(options: WatchOptions): Watch {
  const { context, supervisor, run, outputOf, redactor } = options;
  const say = (text: string): void => context.print(text);
  const forget = supervisor.onRecord((from, record) => {
    if (from !== run) return;
    // Of transcripts no line is made.
    const { entries: _entries, ...told } = record;
    for (const line of linesOf(redactor.data(told), outputOf)) say(line);
  });
  say(`${opening(options)}\n`);
  return { say, stopping: say, close: forget };
}

const opening = ({ context, run, sandbox }: WatchOptions): string =>
  `run ${run} (${sandbox}); watch it elsewhere with: ${context.command('troupe tasks')}`;

/** Between two drawings, and as a multiple of what a drawing costs, so that drawing never takes much of the time. */
const PAUSE_MS = 100;
const COST_FACTOR = 10;
const TICK_MS = 1_000;
const HINT = 'Ctrl-C stops gracefully, twice at once';

function openView(options: WatchOptions): Watch {
  const { context, supervisor, run, redactor } = options;
  const { io, styles } = context;
  const screen = openScreen(io);
  let lastMail: ViewModel['lastMail'] = null;
  let hint = HINT;
  let timer: NodeJS.Timeout | null = null;
  let pause = PAUSE_MS;
  let prompt: Prompt | null = null;

  const draw = (): void => {
    timer = null;
    const began = performance.now();
    const model = modelOf(supervisor, run, { lastMail, hint });
    if (model === null) return;
    const { columns, rows } = io.out;
    const asked = (prompt?.lines() ?? []).map((line) => redactor.text(line));
    const view = asked.length === 0 ? rows : Math.max(2, rows - asked.length);
    const lines = [...drawView(redactor.data(model), { columns, rows: view }, styles), ...asked];
    // What is asked stands at the end, so that it is what is left on a small terminal.
    screen.draw(lines.slice(-Math.max(1, rows - 1)));
    pause = Math.max(PAUSE_MS, (performance.now() - began) * COST_FACTOR);
  };
  const soon = (): void => {
    timer ??= setTimeout(draw, pause);
  };
  const forgetRecords = supervisor.onRecord((from, record) => {
    if (from !== run) return;
    lastMail = mailOf(record) ?? lastMail;
    prompt?.record(record);
    for (const line of lastHooks(record)) screen.above(redactor.text(line));
    if (prompt === null) for (const line of asksOnly(record)) screen.above(redactor.text(line));
    soon();
  });
  const forgetResize = io.out.onResize(() => {
    prompt?.resized();
    soon();
  });
  const tick = setInterval(soon, TICK_MS);
  screen.above(`${opening(options)}\n`);
  draw();
  // Keys are answered at once.
  const changed = (): void => {
    if (timer !== null) clearTimeout(timer);
    draw();
  };
  prompt = openPrompt({ ...options, changed });

  return {
    say: (text) => screen.above(text),
    stopping(text) {
      hint = 'Stopping …';
      screen.above(text);
      soon();
    },
    close() {
      clearInterval(tick);
      if (timer !== null) clearTimeout(timer);
      forgetRecords();
      forgetResize();
      prompt?.close();
      screen.close({ keep: false });
    },
  };
}

function mailOf(record: StoredRunRecord): ViewModel['lastMail'] {
  const mail = record.mail?.findLast((one) => one.lane !== 'bulk');
  return mail === undefined ? null : { from: mail.from, to: mail.to, text: mail.body.text };
}

function modelOf(
  supervisor: Supervisor,
  run: string,
  more: Pick<ViewModel, 'lastMail' | 'hint'>,
): ViewModel | null {
  const state = supervisor.state(run);
  if (state === null) return null;
  const liveness = supervisor.liveness(run);
  const row = runRow(state, liveness);
  const now = Date.now();
  return {
    run: row,
    tasks: taskRows(state, liveness),
    actors: actorRows(state, liveness),
    elapsedMs: now - Date.parse(row.startedAt),
    now,
    ...more,
  };
}
