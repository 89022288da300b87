/**
 * The question at the end of the live view, with its terminal: asks of the run come in, keys go to the model, answers go to
 * the supervisor. Keys are read while something waits, and at no other time.
 *
 * Invariant: the terminal is as it was after `close`, which also runs when the process exits by any way it can notice.
 */
import { ensureError } from '../../kernel/errors.ts';
import type { AskRow } from '../../protocol/ask.ts';
import type { StoredRunRecord } from '../../protocol/record.ts';
import { askRows, type Supervisor } from '../../supervisor/index.ts';
import type { Context } from '../context.ts';
import { keysOf } from '../keys.ts';
import { drawPrompt } from './draw.ts';
import {
  makePrompt,
  type PromptAction,
  type PromptEvent,
  type PromptSize,
  promptStep,
} from './model.ts';

export interface PromptOptions {
  readonly context: Context;
  readonly supervisor: Supervisor;
  readonly run: string;
  readonly sandbox: string;
  /** The input of an ask as its call has it, however large. */
  readonly wholeInput: (row: AskRow) => Promise<unknown>;
  /** Draws all again: what is shown has changed. */
  readonly changed: () => void;
}

export interface Prompt {
  /** What it shows now; empty when nothing waits. */
  lines(): readonly string[];
  /** A record of the run came. */
  record(record: StoredRunRecord): void;
  /** The terminal has another size. */
  resized(): void;
  close(): void;
}

const BELL = '\u0007';

/** Null: nobody can type here, so whoever watches is told which command answers. */
export function openPrompt(options: PromptOptions): Prompt | null {
  const { context, supervisor, run } = options;
  const { io } = context;
  if (!io.input.canRead()) return null;
  const size = (): PromptSize => ({ columns: io.out.columns, rows: io.out.rows });
  let state = makePrompt(size());
  let release: (() => void) | null = null;
  let closed = false;

  const step = (event: PromptEvent): void => {
    if (closed) return;
    const next = promptStep(state, event, performance.now());
    state = next.state;
    listen(state.queue.length > 0);
    for (const action of next.actions) act(action);
    options.changed();
  };
  const listen = (wanted: boolean): void => {
    if (wanted && release === null) {
      release = io.input.read((piece) => {
        for (const key of keysOf(piece)) step({ type: 'key', key });
      });
    } else if (!wanted && release !== null) {
      release();
      release = null;
    }
  };
  const failed = (id: string, thrown: unknown): void =>
    step({ type: 'answered', id, ok: false, note: ensureError(thrown).message });
  const act = (action: PromptAction): void => {
    switch (action.type) {
      case 'ring':
        io.out.write(BELL);
        return;
      case 'load':
        options.wholeInput(action.row).then(
          (input) => step({ type: 'whole', id: action.row.id, input }),
          (thrown: unknown) => failed(action.row.id, thrown),
        );
        return;
      case 'answer': {
        const { reason, id, ...given } = action.params;
        supervisor
          .answerAsk({ ...given, run, id, by: 'user', reason: reason === '' ? null : reason })
          .then(
            () => step({ type: 'answered', id, ok: true, note: '' }),
            (thrown: unknown) => failed(id, thrown),
          );
      }
    }
  };
  const look = (): void => {
    const now = supervisor.state(run);
    step({ type: 'queue', rows: now === null || now.run.ended !== null ? [] : askRows(now) });
  };
  look();

  return {
    lines: () =>
      drawPrompt(state, { now: Date.now(), styles: context.styles, sandbox: options.sandbox }),
    record: (record) => {
      if (record.asks !== undefined || record.run !== undefined) look();
    },
    resized: () => step({ type: 'size', size: size() }),
    close() {
      closed = true;
      listen(false);
    },
  };
}
