/**
 * What a hook's exit and output mean. Exit 0 without a word is no opinion, exit 2 denies with the standard error as reason, and
 * exit 0 with a JSON object says more. Everything else is a failure, which closes.
 *
 * Invariants
 * - P40 Nothing that a hook says or fails to say allows anything.
 */
import { z } from 'zod';
import type { ExecResult } from '../kernel/index.ts';
import type { HookSaid } from './hooks.ts';
import { HOOK_CONTEXT_MAX, HOOK_REASON_MAX } from './limits.ts';

type Said = Omit<HookSaid, 'hook' | 'ms'>;

const answer = z.strictObject({
  decision: z.enum(['deny', 'ask']).optional(),
  reason: z.string().optional(),
  context: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional(),
});

const DENIED = 2;

export function readHookAnswer(result: ExecResult): Said {
  if (result.timedOut) return failed('it did not end in time');
  if (result.code === DENIED) {
    const reason = cut(result.stderr.trim(), HOOK_REASON_MAX);
    return { outcome: 'deny', reason: reason === '' ? 'it gave no reason' : reason };
  }
  if (result.code !== 0) {
    const how = result.code === null ? `signal ${result.signal ?? '?'}` : `exit ${result.code}`;
    const said = cut(result.stderr.trim(), HOOK_REASON_MAX);
    return failed(`it ended with ${how}${said === '' ? '' : `: ${said}`}`);
  }
  if (result.truncated) return failed('it wrote more than a hook may');
  const text = result.stdout.trim();
  return text === '' ? { outcome: 'none' } : readJson(text);
}

function readJson(text: string): Said {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return failed('it wrote something that is no JSON');
  }
  const checked = answer.safeParse(value);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
    return failed(`its answer can't be used: ${where}${issue?.message ?? ''}`);
  }
  const { decision, reason, context, input } = checked.data;
  if (decision !== undefined && input !== undefined) {
    return failed(`its answer can't be used: ${decision} and an input do not go together`);
  }
  return {
    outcome: decision ?? (input === undefined ? 'none' : 'rewrite'),
    ...(reason === undefined ? {} : { reason: cut(reason, HOOK_REASON_MAX) }),
    ...(context === undefined || context.trim() === ''
      ? {}
      : { context: cut(context, HOOK_CONTEXT_MAX) }),
    ...(input === undefined ? {} : { input }),
  };
}

function failed(reason: string): Said {
  return { outcome: 'failed', reason };
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
