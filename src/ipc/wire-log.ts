/**
 * What the wire carried lately, for `troupe trace`. In memory and bounded; never a token, and secrets taken out before
 * anything is kept.
 */
import type { Redactor } from '../events/index.ts';
import type { WireTraceParams, WireTraceRow } from '../protocol/wire-reads.ts';
import { IPC_LIMITS } from './limits.ts';

export type Carried = Omit<WireTraceRow, 'n' | 'at' | 'params'> & { readonly params: unknown };

export interface WireLog {
  add(row: Carried): void;
  read(params: WireTraceParams, signal: AbortSignal): Promise<readonly WireTraceRow[]>;
}

export function makeWireLog(redactor: Redactor): WireLog {
  const rows: WireTraceRow[] = [];
  let waiting: (() => void)[] = [];
  let n = 0;
  const after = (from: number): WireTraceRow[] => rows.filter((row) => row.n > from);
  return {
    add({ params, ...row }) {
      n += 1;
      rows.push({
        n,
        at: new Date().toISOString(),
        ...row,
        params: shown(redactor, params, row.bytesIn),
      });
      if (rows.length > IPC_LIMITS.traceRows) rows.shift();
      // Who watches the wire is not woken by its own question.
      if (row.method === 'trace.wire') return;
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    async read({ after: from = 0, wait = false }, signal) {
      if (wait && !after(from).some((row) => row.method !== 'trace.wire')) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      return after(from).filter((row) => row.method !== 'trace.wire');
    },
  };
}

function shown(redactor: Redactor, params: unknown, bytes: number): string {
  if (bytes > IPC_LIMITS.traceBytes) return `(${bytes} bytes)`;
  const text = JSON.stringify(redactor.data(params)) ?? '';
  if (text.length <= IPC_LIMITS.traceParams) return text;
  return `${text.slice(0, IPC_LIMITS.traceParams)}…`;
}
