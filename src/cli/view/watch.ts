/**
 * What a person sees while a run goes on, in this process or in a supervisor that is up: the live view on a terminal, one
 * line per important thing elsewhere, nothing with `--json`.
 */

import type { Redactor } from '../../events/index.ts';
import type { AskRow } from '../../protocol/ask.ts';
import type { TroupeEvent } from '../../protocol/event.ts';
import type { RunResult } from '../../protocol/wire.ts';
import type { Context } from '../context.ts';
import { openPrompt, type Prompt } from '../prompt/prompt.ts';
import type { RunLink } from '../run-link.ts';
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
  readonly link: RunLink;
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
  const { context, link, outputOf } = options;
  const say = (text: string): void => context.print(text);
  say(`${opening(options)}\n`);
  const forget = link.follow((event) => {
    for (const line of linesOf(event, outputOf)) say(line);
  });
  return { say, stopping: say, close: forget };
}

const opening = ({ context, link, sandbox }: WatchOptions): string =>
  `run ${link.run} (${sandbox}); watch it elsewhere with: ${context.command('troupe tasks')}`;

/** Between two drawings, and as a multiple of what a drawing costs, so that drawing never takes much of the time. */
const PAUSE_MS = 100;
const COST_FACTOR = 10;
const TICK_MS = 1_000;
const HINT = 'Ctrl-C stops gracefully, twice at once';

function openView(options: WatchOptions): Watch {
  const { context, link, redactor } = options;
  const { io, styles } = context;
  const screen = openScreen(io);
  let lastMail: ViewModel['lastMail'] = null;
  let hint = HINT;
  let timer: NodeJS.Timeout | null = null;
  let pause = PAUSE_MS;
  let prompt: Prompt | null = null;
  let seen: RunResult | null = null;
  let closed = false;

  const draw = (): void => {
    if (seen === null || closed) return;
    const began = performance.now();
    const model = modelOf(seen, { lastMail, hint });
    const { columns, rows } = io.out;
    const asked = (prompt?.lines() ?? []).map((line) => redactor.text(line));
    const view = asked.length === 0 ? rows : Math.max(2, rows - asked.length);
    const lines = [...drawView(redactor.data(model), { columns, rows: view }, styles), ...asked];
    // What is asked stands at the end, so that it is what is left on a small terminal.
    screen.draw(lines.slice(-Math.max(1, rows - 1)));
    pause = Math.max(PAUSE_MS, (performance.now() - began) * COST_FACTOR);
  };
  const look = async (): Promise<void> => {
    // A supervisor that is away for a moment leaves what was seen last.
    seen = await link.call('run.get', { run: link.run }).catch(() => seen);
    timer = null;
    draw();
  };
  const soon = (): void => {
    timer ??= setTimeout(() => void look(), pause);
  };
  screen.above(`${opening(options)}\n`);
  prompt = openPrompt({ ...options, changed: draw });
  const forgetEvents = link.follow((event) => {
    lastMail = mailOf(event) ?? lastMail;
    prompt?.event(event);
    for (const line of lastHooks(event)) screen.above(redactor.text(line));
    if (prompt === null) for (const line of asksOnly(event)) screen.above(redactor.text(line));
    soon();
  });
  const forgetResize = io.out.onResize(() => {
    prompt?.resized();
    soon();
  });
  const tick = setInterval(soon, TICK_MS);
  void look();

  return {
    say: (text) => screen.above(text),
    stopping(text) {
      hint = 'Stopping …';
      screen.above(text);
      soon();
    },
    close() {
      closed = true;
      clearInterval(tick);
      if (timer !== null) clearTimeout(timer);
      forgetEvents();
      forgetResize();
      prompt?.close();
      screen.close({ keep: false });
    },
  };
}

function mailOf({ type, data }: TroupeEvent): ViewModel['lastMail'] {
  if (type !== 'mail.accepted' || data['lane'] === 'bulk') return null;
  const { from, to, body } = data;
  const text = typeof body === 'object' && body !== null && 'text' in body ? body.text : '';
  return { from: String(from), to: String(to), text: String(text) };
}

function modelOf(seen: RunResult, more: Pick<ViewModel, 'lastMail' | 'hint'>): ViewModel {
  const now = Date.now();
  return { ...seen, elapsedMs: now - Date.parse(seen.run.startedAt), now, ...more };
}
